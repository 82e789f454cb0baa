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

/**
 * The numbers in the head of a task, in order, separated by spaces. `queue`: the waiting and running turns separated by
 * commas, or a hyphen. The fields from `epoch` to `queue` decide whether an append of chunks is plain.
 */
const HEAD_FIELDS = [
  'version',
  'seq',
  'bytes',
  'epoch',
  'held',
  'began',
  'ended',
  'configs',
  'queue',
  'turns',
  'lease',
  'state',
  'since',
  'made',
] as const;
type HeadField = (typeof HEAD_FIELDS)[number];

/** The index of each number. */
const PLACE = Object.fromEntries(HEAD_FIELDS.map((field, at) => [field, at])) as Readonly<Record<HeadField, number>>;

/** The fields of a head as returned by scripts: the numbers, the node, and the context id as JSON. */
export type KnownHead = readonly [numbers: string | null, node: string | null, context: string | null];

/** The stored head of a task. */
export interface RedisHead extends SharedHead {
  /** The stored text of the numbers. A change compares all of it. */
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
export function headOf([numbers, node, context]: KnownHead): RedisHead | undefined {
  if (numbers === null) return undefined;
  const texts = numbers.split(' ');
  const number = (field: HeadField) => Number(texts[PLACE[field]]);
  const queue = texts[PLACE.queue] ?? '-';
  const held = number('held');
  const endedAt = number('ended');
  return {
    text: numbers,
    version: number('version'),
    seq: number('seq'),
    since: number('since'),
    epoch: number('epoch'),
    turns: number('turns'),
    began: number('began'),
    holder: held === 0 ? undefined : { turn: held, node: node ?? '', leaseEnd: number('lease') },
    state: stateOfNumber(number('state')),
    createdAt: number('made'),
    endedAt,
    hasEnded: endedAt > 0,
    bytes: number('bytes'),
    configs: number('configs'),
    queue: queue === '-' ? [] : queue.split(',').map((turn) => ({ turn: Number(turn) })),
    contextId: context === null ? undefined : (JSON.parse(context) as string),
  };
}

/** Returns the text of a head from its members. */
export function headTextOf(head: Omit<RedisHead, 'text' | 'contextId' | 'hasEnded'>): string {
  const { holder, queue } = head;
  const numbers: Readonly<Record<HeadField, number | string>> = {
    version: head.version,
    seq: head.seq,
    bytes: head.bytes,
    epoch: head.epoch,
    held: holder?.turn ?? 0,
    began: head.began,
    ended: head.endedAt,
    configs: head.configs,
    queue: queue.length === 0 ? '-' : queue.map(({ turn }) => turn).join(','),
    turns: head.turns,
    lease: holder?.leaseEnd ?? 0,
    state: stateNumber(head.state),
    since: head.since,
    made: head.createdAt,
  };
  let text = '';
  for (const field of HEAD_FIELDS) text += text === '' ? numbers[field] : ` ${numbers[field]}`;
  return text;
}

/** The fields of a task, and its records after the snapshot. */
export type TaskContent = readonly [
  fields: readonly [
    numbers: string,
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
  const [numbers, node, context, status, metadata, snapshotSeq, snapshotStatus, snapshotMetadata, ...large] = fields;
  const head = headOf([numbers, node, context]);
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
