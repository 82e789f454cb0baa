export { OptionsError } from '../errors/options-error.js';
export { OwnerBlockedError } from '../errors/owner-blocked-error.js';
export { StorageError, type StorageErrorOptions } from '../errors/storage-error.js';
export { UnreadableTaskError } from '../errors/unreadable-task-error.js';
export { closestName } from '../model/closest-name.js';
export type { JsonObject, JsonValue } from '../model/json.js';
export type { Message } from '../model/message.js';
export type { Task, TaskStatus } from '../model/task.js';
export { isInterrupted, isTerminal, TASK_STATES, type TaskState } from '../model/task-state.js';
export type { Clock } from '../runtime/clock.js';
export type { IdSource } from '../runtime/id-source.js';
export { ignoreRejection } from '../runtime/settled.js';
export { sha256Hex } from '../runtime/sha256.js';
export type { CallerContext } from '../store/caller-context.js';
export { hasRoomFor } from '../store/engine/accept-message.js';
export type { WrittenAppend } from '../store/engine/append-records.js';
export { claimOf, type TurnContent } from '../store/engine/claim-turns.js';
export {
  purgeQueue,
  type QueueTables,
  type QueueWritten,
  queueOfConfig,
  replayQueue,
  settleQueue,
} from '../store/engine/delivery-queues.js';
export { eraseShared, type SharedOwnedRows } from '../store/engine/erase-owned.js';
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
export { type KeyAnswer, keyIfKnown, rememberKey, reserveKey } from '../store/engine/message-keys.js';
export { ABANDONED_BYTES, firstBytes, PageBudget, pageOf } from '../store/engine/pages.js';
export { pauseCall, repeatCall } from '../store/engine/repeated-calls.js';
export type {
  Commit,
  Committed,
  FoundTurn,
  HeadChange,
  QuestionRows,
  SharedHead,
  SharedKey,
  SharedTables,
  TaskQuestion,
} from '../store/engine/shared-tables.js';
export { SharedTasks } from '../store/engine/shared-tasks.js';
export { type FinishedLog, type FinishedTasks, type RunningLog, trimLog } from '../store/engine/sweep.js';
export type { ReadRow } from '../store/engine/unreadable-rows.js';
export { FirstScopes } from '../store/first-scopes.js';
export {
  cursorOfPlace,
  FirstTasks,
  type OwnedTaskPlace,
  placeOfCursor,
  rowPlaceOf,
} from '../store/first-tasks.js';
export {
  type CancelRequest,
  type Claim,
  type ClaimRequest,
  type Claims,
  type HeldTurn,
  type Holding,
  type Lease,
  mergeCancels,
  parseCancel,
  parseProgress,
  parseTurn,
  type ReleaseHow,
  type Renewal,
  type TurnTexts,
} from '../store/held-turn.js';
export type { IdempotencyKey, IdempotencyKeys, Remembered, Reservation } from '../store/idempotency-keys.js';
export { OutageLog } from '../store/outage-log.js';
export { isOwnedBy, type OwnerQuery, ownerQueryText } from '../store/owner-query.js';
export type {
  ErasedRows,
  ListedScope,
  OwnedKey,
  OwnedKeyPage,
  OwnedTask,
  OwnedTaskPage,
  OwnedTaskRange,
  OwnerStorage,
  ScopeRange,
} from '../store/owner-storage.js';
export { PARTITIONS, partitionOf } from '../store/partition.js';
export type {
  ConfigChange,
  ConfigPut,
  ConfigRange,
  DeliveryClaim,
  DeliveryClaimRequest,
  DeliveryClaims,
  DeliveryKey,
  DeliveryOutcome,
  DeliveryPage,
  DeliveryQuery,
  HeldDelivery,
  PlacedPushConfig,
  PushStorage,
  StoredPushConfig,
} from '../store/push-storage.js';
export { BLOCKS, type RateAsk, type RateCounters, type RateGrant } from '../store/rate-counters.js';
export { type ClaimedTexts, readableDeliveries } from '../store/readable-deliveries.js';
export {
  type DeliveryHead,
  type DeliveryHeadRow,
  type DeliveryLog,
  deliveryHeadOf,
  deliveryQueue,
  deliveryValues,
} from '../store/rules/delivery-head.js';
export { type KeyHead, REMEMBERED_BYTES, REMEMBERED_LIMIT, REMEMBERED_SHARES } from '../store/rules/key-head.js';
export { boundsOf, isLast, isWithin, LIST_BOUNDS, type ListTime, taskOfPage } from '../store/rules/list-query.js';
export { logRetentionMs, sweepTimes } from '../store/rules/retention.js';
export {
  type AcceptedTurn,
  type AppendedHead,
  factsOfTask,
  type Holder,
  storedTask,
} from '../store/rules/task-head.js';
export { arrivalAt, nextPlace, oldestWaits, PLACES_PER_MS } from '../store/rules/turn-place.js';
export { andSql, boundParts, countSql, type ListSource, pageSql, type SqlPart } from '../store/sqlite/list-sql.js';
export {
  ALL_STATES,
  INTERRUPTED_STATES,
  isEndState,
  OPEN_STATES,
  stateNumber,
  stateOfNumber,
} from '../store/state-numbers.js';
export { statusText } from '../store/status-text.js';
export type { DatabaseStatus, MigrationResult, StorageBackend } from '../store/storage-backend.js';
export { StorageLifetime } from '../store/storage-lifetime.js';
export type { Scope, TaskKey } from '../store/task-key.js';
export type {
  Acceptance,
  AcceptOutcome,
  Append,
  AppendOutcome,
  CancelOutcome,
  ListCursor,
  NodeBeat,
  RecordPage,
  Retention,
  StorageLoad,
  StorageNode,
  StoredTask,
  Swept,
  TaskPage,
  TaskProgress,
  TaskQuery,
  TaskStorage,
} from '../store/task-storage.js';
export {
  type CopiedKey,
  type CopiedPushConfig,
  type CopiedTask,
  type CopiedTurn,
  inUseError,
  recordBytes,
  SILENCE_MS,
  type TaskTransfer,
  type TransferCounts,
  type TransferTarget,
} from '../store/task-transfer.js';
export { ToldTasks } from '../store/told-tasks.js';
export { LocalWakeups, type WakeupListener, type Wakeups } from '../store/wakeups.js';
export { LogRecord, type RecordTexts } from '../task/log-record.js';
export { ShapedTask } from '../task/shaped-task.js';
export { statusTime } from '../task/status-time.js';
export { TaskBuilder } from '../task/task-builder.js';
export type { Logger } from '../telemetry/logger.js';
export { steadyLogger } from '../telemetry/steady-logger.js';
export { systemClock, systemIds } from './runtime.js';
export { stderrLogger } from './stderr-logger.js';
