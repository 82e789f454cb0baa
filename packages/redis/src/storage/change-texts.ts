import {
  type HeadChange,
  isTerminal,
  LogRecord,
  ShapedTask,
  statusText,
  statusTime,
  type Task,
  type TaskQuestion,
  type WrittenAppend,
} from 'parley-a2a/storage-engine';
import { TASK_FIELD } from './redis-keys.js';
import { headTextOf, type RedisHead, recordText } from './task-texts.js';

/** Limits of logs, in bytes. */
export interface LogLimits {
  /** Size at which the log of an open task is cut. At least half of it is kept. */
  readonly logBytes: number;
  /** Maximum bytes of the logs of the finished tasks of one partition. */
  readonly eventLogBytes: number;
}

/** Maximum number of records in a change of chunks only. */
const CHUNKS = 200;
const TURN_FIELDS = [
  TASK_FIELD.message,
  TASK_FIELD.caller,
  TASK_FIELD.counts,
  TASK_FIELD.checkpoint,
  TASK_FIELD.cancel,
];

/** The head of a task that does not exist yet. */
const NONE: Omit<RedisHead, 'text' | 'contextId' | 'hasEnded'> = {
  ...{ version: 0, seq: 0, epoch: 0, turns: 0, began: 0, queue: [], holder: undefined },
  ...{ state: 'TASK_STATE_SUBMITTED', since: 0, createdAt: 0, endedAt: 0, bytes: 0, configs: 0 },
};

/** A question with the rows that the answer must contain after a change. */
type AskedRows = {
  readonly [Part in Exclude<keyof TaskQuestion, 'task'>]?: TaskQuestion[Part] | undefined;
} & { readonly whole?: boolean | undefined };

/** Adds the parts of a question for the script `rows_of`, each after its name. */
export function addQuestion(args: (string | number)[], asked: AskedRows): void {
  const { idempotencyKey, configId, sameTurn, cancel, tail, whole } = asked;
  if (idempotencyKey !== undefined) args.push('key', JSON.stringify(idempotencyKey));
  if (configId !== undefined) args.push('config', JSON.stringify(configId));
  if (sameTurn !== undefined) {
    const { message, caller } = sameTurn;
    args.push('again', 1, 'message', JSON.stringify(message), 'caller', JSON.stringify(caller));
  }
  if (cancel !== undefined) args.push('cancel', 1);
  if (tail !== undefined) args.push('after', tail.after, 'count', tail.records.length);
  if (whole === true) args.push('whole', 1);
}

/** The arguments of the script `change` after NAME, and the head that it writes, without the times of the server. */
export class ChangeTexts {
  readonly head: Omit<RedisHead, 'contextId' | 'hasEnded'>;
  readonly #change: HeadChange<RedisHead>;
  readonly #records: readonly string[];
  readonly #limits: LogLimits;
  /** True if all records are chunks of artifacts, which change neither the status nor the metadata. */
  readonly #keepsStatus: boolean;

  constructor(change: HeadChange<RedisHead>, limits: LogLimits) {
    this.#change = change;
    this.#limits = limits;
    this.#keepsStatus = change.append !== undefined && hasOnlyChunks(change.append);
    const records = change.create
      ? [new LogRecord(1, 0, { task: change.create.task })]
      : (change.append?.records ?? []);
    this.#records = records.map(recordText);
    const { seq, epoch, turns, began, queue, lease, create, append } = change;
    const before = change.before ?? NONE;
    const status = this.#keepsStatus ? undefined : (create?.task.status ?? append?.head.status);
    let { bytes } = before;
    for (const text of this.#records) bytes += text.length;
    const { createdAt, endedAt, configs } = before;
    const version = before.version + 1;
    // The server adds its time to a new lease.
    const leased = lease && { turn: lease.turn, node: lease.node, leaseEnd: 0 };
    const holder = leased === undefined ? before.holder : (leased ?? undefined);
    const state = status === undefined ? before.state : status.state;
    const since = status === undefined ? before.since : statusTime(status);
    const head = { version, seq, bytes, epoch, holder, began, endedAt, configs, queue, turns, state, since, createdAt };
    const text = headTextOf(head);
    this.head = { text, ...head };
  }

  /** `asked`: the rows that the script returns, whether the change was written or not. */
  addTo(args: (string | number)[], asked: AskedRows): void {
    const before = this.#change.before?.text ?? '';
    const same = commonSuffix(before, this.head.text);
    const beginning = this.head.text.slice(0, this.head.text.length - same);
    args.push(before, beginning, before.length - same + 1, this.#records.length);
    for (const record of this.#records) args.push(record);
    if (this.#isPlain(asked)) return;
    const count = args.push(0) - 1;
    const gone = this.#addFields(args);
    args[count] = args.length - count - 1;
    args.push(gone);
    this.#addParts(args);
    addQuestion(args, asked);
  }

  /** True for a change of chunks only, which the script writes before its prelude. */
  #isPlain({ configId, cancel, whole }: AskedRows): boolean {
    const { lease, drops, checkpoint } = this.#change;
    if (!this.#keepsStatus || this.head.configs > 0 || this.#records.length > CHUNKS) return false;
    if (lease !== undefined || drops !== undefined || checkpoint !== undefined) return false;
    return configId === undefined && cancel === undefined && whole !== true;
  }

  /** Adds the fields to write with their texts. Returns the fields to remove, separated by spaces. */
  #addFields(args: (string | number)[]): string {
    const { create, append, lease, adds, drops, checkpoint, cancel, before, queue } = this.#change;
    if (lease) args.push(TASK_FIELD.node, lease.node);
    if (adds !== undefined) {
      args.push(`${TASK_FIELD.message}${adds.turn}`, JSON.stringify(adds.message));
      args.push(`${TASK_FIELD.caller}${adds.turn}`, JSON.stringify(adds.caller));
    }
    if (cancel !== undefined) args.push(`${TASK_FIELD.cancel}${cancel.turn}`, JSON.stringify(cancel.request));
    if (checkpoint !== undefined && queue.some(({ turn }) => turn === checkpoint.turn)) {
      args.push(`${TASK_FIELD.checkpoint}${checkpoint.turn}`, JSON.stringify(checkpoint.value));
    }
    if (create !== undefined) addCreated(args, create.task);
    let gone = '';
    if (drops !== undefined) {
      const dropped = drops === 'all' ? (before?.queue ?? []) : [{ turn: drops }];
      for (const { turn } of dropped) for (const field of TURN_FIELDS) gone += `${field}${turn} `;
    }
    if (append === undefined || this.#keepsStatus) return gone;
    const set = (field: string, text: string | undefined) => {
      if (text === undefined) gone += `${field} `;
      else args.push(field, text);
    };
    this.#setAppended(append, set);
    return gone;
  }

  #setAppended({ head, snapshot }: WrittenAppend, set: (field: string, text: string | undefined) => void): void {
    const texts = snapshot && ShapedTask.textsOf(snapshot);
    const status = texts?.status ?? statusText(head.status);
    const metadata = head.metadata === undefined ? undefined : JSON.stringify(head.metadata);
    set(TASK_FIELD.status, status);
    set(TASK_FIELD.metadata, metadata);
    if (texts === undefined) return;
    // The status and the metadata of a finished task are those of its last record.
    const ends = isTerminal(head.status.state);
    set(TASK_FIELD.snapshot, `${this.#change.seq}`);
    set(TASK_FIELD.snapshotStatus, ends ? undefined : status);
    set(TASK_FIELD.snapshotMetadata, ends ? undefined : metadata);
    set(TASK_FIELD.history, texts.history);
    set(TASK_FIELD.artifacts, texts.artifacts);
  }

  /** Adds the other parts, each after its name. */
  #addParts(args: (string | number)[]): void {
    const { task, before, create, lease, adds, counts, cancel, append, config, key, isNewData } = this.#change;
    const { state, since } = this.head;
    const contextId = create?.task.contextId;
    const ends = (create !== undefined || append !== undefined) && isTerminal(state);
    if (before === undefined || before.state !== state || before.since !== since) args.push('id', task.id);
    if (contextId !== undefined) args.push('context', JSON.stringify(contextId));
    if (lease) args.push('lease', lease.leaseMs);
    if (adds !== undefined) args.push('added', adds.turn, 'attempts', adds.attempts);
    if (counts !== undefined) {
      args.push('counted', counts.turn, 'attempts', counts.attempts, 'hand_overs', counts.addedHandOvers);
    }
    if (ends) args.push('ends', this.#limits.eventLogBytes);
    else if (append?.snapshot !== undefined) args.push('log_bytes', this.#limits.logBytes);
    if (config !== undefined) {
      args.push('config', JSON.stringify(config.config.id), 'config_text', JSON.stringify(config.config));
    }
    if (key !== undefined) {
      const { digest, ttlMs } = key.key;
      args.push('key', JSON.stringify(key.key.key), 'seen', key.before?.version ?? '', 'ttl', ttlMs);
      args.push('digest', digest, 'key_turn', key.turn);
    }
    if (isNewData) args.push('fresh', 1);
    // Records appended in the meantime do not affect the decision, unless the change has records itself.
    if (before !== undefined && append === undefined && cancel?.isFirst !== false) args.push('fence', 1);
    if (cancel?.isFirst === true) args.push('uncanceled', cancel.turn);
  }
}

/** Adds the fields of a new task. */
function addCreated(args: (string | number)[], task: Task): void {
  const { contextId } = task;
  const { status, metadata, history, artifacts } = ShapedTask.textsOf(task);
  args.push(TASK_FIELD.status, status);
  if (contextId !== undefined) args.push(TASK_FIELD.context, JSON.stringify(contextId));
  if (metadata !== undefined) args.push(TASK_FIELD.metadata, metadata);
  if (!isTerminal(task.status.state)) return;
  args.push(TASK_FIELD.snapshot, '1');
  if (history !== undefined) args.push(TASK_FIELD.history, history);
  if (artifacts !== undefined) args.push(TASK_FIELD.artifacts, artifacts);
}

/** Returns the length of the common suffix of two texts. */
function commonSuffix(one: string, other: string): number {
  let [atOne, atOther] = [one.length, other.length];
  while (atOne > 0 && atOther > 0 && one.charCodeAt(atOne - 1) === other.charCodeAt(atOther - 1)) {
    atOne -= 1;
    atOther -= 1;
  }
  return one.length - atOne;
}

function hasOnlyChunks({ head, snapshot, records }: WrittenAppend): boolean {
  return snapshot === undefined && !isTerminal(head.status.state) && records.length > 0 && records.every(isChunk);
}

function isChunk({ event, history, metadata }: LogRecord): boolean {
  return event.artifactUpdate !== undefined && history === undefined && metadata === undefined;
}
