import { failureLevel } from '../../errors/storage-error.js';
import type { TaskEvent } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import { isInterrupted, isTerminal, type TaskState } from '../../model/task-state.js';
import type { Clock } from '../../runtime/clock.js';
import type { EqualTimers, RunningTimer } from '../../runtime/equal-timers.js';
import type { Append, TaskKey, TaskStorage } from '../../store/task-storage.js';
import { taskBytes } from '../../task/event-bytes.js';
import { LogRecord, type LogRecordExtras } from '../../task/log-record.js';
import { statusTime } from '../../task/status-time.js';
import { TaskBuilder } from '../../task/task-builder.js';
import type { Logger } from '../../telemetry/logger.js';
import type { EngineLimits } from '../engine-limits.js';
import { stateOf } from './record-state.js';
import { SETTLED } from './settled.js';
import type { TaskFeeds } from './task-feeds.js';
import { timestampAt } from './timestamp.js';

/** What a writer needs of its engineContext. */
export interface TurnWriterOptions {
  readonly key: TaskKey;
  readonly turn: number;
  readonly epoch: number;
  readonly task: Task;
  readonly seq: number;
  readonly storage: TaskStorage;
  readonly feeds: TaskFeeds;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: EngineLimits;
  /** Timers of callers that wait for the commit of the outcome. */
  readonly patience: EqualTimers;
  /** The turn is no longer ours: nothing of it is accepted any more. */
  readonly onOvertaken: () => void;
  /** The turn has left the storage; `waiting` executions of the task are to be run. */
  readonly onClosed: (waiting: number) => void;
}

/** A record in the making. */
export interface RecordDraft {
  /** Valid; its status, if any, has its timestamp. */
  readonly event: TaskEvent;
  /** About how many its event takes. */
  readonly bytes: number;
  /** What the record carries beside its event. */
  readonly extras: LogRecordExtras | undefined;
}

const RETRY_MS = [50, 200, 1_000, 5_000] as const;

/**
 * The one writer of a task while a turn runs: numbers its events, folds them, and commits them in groups. An event is
 * shown to nobody before its commit. While one commit is under way, what becomes ready waits for the next.
 */
export class TurnWriter {
  readonly #options: TurnWriterOptions;
  /** Absent once nothing more is written: an agent that never returns keeps its writer, but not the whole task. */
  #builder: TaskBuilder | undefined;
  /** Sequence number of the last record made. */
  #seq: number;
  /** Sequence number of the last record committed. */
  #committed: number;
  #pending: LogRecord[] = [];
  #pendingBytes = 0;
  /** Of the commit that is under way. */
  #inFlightBytes = 0;
  #inFlight = false;
  #scheduled = false;
  #cancelDelay: (() => void) | undefined;
  #failures = 0;
  /** Runs while a state waits for its commit in which the task waits or has ended. */
  #patience: RunningTimer | undefined;
  #tailBytes = 0;
  /** Size of the task at its last snapshot. */
  #snapshotBytes: number;
  #snapshotDue = false;
  #lastTimestamp: number;
  #state: TaskState;
  /** The execution has returned: the turn may leave the storage. */
  #returned = false;
  #leaving = false;
  #closed = false;
  #roomWaiters: { resolve: () => void; promise: Promise<void> } | undefined;
  #flushWaiters: { seq: number; resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor(options: TurnWriterOptions) {
    this.#options = options;
    this.#builder = TaskBuilder.from(options.task);
    this.#seq = options.seq;
    this.#committed = options.seq;
    this.#state = options.task.status.state;
    this.#lastTimestamp = statusTime(options.task.status);
    this.#snapshotBytes = options.seq > 1 ? taskBytes(options.task) : 0;
  }

  /** The state after the last event published, committed or not. */
  get state(): TaskState {
    return this.#state;
  }

  /** Whether the turn has left the storage or was overtaken: nothing more will be written. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Whether the storage has been told that the turn is over: its answer says what became of it. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Now, but never before the task's last status (the fence makes it the only clock of the task). */
  timestamp(): string {
    this.#lastTimestamp = Math.max(this.#options.clock.now(), this.#lastTimestamp);
    return timestampAt(this.#lastTimestamp);
  }

  /** Events that wait for their commit to begin. */
  get waiting(): number {
    return this.#pending.length;
  }

  /** About how many bytes the task takes now. */
  get taskBytes(): number {
    return this.#builder ? taskBytes(this.#builder.view()) : 0;
  }

  /** Takes an event over. Resolves when there is room for the next one. */
  publish({ event, bytes, extras }: RecordDraft): Promise<void> {
    if (this.#closed) return SETTLED;
    const record = LogRecord.of(++this.#seq, this.#options.turn, event, extras);
    this.#builder?.apply(record);
    this.#pending.push(record);
    this.#pendingBytes += bytes;
    this.#tailBytes += bytes;
    const state = stateOf(record);
    if (state === undefined) {
      this.#scheduleChunk();
    } else {
      this.#state = state;
      if (isTerminal(state) || isInterrupted(state)) {
        this.#snapshotDue = true;
        this.#beImpatient();
      }
      this.#schedule();
    }
    return this.#full() ? this.#room() : SETTLED;
  }

  /** Resolves when everything published so far is committed; rejects if the turn is overtaken first. */
  flush(): Promise<void> {
    if (this.#committed >= this.#seq) return SETTLED;
    this.#schedule();
    return new Promise((resolve, reject) => this.#flushWaiters.push({ seq: this.#seq, resolve, reject }));
  }

  /** The execution has returned: the turn leaves the storage with its last commit. */
  finish(): void {
    if (this.#returned) return;
    this.#returned = true;
    this.#schedule();
  }

  /** Writes nothing more. */
  abandon(): void {
    this.#close();
  }

  #full(): boolean {
    const { bufferEvents, bufferBytes } = this.#options.limits;
    return this.#pending.length >= bufferEvents || this.#pendingBytes + this.#inFlightBytes >= bufferBytes;
  }

  #room(): Promise<void> {
    this.#roomWaiters ??= Promise.withResolvers<void>();
    return this.#roomWaiters.promise;
  }

  #scheduleChunk(): void {
    if (this.#inFlight || this.#scheduled) return;
    if (this.#full()) return this.#schedule();
    this.#cancelDelay ??= this.#options.clock.after(this.#options.limits.commitDelayMs, () => {
      this.#cancelDelay = undefined;
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#inFlight || this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    this.#cancelDelay?.();
    this.#cancelDelay = undefined;
    this.#options.clock.soon(() => {
      this.#scheduled = false;
      this.#commit();
    });
  }

  #commit(): void {
    const builder = this.#builder;
    if (this.#inFlight || this.#closed || !builder) return;
    const records = this.#pending;
    if (records.length === 0) {
      if (this.#returned) this.#release();
      return;
    }
    this.#pending = [];
    this.#inFlightBytes = this.#pendingBytes;
    this.#pendingBytes = 0;
    const { key, turn, epoch, limits } = this.#options;
    const terminal = isTerminal(this.#state);
    // Never before the tail has outgrown what a snapshot costs: writing stays linear in what the agent produces.
    const tooLong = this.#tailBytes > Math.max(limits.snapshotTailBytes, this.#snapshotBytes);
    const snapshot = this.#snapshotDue || tooLong ? builder.view() : undefined;
    if (snapshot) {
      this.#snapshotDue = false;
      this.#tailBytes = 0;
      if (tooLong) this.#snapshotBytes = taskBytes(snapshot);
    }
    const endsTurn = this.#returned || terminal;
    this.#leaving = endsTurn;
    this.#send({
      key,
      authority: epoch,
      after: this.#committed,
      records,
      head: builder.head,
      ...(snapshot && { snapshot }),
      ...(endsTurn && { endsTurn: turn }),
    });
    if (!this.#full()) this.#makeRoom();
  }

  #send(append: Append): void {
    this.#inFlight = true;
    this.#options.storage.append(append).then(
      (outcome) => {
        this.#inFlight = false;
        this.#failures = 0;
        if (this.#closed) return;
        if (outcome.kind === 'appended') this.#appended(append, outcome.waiting);
        else this.#overtaken(outcome.kind);
      },
      (error: unknown) => this.#failed(append, error),
    );
  }

  #appended(append: Append, waiting: number): void {
    const { feeds, key } = this.#options;
    this.#committed = append.records.at(-1)?.seq ?? this.#committed;
    this.#inFlightBytes = 0;
    if (this.#committed >= this.#seq) this.#bePatient();
    if (append.endsTurn !== undefined) this.#close();
    else if (!this.#full()) this.#makeRoom();
    feeds.publish(key, append.records, append.snapshot);
    this.#settleFlushes();
    if (append.endsTurn !== undefined) this.#options.onClosed(waiting);
    else if (this.#pending.length > 0 || this.#returned) this.#schedule();
  }

  /** The storage could not commit; nothing was written, so the same append is tried again until it can. */
  #failed(append: Append, error: unknown): void {
    const { logger, clock, key } = this.#options;
    if (this.#closed) return;
    const wait = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)] ?? 0;
    this.#failures += 1;
    const fields = { taskId: key.id, attempt: this.#failures, waitMs: wait, error };
    logger[failureLevel(error)]('commit failed, trying again', fields);
    clock.after(wait, () => {
      if (!this.#closed) this.#send(append);
    });
  }

  #overtaken(reason: string): void {
    const { logger, key, turn, epoch } = this.#options;
    logger.warn('turn overtaken, its last events are refused', { taskId: key.id, turn, epoch, reason });
    this.#close();
    this.#options.onOvertaken();
  }

  #release(): void {
    this.#inFlight = true;
    this.#leaving = true;
    const { key, turn, epoch, storage, logger, clock, onClosed } = this.#options;
    storage.release({ key, turn, epoch }, 'done').then(
      ({ waiting }) => {
        this.#close();
        onClosed(waiting);
      },
      (error: unknown) => {
        logger[failureLevel(error)]('release failed, trying again', { taskId: key.id, error });
        this.#inFlight = false;
        clock.after(RETRY_MS[2], () => this.#schedule());
      },
    );
  }

  /**
   * Callers who wait for the outcome of the turn are told when its commit takes too long, and those who come later as
   * well.
   */
  #beImpatient(): void {
    this.#patience ??= this.#options.patience.start(() => {
      this.#patience = undefined;
      this.#options.feeds.overdue(this.#options.key);
      this.#beImpatient();
    });
  }

  #bePatient(): void {
    if (this.#patience) this.#options.patience.stop(this.#patience);
    this.#patience = undefined;
  }

  #close(): void {
    this.#closed = true;
    this.#bePatient();
    this.#builder = undefined;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#cancelDelay?.();
    this.#cancelDelay = undefined;
    this.#makeRoom();
    this.#settleFlushes();
  }

  #makeRoom(): void {
    this.#roomWaiters?.resolve();
    this.#roomWaiters = undefined;
  }

  #settleFlushes(): void {
    if (this.#flushWaiters.length === 0) return;
    const waiters = this.#flushWaiters;
    this.#flushWaiters = [];
    for (const waiter of waiters) {
      if (waiter.seq <= this.#committed) waiter.resolve();
      else if (this.#closed) waiter.reject(new Error('The turn is over'));
      else this.#flushWaiters.push(waiter);
    }
  }
}
