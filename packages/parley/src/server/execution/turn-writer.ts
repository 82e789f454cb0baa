import { failureLevel } from '../../errors/storage-error.js';
import type { TaskEvent } from '../../model/stream-response.js';
import type { RunningTimer } from '../../runtime/equal-timers.js';
import { ignoreRejection, SETTLED } from '../../runtime/settled.js';
import type { Claim } from '../../store/held-turn.js';
import type { Scope } from '../../store/task-key.js';
import type { Append, AppendOutcome } from '../../store/task-storage.js';
import type { EngineContext } from './engine-context.js';
import { TurnOverError } from './turn-events.js';
import { heldTurn, type LoggedTurn, TurnLog } from './turn-log.js';

const RETRY_MS = [50, 200, 1_000, 5_000] as const;

/** Returns the delay in ms after a number of consecutive failures. */
export function retryMs(failures: number): number {
  return RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? 0;
}

/** The turn of a writer. */
export interface WrittenTurn extends LoggedTurn {
  readonly scope: Scope;
  /**
   * Called once at the end of the writing. `left`: the last commit has removed the turn from the storage; `waiting`:
   * number of waiting messages of the task. `fenced`: the storage has refused a commit.
   */
  advance(end: 'left' | 'fenced', result?: { readonly waiting: number }): unknown;
}

/**
 * Writes a turn to the storage. It groups the records of the log into commits, one at a time. A failed commit is
 * repeated until it succeeds or the writer is closed. While the writer is full, the agent waits. Readers get a record
 * after its commit.
 */
export class TurnWriter {
  /**
   * Absent once nothing more is written, so that an agent that never returns does not keep the whole task in memory.
   */
  log: TurnLog | undefined;
  readonly #context: EngineContext;
  readonly #turn: WrittenTurn;
  /** Absent before the task is stored. */
  #claim: Claim | undefined;
  /** Bytes of the commit in progress. */
  #sentBytes = 0;
  #isSending = false;
  #isScheduled = false;
  #isFinished = false;
  /** True if the writer was closed before all events were committed. */
  #hasLost = false;
  #stopDelay: (() => void) | undefined;
  #chunkTimer: RunningTimer | undefined;
  /** Runs while callers wait for the commit of an interrupted or terminal state. */
  #overdue: RunningTimer | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  /** Flushes that wait for the commit in progress, and for the next one. */
  #flushOfSent: PromiseWithResolvers<void> | undefined;
  #flushOfNext: PromiseWithResolvers<void> | undefined;

  constructor(context: EngineContext, turn: WrittenTurn) {
    this.#context = context;
    this.#turn = turn;
    this.log = new TurnLog(context, turn);
  }

  /** Starts to write, first the events queued before the claim. */
  open(claim: Claim): void {
    this.#claim = claim;
    if (this.log?.open(claim) === true) this.#watchChunk();
    if (this.#isFinished) return this.finish();
    if (this.log !== undefined && this.log.pending.records.length > 0) this.#schedule();
    if (!this.#isFull()) this.#makeRoom();
  }

  /** Appends an event. Resolves when there is room for the next one. Rejects if nothing more is written. */
  append(event: TaskEvent, bytes?: number): Promise<void> {
    const log = this.log;
    if (log === undefined) return Promise.reject(new TurnOverError());
    const isHeld = log.append(event, bytes);
    const { pending } = log;
    if (isHeld) this.#watchChunk();
    if (pending.isAnswer) this.#overdue ??= this.#context.patience.start(() => this.#tellOverdue());
    const isFull = this.#isFull();
    if (pending.isUrgent || isFull) this.#schedule();
    else if (pending.records.length > 0) this.#scheduleLater();
    return isFull ? this.#whenRoom() : SETTLED;
  }

  /** Resolves when all events so far are committed. Rejects if the writer is closed before that. */
  async flush(): Promise<void> {
    if (this.#claim === undefined && this.log !== undefined) await this.#whenRoom();
    const log = this.log;
    if (this.#hasLost) throw new TurnOverError();
    if (log === undefined) return;
    log.flush();
    if (log.pending.records.length > 0) {
      this.#schedule();
      this.#flushOfNext ??= Promise.withResolvers();
      return this.#flushOfNext.promise;
    }
    if (!this.#isSending) return;
    this.#flushOfSent ??= Promise.withResolvers();
    return this.#flushOfSent.promise;
  }

  /** Removes the turn from the storage with the last commit, which may have no records. */
  finish(): void {
    this.#isFinished = true;
    this.log?.flush();
    this.#schedule();
  }

  /** Stops writing. The answer to a commit in progress is ignored. */
  close(): void {
    const log = this.log;
    if (log === undefined) return;
    this.log = undefined;
    this.#hasLost = this.#isSending || log.pending.records.length > 0 || this.#claim === undefined;
    this.#stopDelay?.();
    if (this.#chunkTimer) this.#context.heldChunks.stop(this.#chunkTimer);
    if (this.#overdue) this.#context.patience.stop(this.#overdue);
    if (this.#claim === undefined) this.#room?.reject(new TurnOverError());
    else this.#makeRoom();
    this.#flushOfSent?.reject(new TurnOverError());
    this.#flushOfNext?.reject(new TurnOverError());
  }

  /** Full before the claim, so that the agent does not run ahead of the storage. */
  #isFull(): boolean {
    const { bufferEvents, bufferBytes } = this.#context.limits;
    if (this.#claim === undefined) return true;
    const pending = this.log?.pending;
    return (
      pending !== undefined &&
      (pending.records.length >= bufferEvents || pending.bytes + this.#sentBytes >= bufferBytes)
    );
  }

  /** An earlier commit does not stop a running delay: most delays are short, and stopping each one costs more. */
  #scheduleLater(): void {
    if (this.#isSending || this.#isScheduled) return;
    this.#stopDelay ??= this.#context.clock.after(this.#context.limits.commitDelayMs, () => {
      this.#stopDelay = undefined;
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isSending || this.#isScheduled || this.#claim === undefined) return;
    this.#isScheduled = true;
    this.#context.clock.soon(this.#commit);
  }

  readonly #commit = (): void => {
    this.#isScheduled = false;
    const { log } = this;
    if (log === undefined || this.#isSending) return;
    const { bytes } = log.pending;
    const commit = log.take(this.#isFinished);
    if (commit === undefined && !this.#isFinished) return;
    this.#isSending = true;
    this.#sentBytes = bytes;
    this.#flushOfSent = this.#flushOfNext;
    this.#flushOfNext = undefined;
    void this.#send(commit, 1);
    if (!this.#isFull()) this.#makeRoom();
  };

  async #send(commit: Append | undefined, attempt: number): Promise<void> {
    let outcome: AppendOutcome;
    try {
      outcome = await (commit ? this.#context.storage.append(commit) : this.#release());
    } catch (error) {
      return this.#failed(commit, error, attempt);
    }
    this.#answered(commit, outcome);
  }

  /** Repeats the same commit: the storage may have it already. */
  #failed(commit: Append | undefined, error: unknown, attempt: number): void {
    if (this.log === undefined) return;
    const { clock, logger } = this.#context;
    const waitMs = retryMs(attempt);
    logger[failureLevel(error)]('commit failed, trying again', { taskId: this.#turn.taskId, attempt, waitMs, error });
    clock.after(waitMs, () => {
      if (this.log !== undefined) void this.#send(commit, attempt + 1);
    });
  }

  /** The last commit of a turn without further records. */
  async #release(): Promise<AppendOutcome> {
    const claim = this.#claim;
    if (claim === undefined) throw new TypeError('A turn without a claim commits nothing');
    const { waiting } = await this.#context.storage.release({ ...heldTurn(claim), attempt: claim.attempt }, 'done');
    return { kind: 'appended', waiting };
  }

  #answered(commit: Append | undefined, outcome: AppendOutcome): void {
    const log = this.log;
    if (log === undefined) return;
    if (outcome.kind !== 'appended') return this.#refused(outcome.kind);
    this.#isSending = false;
    this.#sentBytes = 0;
    this.#flushOfSent?.resolve();
    this.#flushOfSent = undefined;
    const isLast = commit === undefined || commit.endsTurn !== undefined;
    const isIdle = log.pending.records.length === 0;
    if (isLast) this.close();
    else if (isIdle) this.#stopOverdue();
    if (commit) this.#context.feeds.publish(commit.key, commit.records, commit.snapshot);
    if (isLast) return void this.#turn.advance('left', outcome);
    if (!this.#isFull()) this.#makeRoom();
    if (!isIdle || this.#isFinished) this.#schedule();
  }

  #refused(reason: string): void {
    const { turn, epoch } = this.#claim ?? {};
    const fields = { taskId: this.#turn.taskId, turn, epoch, reason };
    this.#context.logger.warn('turn overtaken, its last events are refused', fields);
    this.#turn.advance('fenced');
  }

  #whenRoom(): Promise<void> {
    this.#room ??= Promise.withResolvers();
    return ignoreRejection(this.#room.promise);
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #watchChunk(): void {
    this.#chunkTimer ??= this.#context.heldChunks.start(() => {
      this.#chunkTimer = undefined;
      if (this.log?.look() === true) this.#watchChunk();
      else this.#schedule();
    });
  }

  /** Informs callers that wait for the outcome of the turn, including later ones, if its commit takes too long. */
  #tellOverdue(): void {
    const key = { scope: this.#turn.scope, id: this.#turn.taskId };
    this.#overdue = this.#context.patience.start(() => this.#tellOverdue());
    if (this.#claim) this.#context.feeds.overdue(key);
  }

  #stopOverdue(): void {
    if (this.#overdue) this.#context.patience.stop(this.#overdue);
    this.#overdue = undefined;
  }
}
