import {
  type HeadChange,
  isTerminal,
  LogRecord,
  ShapedTask,
  statusText,
  statusTime,
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

/** Arguments of a script with their names. */
type Named = readonly (string | number)[];

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

/** Returns the parts of a question for the script `rows_of`. */
export function questionFields({ idempotencyKey, configId, sameTurn, cancel, tail }: TaskQuestion): Named {
  return [
    ...(idempotencyKey === undefined ? [] : ['key', JSON.stringify(idempotencyKey)]),
    ...(configId === undefined ? [] : ['config', JSON.stringify(configId)]),
    ...(sameTurn === undefined
      ? []
      : ['again', 1, 'message', JSON.stringify(sameTurn.message), 'caller', JSON.stringify(sameTurn.caller)]),
    ...(cancel === undefined ? [] : ['cancel', 1]),
    ...(tail === undefined ? [] : ['after', tail.after, 'count', tail.records.length]),
  ];
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
    const head = {
      version: before.version + 1,
      // The server adds its time to a new lease.
      holder: lease ? { turn: lease.turn, node: lease.node, leaseEnd: 0 } : lease === null ? undefined : before.holder,
      state: status === undefined ? before.state : status.state,
      since: status === undefined ? before.since : statusTime(status),
      createdAt: before.createdAt,
      endedAt: before.endedAt,
      configs: before.configs,
      ...{ seq, epoch, turns, began, queue, bytes },
    };
    this.head = { ...head, text: headTextOf(head) };
  }

  /** `asked`: the rows that the script returns, whether the change was written or not. */
  args(asked: Named): Named {
    const before = this.#change.before?.text ?? '';
    const same = commonSuffix(before, this.head.text);
    const beginning = this.head.text.slice(0, this.head.text.length - same);
    const start = [before, beginning, before.length - same + 1, this.#records.length, ...this.#records];
    const { lease, drops, checkpoint } = this.#change;
    const hasMore = lease !== undefined || drops !== undefined || checkpoint !== undefined || asked.length > 0;
    if (this.#keepsStatus && !hasMore && this.head.configs === 0 && this.#records.length <= CHUNKS) return start;
    const { fields, gone } = this.#fields();
    return [...start, fields.length, ...fields, gone.length, ...gone, ...this.#namedParts(), ...asked];
  }

  #fields(): { readonly fields: readonly string[]; readonly gone: readonly string[] } {
    const { create, append, lease, adds, drops, checkpoint, cancel, before, queue } = this.#change;
    const fields: string[] = [];
    const gone: string[] = [];
    const set = (field: string, text: string | undefined) => {
      if (text === undefined) gone.push(field);
      else fields.push(field, text);
    };
    if (lease) set(TASK_FIELD.node, lease.node);
    if (adds !== undefined) {
      set(`${TASK_FIELD.message}${adds.turn}`, JSON.stringify(adds.message));
      set(`${TASK_FIELD.caller}${adds.turn}`, JSON.stringify(adds.caller));
    }
    if (cancel !== undefined) set(`${TASK_FIELD.cancel}${cancel.turn}`, JSON.stringify(cancel.request));
    if (checkpoint !== undefined && queue.some(({ turn }) => turn === checkpoint.turn)) {
      set(`${TASK_FIELD.checkpoint}${checkpoint.turn}`, JSON.stringify(checkpoint.value));
    }
    const dropped =
      drops === 'all' ? (before?.queue ?? []).map(({ turn }) => turn) : drops === undefined ? [] : [drops];
    for (const turn of dropped) gone.push(...TURN_FIELDS.map((field) => `${field}${turn}`));
    if (create !== undefined) {
      const { contextId } = create.task;
      const { status, metadata, history, artifacts } = ShapedTask.textsOf(create.task);
      const ended = isTerminal(create.task.status.state);
      fields.push(TASK_FIELD.status, status);
      if (contextId !== undefined) fields.push(TASK_FIELD.context, JSON.stringify(contextId));
      if (metadata !== undefined) fields.push(TASK_FIELD.metadata, metadata);
      if (ended) fields.push(TASK_FIELD.snapshot, '1');
      if (ended && history !== undefined) fields.push(TASK_FIELD.history, history);
      if (ended && artifacts !== undefined) fields.push(TASK_FIELD.artifacts, artifacts);
    }
    if (append !== undefined && !this.#keepsStatus) this.#setAppended(append, set);
    return { fields, gone };
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

  #namedParts(): Named {
    const { task, before, create, lease, adds, counts, cancel, append, config, key, isNewData } = this.#change;
    const { state, since } = this.head;
    const isListed = before === undefined || before.state !== state || before.since !== since;
    const contextId = create?.task.contextId;
    const ends = (create !== undefined || append !== undefined) && isTerminal(state);
    return [
      ...(isListed ? ['id', task.id] : []),
      ...(contextId === undefined ? [] : ['context', JSON.stringify(contextId)]),
      ...(lease ? ['lease', lease.leaseMs] : []),
      ...(adds === undefined ? [] : ['added', adds.turn, 'attempts', adds.attempts]),
      ...(counts === undefined
        ? []
        : ['counted', counts.turn, 'attempts', counts.attempts, 'hand_overs', counts.addedHandOvers]),
      ...(ends ? ['ends', this.#limits.eventLogBytes] : []),
      ...(!ends && append?.snapshot !== undefined ? ['log_bytes', this.#limits.logBytes] : []),
      ...(config === undefined
        ? []
        : ['config', JSON.stringify(config.config.id), 'config_text', JSON.stringify(config.config)]),
      ...(key === undefined
        ? []
        : [
            ...['key', JSON.stringify(key.key.key), 'seen', key.before?.version ?? '', 'ttl', key.key.ttlMs],
            ...['digest', key.key.digest, 'key_turn', key.turn],
          ]),
      ...(isNewData ? ['fresh', 1] : []),
      // Records appended in the meantime do not affect the decision, unless the change has records itself.
      ...(before !== undefined && append === undefined && cancel?.isFirst !== false ? ['fence', 1] : []),
      ...(cancel?.isFirst === true ? ['uncanceled', cancel.turn] : []),
    ];
  }
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
