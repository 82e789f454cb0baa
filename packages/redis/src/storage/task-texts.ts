import {
  LogRecord,
  ShapedTask,
  type SharedHead,
  type StoredTask,
  stateNumber,
  stateOfNumber,
  storedTask,
  type Task,
  TaskBuilder,
  type TaskKey,
} from 'parley-a2a/storage-engine';

/** The fields of a head as returned by scripts: its text, the node, and the context id as JSON. */
export type KnownHead = readonly [text: string | null, node: string | null, context: string | null];

/** The stored head of a task. */
export interface RedisHead extends SharedHead {
  /** The stored text. A change compares all of it. */
  readonly text: string;
  /** The status time, in ms since the epoch. */
  readonly since: number;
  readonly createdAt: number;
  /** The time of the end; 0 for an open task. */
  readonly endedAt: number;
  /** Approximate bytes of its records. */
  readonly bytes: number;
  readonly configs: number;
}

/** Parses the head of a task; undefined if there is no such task. */
export function headOf([text, node, context]: KnownHead): RedisHead | undefined {
  if (text === null) return undefined;
  const [version, seq, bytes, epoch, held, began, ended, configs, queue, turns, lease, state, since, made] =
    text.split(' ');
  const endedAt = Number(ended);
  return {
    text,
    version: Number(version),
    seq: Number(seq),
    bytes: Number(bytes),
    epoch: Number(epoch),
    holder: held === '0' ? undefined : { turn: Number(held), node: node ?? '', leaseEnd: Number(lease) },
    began: Number(began),
    endedAt,
    hasEnded: endedAt > 0,
    configs: Number(configs),
    queue: queue === undefined || queue === '-' ? [] : queue.split(',').map((turn) => ({ turn: Number(turn) })),
    turns: Number(turns),
    state: stateOfNumber(Number(state)),
    since: Number(since),
    createdAt: Number(made),
    contextId: context === null ? undefined : (JSON.parse(context) as string),
  };
}

/**
 * Returns the text of a head: its numbers in order, separated by spaces. The queue is its turns separated by commas, or
 * a hyphen.
 */
export function headTextOf(head: Omit<RedisHead, 'text' | 'contextId' | 'hasEnded'>): string {
  const { version, seq, bytes, epoch, holder, began, endedAt, configs, queue, turns, state, since, createdAt } = head;
  const turnsOf = queue.length === 0 ? '-' : queue.map(({ turn }) => turn).join(',');
  const times = `${holder?.leaseEnd ?? 0} ${stateNumber(state)} ${since} ${createdAt}`;
  return `${version} ${seq} ${bytes} ${epoch} ${holder?.turn ?? 0} ${began} ${endedAt} ${configs} ${turnsOf} ${turns} ${times}`;
}

/** The fields of a task, and its records after the snapshot. */
export type TaskContent = readonly [
  fields: readonly [
    head: string,
    node: string | null,
    context: string | null,
    status: string,
    metadata: string | null,
    snapshotSeq: string | null,
    snapshotStatus: string | null,
    snapshotMetadata: string | null,
    history: string | null,
    artifacts: string | null,
  ],
  records: readonly string[],
];

/**
 * Parses the task of a content, and its head.
 * @throws Error if a text of it is invalid.
 */
export function taskOf(id: string, [fields, records]: TaskContent): { readonly head: RedisHead; readonly task: Task } {
  const [text, node, context, status, metadata, snapshotSeq, snapshotStatus, snapshotMetadata, ...large] = fields;
  const head = headOf([text, node, context]);
  if (head === undefined) throw new Error(`The task ${id} has no head`);
  const contextId = head.contextId ?? undefined;
  const [history, artifacts] = large.map((text) => text ?? undefined);
  if (head.hasEnded) {
    return {
      head,
      task: ShapedTask.parse({ id, contextId, status, metadata: metadata ?? undefined, history, artifacts }),
    };
  }
  const seq = Number(snapshotSeq ?? 0);
  const log = records.map((text, at) => recordOf(seq + at + 1, text));
  if (snapshotSeq !== null) {
    const texts = { status: snapshotStatus ?? status, metadata: snapshotMetadata ?? undefined, history, artifacts };
    return { head, task: TaskBuilder.replay(id, ShapedTask.parse({ id, contextId, ...texts }), log) };
  }
  return { head, task: TaskBuilder.replay(id, undefined, log) };
}

/** Returns the stored task of a content as of a time of the storage. */
export function storedOf({ scope, id }: TaskKey, content: TaskContent, now: number): StoredTask {
  const { head, task } = taskOf(id, content);
  return storedTask({ scope, task }, head, now);
}

/** Returns a record as an element of a log. JSON has no line breaks. */
export function recordText({ turn, text, history, metadata }: LogRecord): string {
  if (history === undefined && metadata === undefined) return `${turn}\n${text}`;
  const more = history === undefined ? '' : JSON.stringify(history);
  return `${turn}\n${text}\n${more}${metadata === undefined ? '' : `\n${JSON.stringify(metadata)}`}`;
}

/** Parses an element of a log. */
export function recordOf(seq: number, element: string): LogRecord {
  const [turn, event = '', history, metadata = null] = element.split('\n');
  return LogRecord.parse({ seq, turn: Number(turn), event, history: history || null, metadata });
}
