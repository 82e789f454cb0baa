import type { JsonObject } from '../../model/json.js';
import type { Task, TaskStatus } from '../../model/task.js';
import type { StoredTask } from '../../store/task-storage.js';
import { LogRecord } from '../../task/log-record.js';
import { statusTime } from '../../task/status-time.js';
import { TaskBuilder } from '../../task/task-builder.js';
import type { EngineContext } from './engine-context.js';
import { timestampAt } from './timestamp.js';

/** The end of a task from outside of its turns. */
interface OutsideEnd {
  readonly status: Omit<TaskStatus, 'timestamp'>;
  /** Merged into the task's metadata. */
  readonly metadata?: JsonObject | undefined;
  /** `idle`: only while no turn runs. `force`: also replaces the epoch of a running turn. */
  readonly authority: 'idle' | 'force';
}

/**
 * Ends a task from outside of its turns, as the turn that is held. Returns `undefined` if the task has changed since it
 * was read; then nothing was written.
 */
export async function endFromOutside(
  context: EngineContext,
  stored: StoredTask,
  end: OutsideEnd,
): Promise<Task | undefined> {
  const { storage, feeds, clock } = context;
  const { scope, task, seq, heldTurn } = stored;
  const key = { scope, id: task.id };
  const timestamp = timestampAt(Math.max(clock.now(), statusTime(task.status)));
  const event = {
    statusUpdate: { taskId: task.id, contextId: task.contextId ?? '', status: { ...end.status, timestamp } },
  };
  const record = new LogRecord(seq + 1, heldTurn, event, end.metadata ? { metadata: end.metadata } : {});
  const builder = new TaskBuilder(task);
  builder.apply(record);
  const snapshot = builder.view();
  const outcome = await storage.append({
    key,
    authority: end.authority,
    after: seq,
    records: [record],
    head: builder.head,
    snapshot,
  });
  if (outcome.kind !== 'appended') return undefined;
  feeds.publish(key, [record], snapshot);
  return snapshot;
}
