import type { WireCodec } from '../codec/wire-codec.js';
import { UnreadableTaskError } from '../errors/unreadable-task-error.js';
import type { Task } from '../model/task.js';
import type { DeliveryClaim } from '../store/push-deliveries.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { LogRecord } from '../task/log-record.js';
import { TaskBuilder } from '../task/task-builder.js';

/** The body for one record of a task. */
export interface Notification {
  /** Sequence number of the record. */
  readonly seq: number;
  readonly body: string;
  readonly error?: never;
}

/** A record whose event the protocol version of the configuration cannot express. */
export interface UnwrittenNotification {
  readonly seq: number;
  readonly body?: never;
  /** The failure of the codec. */
  readonly error: unknown;
}

/** The storage, as far as bodies need it. */
export type TaskReads = Pick<TaskStorage, 'task' | 'records'>;

/** Bytes of the log in one read. */
const LOG_BYTES = 4_194_304;

/** The notifications of a claimed queue in order, in the form of the protocol version of its configuration. */
export function notificationsOf(
  claim: DeliveryClaim,
  codec: WireCodec,
  storage: TaskReads,
): Iterable<Notification | UnwrittenNotification> | AsyncIterable<Notification | UnwrittenNotification> {
  const { encodeTask } = codec.notification;
  return encodeTask === undefined ? events(claim, codec) : tasks(claim, encodeTask, storage);
}

function* events({ records }: DeliveryClaim, codec: WireCodec): Iterable<Notification | UnwrittenNotification> {
  for (const record of records) yield written(record.seq, () => codec.encodeEvent(record));
}

function written(seq: number, write: () => string): Notification | UnwrittenNotification {
  try {
    return { seq, body: write() };
  } catch (error) {
    return { seq, error };
  }
}

/** The same as `tasksAfter`. A task that cannot be read is a notification that cannot be written. */
async function* tasks(
  claim: DeliveryClaim,
  encodeTask: (task: Task) => string,
  storage: TaskReads,
): AsyncIterable<Notification | UnwrittenNotification> {
  try {
    yield* tasksAfter(claim, encodeTask, storage);
  } catch (error) {
    if (!(error instanceof UnreadableTaskError)) throw error;
    yield { seq: claim.position + 1, error };
  }
}

/**
 * The task as it stood after each record. If the log no longer has all records, the task as it stands now takes the
 * place of those that it contains.
 */
async function* tasksAfter(
  claim: DeliveryClaim,
  encodeTask: (task: Task) => string,
  storage: TaskReads,
): AsyncIterable<Notification | UnwrittenNotification> {
  const { key, records } = claim;
  const [first] = records;
  if (first === undefined) return;
  // A queue that keeps up asks for the last record only: no log is read for it.
  const isOne = records.length === 1 && !('task' in first.event);
  const now = isOne ? await storage.task(key.scope, key.id) : undefined;
  const builder = now?.seq === first.seq ? undefined : await taskBefore(first, claim, storage);
  if (builder !== undefined) {
    for (const record of records) {
      yield written(record.seq, () => {
        builder.apply(record);
        return encodeTask(builder.view());
      });
    }
    return;
  }
  const stored = now ?? (await storage.task(key.scope, key.id));
  if (stored === undefined) return;
  for (const { seq } of records) if (seq <= stored.seq) yield written(seq, () => encodeTask(stored.task));
}

/** The task before a record; undefined if the log no longer has all records before it. */
async function taskBefore(
  first: LogRecord,
  { key }: DeliveryClaim,
  storage: TaskReads,
): Promise<TaskBuilder | undefined> {
  if ('task' in first.event) return TaskBuilder.from(first.event.task);
  let builder: TaskBuilder | undefined;
  let last = 0;
  while (last < first.seq - 1) {
    const { records } = await storage.records(key, last, LOG_BYTES);
    if (records[0]?.seq !== last + 1) return undefined;
    for (const record of records) {
      if (record.seq >= first.seq) break;
      if ('task' in record.event) builder ??= TaskBuilder.from(record.event.task);
      builder?.apply(record);
      last = record.seq;
    }
  }
  return builder;
}
