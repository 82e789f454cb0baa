import { failureLevel } from '../../errors/storage-error.js';
import type { Message } from '../../model/message.js';
import type { TaskEvent } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import { isInterrupted, isTerminal, type TaskState } from '../../model/task-state.js';
import type { RunningTimer } from '../../runtime/equal-timers.js';
import { ignoreRejection } from '../../runtime/settled.js';
import type { CancelRequest, Claim, HeldTurn } from '../../store/held-turn.js';
import type { Append, AppendOutcome } from '../../store/task-storage.js';
import { CHUNK_FRAME, eventBytes, taskBytes } from '../../task/event-bytes.js';
import { LogRecord, type LogRecordExtras } from '../../task/log-record.js';
import { statusTime } from '../../task/status-time.js';
import { TaskBuilder } from '../../task/task-builder.js';
import { announcedState, type TaskAddress, withTimestamp } from './agent-event.js';
import { CommitQueue, type Committer } from './commit-queue.js';
import type { EngineContext } from './engine-context.js';
import { OpenArtifacts } from './open-artifacts.js';
import { timestampAt } from './timestamp.js';
import { TurnOverError } from './turn-events.js';

/** A message with the ids of its task. */
export type AddressedMessage = Message & TaskAddress;

/** The message with the ids of its task. In the history of a task that it has created, it has them already. */
export function addressed(message: Message, { id, contextId = '', history }: Task): AddressedMessage {
  const first = history?.[0];
  if (first?.messageId === message.messageId && first.taskId === id && first.contextId === contextId) {
    return first as AddressedMessage;
  }
  return { ...message, taskId: id, contextId };
}

/** The turn that a log is of. */
export interface LoggedTurn extends TaskAddress {
  /** Enters the history with the first record of the turn. */
  readonly message: AddressedMessage;
  /** Enters the task with CANCELED. */
  readonly cancelMetadata: CancelRequest['metadata'];
  /** The last commit has taken the turn out of the storage. `waiting`: messages of the task that wait for a turn. */
  left(waiting: number): void;
  /** The storage has refused a commit. */
  fenced(): void;
}

/** An event that waits for the claim of its task. */
interface EarlyEvent {
  readonly event: TaskEvent;
  readonly bytes: number;
  readonly room: PromiseWithResolvers<void>;
}

/** A commit of records, or the release of a turn that has no more of them. */
type TurnCommit = Append | 'release';

/**
 * The log of one turn. Numbers the events of the turn, folds them into the task, and commits them in groups. An event
 * is shown to readers after its commit. Before the task is stored, events wait in the log.
 */
export class TurnLog implements Committer<LogRecord, TurnCommit, AppendOutcome> {
  readonly #context: EngineContext;
  readonly #turn: LoggedTurn;
  #claim: Claim | undefined;
  #held: HeldTurn | undefined;
  #queue: CommitQueue<LogRecord, TurnCommit, AppendOutcome> | undefined;
  /** Absent once nothing more is written: an agent that never returns does not keep the whole task in memory. */
  #builder: TaskBuilder | undefined;
  readonly #artifacts: OpenArtifacts;
  /** Absent once the log is open or abandoned. */
  #early: EarlyEvent[] | undefined = [];
  #opened: PromiseWithResolvers<void> | undefined;
  #isFinished = false;
  /** Sequence number of the last record made. */
  #seq = 0;
  #hasRecords = false;
  /** Upper bound of the bytes of the task. */
  #bytes = 0;
  /** Bytes of the records since the last snapshot. */
  #bytesSinceSnapshot = 0;
  #snapshotBytes = 0;
  /** Estimated bytes of the task while it grows by chunks alone. Otherwise undefined until the next measurement. */
  #taskBytes: number | undefined;
  #isSnapshotDue = false;
  #lastTimestamp = 0;
  /** Runs while callers wait for the commit of a state in which the task has ended or waits for them. */
  #overdue: RunningTimer | undefined;

  constructor(context: EngineContext, turn: LoggedTurn) {
    this.#context = context;
    this.#turn = turn;
    this.#artifacts = new OpenArtifacts({
      taskId: turn.taskId,
      contextId: turn.contextId,
      form: context.artifactEnd,
      timers: context.heldChunks,
      has: (id) => this.#builder?.has(id) === true,
      artifact: (id) => this.#builder?.artifact(id),
      write: (event, bytes) => this.#record(event, bytes),
    });
  }

  /** The claim of the turn; absent before the task is stored. */
  get claim(): Claim | undefined {
    return this.#claim;
  }

  /** The turn as the storage knows it; absent before the task is stored. */
  get held(): HeldTurn | undefined {
    return this.#held;
  }

  /** Begins to write: first the events that have waited for the claim. */
  open(claim: Claim): void {
    const { clock, limits } = this.#context;
    const { task, seq } = claim;
    this.#claim = claim;
    this.#held = heldTurn(claim);
    this.#builder = TaskBuilder.from(task);
    this.#seq = seq;
    this.#lastTimestamp = statusTime(task.status);
    if (seq > 1) this.#snapshotBytes = taskBytes(task);
    this.#bytes += this.#snapshotBytes;
    this.#queue = new CommitQueue(this, clock, limits);
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const { event, bytes, room } of early) this.#take(event, bytes).then(room.resolve, room.reject);
    this.#opened?.resolve();
    if (this.#isFinished) this.finish();
  }

  /** The reason for which the log cannot take an event of this size: the agent is too fast, or the task too large. */
  excess(bytes: number): 'too fast' | 'too large' | undefined {
    const { overrunEvents, taskBytes: limit } = this.#context.limits;
    if ((this.#queue?.waiting ?? this.#early?.length ?? 0) >= overrunEvents) return 'too fast';
    if (this.#bytes + bytes <= limit) return undefined;
    // Artifacts that were replaced count no more.
    if (this.#builder) this.#bytes = taskBytes(this.#builder.view());
    return this.#bytes + bytes > limit ? 'too large' : undefined;
  }

  /** Takes an event. Resolves when there is room for the next. */
  append(event: TaskEvent, bytes = eventBytes(event)): Promise<void> {
    this.#bytes += bytes;
    if (this.#queue) return this.#take(event, bytes);
    const room = Promise.withResolvers<void>();
    if (this.#early) this.#early.push({ event, bytes, room });
    else room.reject(new TurnOverError());
    return ignoreRejection(room.promise);
  }

  /** Resolves when all events so far are committed. Rejects if the log is abandoned first. */
  async flush(): Promise<void> {
    if (this.#early) {
      this.#opened ??= Promise.withResolvers<void>();
      await this.#opened.promise;
    }
    this.#artifacts.flush();
    await this.#queue?.flush();
  }

  /** Takes the turn out of the storage with the last commit. */
  finish(): void {
    this.#isFinished = true;
    if (!this.#queue) return;
    this.#artifacts.flush();
    this.#queue.finish();
  }

  /** Writes nothing more. */
  abandon(): void {
    this.#queue?.close();
    this.#artifacts.abandon();
    this.#builder = undefined;
    this.#stopOverdue();
    const early = this.#early;
    this.#early = undefined;
    for (const { room } of early ?? []) room.reject(new TurnOverError());
    this.#opened?.reject(new TurnOverError());
  }

  prepare(records: readonly LogRecord[], isLast: boolean): TurnCommit {
    const held = this.#held;
    const builder = this.#builder;
    const first = records[0];
    if (!held || !builder || !first) return 'release';
    const { head } = builder;
    const endsTurn = isLast || isTerminal(head.status.state);
    const snapshot = this.#takeSnapshot(builder);
    return {
      key: held.key,
      authority: held.epoch,
      after: first.seq - 1,
      records,
      head,
      ...(snapshot && { snapshot }),
      ...(endsTurn && { endsTurn: held.turn }),
    };
  }

  send(commit: TurnCommit): Promise<AppendOutcome> {
    return commit === 'release' ? this.#release() : this.#context.storage.append(commit);
  }

  sent(commit: TurnCommit, outcome: AppendOutcome): void {
    if (outcome.kind !== 'appended') return this.#refused(outcome.kind);
    const isLast = commit === 'release' || commit.endsTurn !== undefined;
    if (isLast) this.abandon();
    else if (this.#queue?.isEmpty) this.#stopOverdue();
    if (commit !== 'release') this.#context.feeds.publish(commit.key, commit.records, commit.snapshot);
    if (isLast) this.#turn.left(outcome.waiting);
  }

  failed(error: unknown, attempt: number, waitMs: number): void {
    const { logger } = this.#context;
    logger[failureLevel(error)]('commit failed, trying again', { taskId: this.#turn.taskId, attempt, waitMs, error });
  }

  async #release(): Promise<AppendOutcome> {
    const [held, attempt] = [this.#held, this.claim?.attempt ?? 1];
    const { waiting } = held ? await this.#context.storage.release({ ...held, attempt }, 'done') : { waiting: 0 };
    return { kind: 'appended', waiting };
  }

  #refused(reason: string): void {
    this.#queue?.refuse();
    const { turn, epoch } = this.#held ?? {};
    const fields = { taskId: this.#turn.taskId, turn, epoch, reason };
    this.#context.logger.warn('turn overtaken, its last events are refused', fields);
    this.#turn.fenced();
  }

  #take(event: TaskEvent, bytes: number): Promise<void> {
    if (this.#queue?.isClosed) return Promise.reject(new TurnOverError());
    if ('artifactUpdate' in event) return this.#artifacts.take(event, bytes);
    this.#artifacts.before(event);
    return this.#record(event, bytes);
  }

  #record(event: TaskEvent, bytes: number): Promise<void> {
    const queue = this.#queue;
    const held = this.#held;
    if (!queue || queue.isClosed || !held) return Promise.reject(new TurnOverError());
    const state = announcedState(event);
    const extras = this.#extras(state);
    this.#hasRecords = true;
    this.#seq += 1;
    const timed = state === undefined ? event : withTimestamp(event, this.#timestamp());
    const record = LogRecord.of(this.#seq, held.turn, timed, extras, bytes);
    this.#builder?.apply(record);
    this.#bytesSinceSnapshot += bytes;
    if (this.#taskBytes !== undefined) this.#taskBytes = sizeAfter(event, bytes, this.#taskBytes);
    if (state !== undefined && (isTerminal(state) || isInterrupted(state))) {
      this.#isSnapshotDue = true;
      this.#startOverdue();
    }
    return queue.push(record, bytes, state !== undefined);
  }

  /** The message enters the history with the first record of the turn, metadata of a cancel with CANCELED. */
  #extras(state: TaskState | undefined): LogRecordExtras | undefined {
    const isEntering = !this.#hasRecords && this.#claim && !this.#claim.began && !isCreatedBy(this.#claim);
    const metadata = state === 'TASK_STATE_CANCELED' ? this.#turn.cancelMetadata : undefined;
    if (!isEntering && !metadata) return undefined;
    return { ...(isEntering && { history: [this.#turn.message] }), ...(metadata && { metadata }) };
  }

  /** The time now, and never before the last status of the task. Only the holder of the turn writes the time. */
  #timestamp(): string {
    this.#lastTimestamp = Math.max(this.#context.clock.now(), this.#lastTimestamp);
    return timestampAt(this.#lastTimestamp);
  }

  #takeSnapshot(builder: TaskBuilder): Task | undefined {
    // Writing stays linear in the output of the agent: a snapshot waits until the records since the last one have
    // outgrown its cost.
    const isTooLong = this.#bytesSinceSnapshot > Math.max(this.#context.limits.snapshotLogBytes, this.#snapshotBytes);
    if (!this.#isSnapshotDue && !isTooLong) return undefined;
    const snapshot = builder.view();
    this.#isSnapshotDue = false;
    this.#bytesSinceSnapshot = 0;
    if (isTooLong) this.#snapshotBytes = this.#taskBytes ??= taskBytes(snapshot);
    return snapshot;
  }

  /** Callers who wait for the outcome of the turn are told if its commit takes too long, and later callers as well. */
  #startOverdue(): void {
    this.#overdue ??= this.#context.patience.start(() => {
      this.#overdue = undefined;
      if (this.#held) this.#context.feeds.overdue(this.#held.key);
      this.#startOverdue();
    });
  }

  #stopOverdue(): void {
    if (this.#overdue) this.#context.patience.stop(this.#overdue);
    this.#overdue = undefined;
  }
}

/** The size of a task after an event; undefined if only a walk through the task tells. */
function sizeAfter(event: TaskEvent, bytes: number, before: number): number | undefined {
  if ('statusUpdate' in event) return before;
  return 'artifactUpdate' in event && event.artifactUpdate.append ? before + bytes - CHUNK_FRAME : undefined;
}

/** The turn of a claim as the storage knows it. */
export function heldTurn({ scope, task, turn, epoch }: Claim): HeldTurn {
  return { key: { scope, id: task.id }, turn, epoch };
}

/** True if the history of the task has the message of this turn already: it created the task, or was begun before. */
function isCreatedBy({ turn, task, message, caller }: Claim): boolean {
  if (caller.resumes !== undefined) return true;
  return turn === 1 && task.history?.some(({ messageId }) => messageId === message.messageId) === true;
}
