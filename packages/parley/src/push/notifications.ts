import type { WireCodec } from '../codec/wire-codec.js';
import { UnreadableTaskError } from '../errors/unreadable-task-error.js';
import type { StreamResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import type { DeliveryClaim } from '../store/push-storage.js';
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

/** A record whose event cannot be encoded in the protocol version of the configuration. */
interface UnwrittenNotification {
  readonly seq: number;
  readonly body?: never;
  /** The failure of the codec. */
  readonly error: unknown;
}

/** Rewrites the content of an agent's notifications in the way of its answers. */
export interface NotificationChange {
  /** `stored` reads the current task. */
  event(event: StreamResponse, stored: () => Promise<Task | undefined>): Promise<StreamResponse>;
  task(task: Task): Promise<Task>;
}

/** The storage reads that notifications need. */
type TaskReads = Pick<TaskStorage, 'task' | 'records'>;

/** Maximum bytes of the log per read. */
const LOG_BYTES = 4_194_304;

/** The form of notifications. */
interface NotificationFormOptions {
  readonly codec: WireCodec;
  /** Absent: events and tasks are sent as stored. */
  readonly change: NotificationChange | undefined;
}

/** The notifications of a claimed queue in order, in the form of the protocol version of its configuration. */
export function notificationsOf(
  claim: DeliveryClaim,
  { codec, change }: NotificationFormOptions,
  storage: TaskReads,
): Iterable<Notification | UnwrittenNotification> | AsyncIterable<Notification | UnwrittenNotification> {
  const { encodeTask } = codec.notification;
  if (encodeTask !== undefined) return tasks(claim, { encodeTask, change }, storage);
  return change === undefined ? events(claim, codec) : changedEvents(claim, { codec, change }, storage);
}

function* events({ records }: DeliveryClaim, codec: WireCodec): Iterable<Notification | UnwrittenNotification> {
  for (const record of records) yield writeNotification(record.seq, () => codec.encodeEvent(record));
}

async function* changedEvents(
  { key, records }: DeliveryClaim,
  { codec, change }: { readonly codec: WireCodec; readonly change: NotificationChange },
  storage: TaskReads,
): AsyncIterable<Notification | UnwrittenNotification> {
  const readStored = async () => (await storage.task(key.scope, key.id))?.task;
  for (const record of records) {
    const { seq } = record;
    const event = await change.event(record.event, readStored);
    yield writeNotification(seq, () => codec.encodeEvent(event === record.event ? record : { event, seq }));
  }
}

function writeNotification(seq: number, write: () => string): Notification | UnwrittenNotification {
  try {
    return { seq, body: write() };
  } catch (error) {
    return { seq, error };
  }
}

interface TaskForm extends Pick<NotificationFormOptions, 'change'> {
  readonly encodeTask: (task: Task) => string;
}

/** As `tasksAfter`, but a task that cannot be read becomes an unwritten notification. */
async function* tasks(
  claim: DeliveryClaim,
  form: TaskForm,
  storage: TaskReads,
): AsyncIterable<Notification | UnwrittenNotification> {
  try {
    yield* tasksAfter(claim, form, storage);
  } catch (error) {
    if (!(error instanceof UnreadableTaskError)) throw error;
    yield { seq: claim.position + 1, error };
  }
}

/**
 * The task after each record. If the log no longer has all records, the current task replaces those that it contains.
 */
async function* tasksAfter(
  claim: DeliveryClaim,
  { encodeTask, change }: TaskForm,
  storage: TaskReads,
): AsyncIterable<Notification | UnwrittenNotification> {
  const { key, records } = claim;
  const [first] = records;
  if (first === undefined) return;
  // A queue without a backlog needs only its last record, so no log is read.
  const isOne = records.length === 1 && first.event.task === undefined;
  const now = isOne ? await storage.task(key.scope, key.id) : undefined;
  const builder = now?.seq === first.seq ? undefined : await taskBefore(first, claim, storage);
  const applyChange = (task: Task) => (change === undefined ? task : change.task(task));
  if (builder !== undefined) {
    for (const record of records) {
      builder.apply(record);
      const task = await applyChange(builder.view());
      yield writeNotification(record.seq, () => encodeTask(task));
    }
    return;
  }
  const stored = now ?? (await storage.task(key.scope, key.id));
  if (stored === undefined) return;
  const task = await applyChange(stored.task);
  for (const { seq } of records) if (seq <= stored.seq) yield writeNotification(seq, () => encodeTask(task));
}

/** The task before a record; undefined if the log no longer has all records before it. */
async function taskBefore(
  first: LogRecord,
  { key }: DeliveryClaim,
  storage: TaskReads,
): Promise<TaskBuilder | undefined> {
  if (first.event.task !== undefined) return new TaskBuilder(first.event.task);
  let builder: TaskBuilder | undefined;
  let last = 0;
  while (last < first.seq - 1) {
    const { records } = await storage.records(key, last, LOG_BYTES);
    if (records[0]?.seq !== last + 1) return undefined;
    for (const record of records) {
      if (record.seq >= first.seq) break;
      if (record.event.task !== undefined) builder ??= new TaskBuilder(record.event.task);
      builder?.apply(record);
      last = record.seq;
    }
  }
  return builder;
}
