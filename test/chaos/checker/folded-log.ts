import { createHash } from 'node:crypto';
import type { Task } from '../../../packages/parley/src/model/task.js';
import { isInterrupted, type TaskState } from '../../../packages/parley/src/model/task-state.js';
import type { LogRecord } from '../../../packages/parley/src/task/log-record.js';
import { TaskBuilder } from '../../../packages/parley/src/task/task-builder.js';
import type { StoredLog } from './history.js';

/** The prefix of each event of an agent: its run, and the number of the event in the run. */
export interface RunTag {
  readonly run: string;
  readonly count: number;
}

/** A log with the task after each record. */
export class FoldedLog {
  readonly log: StoredLog;
  readonly #bySeq: Map<number, LogRecord>;
  #folds: Folds | undefined;
  #statuses: Map<string, readonly [first: number, last: number]> | undefined;

  constructor(log: StoredLog) {
    this.log = log;
    this.#bySeq = new Map(log.records.map((record) => [record.seq, record]));
  }

  get id(): string {
    return this.log.stored.task.id;
  }

  get agent(): string {
    return this.log.stored.scope.agent;
  }

  get records(): readonly LogRecord[] {
    return this.log.records;
  }

  record(seq: number): LogRecord | undefined {
    return this.#bySeq.get(seq);
  }

  /** Returns the sequence numbers at which the task equals this one. */
  seqsOfTask(task: Task): readonly number[] {
    this.#folds ??= this.#fold();
    return this.#folds.tasks.get(digest(task)) ?? [];
  }

  /** Returns the sequence numbers of waiting tasks that equal this one once their next turn has started. */
  seqsBefore(begun: Task): readonly number[] {
    this.#folds ??= this.#fold();
    return this.#folds.begun.get(digest(begun)) ?? [];
  }

  /** Returns the tag of a record, if an agent has published its event. The whole text at the end repeats tags. */
  tagOf(record: LogRecord): RunTag | undefined {
    this.#folds ??= this.#fold();
    return this.#folds.repeats.has(record.seq) ? undefined : tagOf(record);
  }

  /** Returns the first and the last sequence number with this status; undefined if there is none. */
  seqsOfStatus(task: Task): readonly [first: number, last: number] | undefined {
    if (this.#statuses === undefined) {
      this.#statuses = new Map();
      let status = '';
      for (const { seq, event } of this.records) {
        if (event.task !== undefined) status = canonical(event.task.status);
        if (event.statusUpdate !== undefined) status = canonical(event.statusUpdate.status);
        this.#statuses.set(status, [this.#statuses.get(status)?.[0] ?? seq, seq]);
      }
    }
    return this.#statuses.get(canonical(task.status));
  }

  #fold(): Folds {
    const folds: Folds = { tasks: new Map(), begun: new Map(), repeats: new Set() };
    let builder: TaskBuilder | undefined;
    for (const record of this.records) {
      const before = builder?.head.status.state;
      if (builder !== undefined && isRepeat(record, builder)) folds.repeats.add(record.seq);
      if (builder !== undefined) builder.apply(record);
      else if (record.event.task !== undefined) builder = new TaskBuilder(record.event.task);
      if (builder === undefined) continue;
      const task = builder.view();
      add(folds.tasks, task, record.seq);
      if (before === undefined || !isInterrupted(before)) continue;
      const { message: _, ...status } = task.status;
      add(folds.begun, { ...task, status }, record.seq - 1);
    }
    return folds;
  }
}

/** Sequence numbers of a log by the digest of the task. */
interface Folds {
  /** By the task after each record. */
  readonly tasks: Map<string, number[]>;
  /** By the waiting task once its next turn has started, before the first record of that turn. */
  readonly begun: Map<string, number[]>;
  /** Records that repeat a whole artifact, which they complete. */
  readonly repeats: Set<number>;
}

function add(seqs: Map<string, number[]>, task: Task, seq: number): void {
  const key = digest(task);
  const others = seqs.get(key);
  if (others === undefined) seqs.set(key, [seq]);
  else others.push(seq);
}

function isRepeat({ event }: LogRecord, before: TaskBuilder): boolean {
  if (event.artifactUpdate === undefined) return false;
  const { artifact, append, lastChunk } = event.artifactUpdate;
  if (append === true || lastChunk !== true) return false;
  const known = before.artifact(artifact.artifactId);
  return known !== undefined && canonical(known.parts) === canonical(artifact.parts);
}

/** Returns the state in a record, if it has one. */
export function stateOf({ event }: Pick<LogRecord, 'event'>): TaskState | undefined {
  if (event.task !== undefined) return event.task.status.state;
  return event.statusUpdate !== undefined ? event.statusUpdate.status.state : undefined;
}

/** Returns the tag of a record, if an agent has published its event. */
function tagOf({ event }: Pick<LogRecord, 'event'>): RunTag | undefined {
  if (event.task !== undefined) return undefined;
  const parts =
    event.artifactUpdate !== undefined ? event.artifactUpdate.artifact.parts : event.statusUpdate.status.message?.parts;
  const part = parts?.[0];
  const [, run, count] = /^\[(\S+) (\d+)\]/.exec(part !== undefined && part.text !== undefined ? part.text : '') ?? [];
  return run === undefined ? undefined : { run, count: Number(count) };
}

/** JSON with sorted members, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

/** Returns the digest of a task without its empty lists, which a task may omit. */
function digest({ artifacts, history, ...task }: Task): string {
  const full = {
    ...task,
    ...(artifacts !== undefined && artifacts.length > 0 && { artifacts }),
    ...(history !== undefined && history.length > 0 && { history }),
  };
  return createHash('sha1').update(canonical(full)).digest('base64');
}

/** A value as JSON, cut to the length of a line of evidence. */
export function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length <= 400 ? text : `${text.slice(0, 400)}…`;
}
