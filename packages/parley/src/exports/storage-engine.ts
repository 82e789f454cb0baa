export { StorageError } from '../errors/storage-error.js';
export type { JsonObject, JsonValue } from '../model/json.js';
export type { Message } from '../model/message.js';
export type { Task, TaskStatus } from '../model/task.js';
export { isInterrupted, isTerminal, TASK_STATES } from '../model/task-state.js';
export type { Clock } from '../runtime/clock.js';
export type { CallerContext } from '../store/caller-context.js';
export { LocalStorage } from '../store/engine/local-storage.js';
export type {
  KeyToWrite,
  LocalHead,
  LocalKeys,
  LocalLoad,
  LocalOwners,
  LocalPage,
  LocalQueues,
  LocalTables,
  LocalTasks,
  LocalTurn,
} from '../store/engine/local-tables.js';
export { firstBytes, PageBudget, pageOf } from '../store/engine/pages.js';
export { type FinishedLog, type FinishedTasks, type RunningLog, trimLog } from '../store/engine/sweep.js';
export type { ReadRow } from '../store/engine/unreadable-rows.js';
export { type CancelRequest, mergedCancel } from '../store/held-turn.js';
export type { IdempotencyKey, Remembered } from '../store/idempotency-keys.js';
export type { OwnedKey, OwnedKeyPage } from '../store/owner-storage.js';
export type {
  ConfigRange,
  DeliveryClaim,
  DeliveryPage,
  DeliveryQuery,
  PlacedPushConfig,
} from '../store/push-storage.js';
export {
  type DeliveryHead,
  type DeliveryHeadRow,
  type DeliveryLog,
  deliveryHeadOf,
  deliveryValues,
  shownQueue,
} from '../store/rules/delivery-head.js';
export { type KeyHead, REMEMBERED_BYTES, REMEMBERED_LIMIT, REMEMBERED_SHARES } from '../store/rules/key-head.js';
export { boundsOf, isWithin, shownTask } from '../store/rules/list-query.js';
export type { AcceptedTurn, AppendedHead, Holder } from '../store/rules/task-head.js';
export { nextPlace } from '../store/rules/turn-place.js';
export { allOf, boundParts, countSql, type ListSource, pageSql, type SqlPart } from '../store/sqlite/list-sql.js';
export type { Scope, TaskKey } from '../store/task-key.js';
export type { Acceptance, Append, RecordPage, TaskQuery } from '../store/task-storage.js';
export { LogRecord, type RecordTexts } from '../task/log-record.js';
export { statusTime } from '../task/status-time.js';
export { TaskBuilder } from '../task/task-builder.js';
export type { Logger } from '../telemetry/logger.js';
export { systemClock } from './runtime.js';
