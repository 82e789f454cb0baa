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

/** The pause after a number of failures in a row, in ms. */
export function retryMs(failures: number): number {
  return RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? 0;
}

/** The turn that a writer writes. */
export interface WrittenTurn extends LoggedTurn {
  readonly scope: Scope;
  /**
   * Tells the end of the writing, once. `left`: the last commit has taken the turn out of the storage, in which so many
   * messages of the task wait. `fenced`: the storage has refused a commit.
   */
  advance(end: 'left' | 'fenced', result?: { readonly waiting: number }): unknown;
}

/**
 * The part of a turn that writes to the storage. It groups the records of the log into commits. One commit is under way
 * at a time. A commit that fails is sent again until it succeeds or the writer is closed. A writer that is full makes
 * the agent wait. Readers see a record after its commit.
 */
export class TurnWriter {
  /** Absent once nothing more is written. An agent that never returns does not keep the whole task in memory. */
  log: TurnLog | undefined;
  readonly #context: EngineContext;
  readonly #turn: WrittenTurn;
  /** Absent before the task is stored. */
  #claim: Claim | undefined;
  /** Bytes of the commit that is under way. */
  #sentBytes = 0;
  #isSending = false;
  #isScheduled = false;
  #isFinished = false;
  /** True if the writer was closed before all events were committed. */
  #hasLost = false;
  #stopDelay: (() => void) | undefined;
  #chunkTimer: RunningTimer | undefined;
  /** Runs while callers wait for the commit of a state in which the task has ended or waits for them. */
  #overdue: RunningTimer | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  /** Flushes that wait for the commit under way, and for the next one. */
  #flushOfSent: PromiseWithResolvers<void> | undefined;
  #flushOfNext: PromiseWithResolvers<void> | undefined;

  constructor(context: EngineContext, turn: WrittenTurn) {
    this.#context = context;
    this.#turn = turn;
    this.log = new TurnLog(context, turn);
  }

  /** Begins to write: first the events that have waited for the claim. */
  open(claim: Claim): void {
    this.#claim = claim;
    if (this.log?.open(claim) === true) this.#watchChunk();
    if (this.#isFinished) return this.finish();
    if (this.log !== undefined && this.log.pending.records.length > 0) this.#schedule();
    if (!this.#isFull()) this.#makeRoom();
  }

  /** Takes an event. Resolves when there is room for the next. Rejects if nothing more is written. */
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

  /** Resolves when all events so far are committed. Rejects if nothing more is written before that. */
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

  /** Takes the turn out of the storage with the last commit, which may have no records. */
  finish(): void {
    this.#isFinished = true;
    this.log?.flush();
    this.#schedule();
  }

  /** Writes nothing more. The answer to a commit under way is ignored. */
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

  /** Before the claim there is no room: the agent does not run ahead of the storage. */
  #isFull(): boolean {
    const { bufferEvents, bufferBytes } = this.#context.limits;
    if (this.#claim === undefined) return true;
    const pending = this.log?.pending;
    return (
      pending !== undefined &&
      (pending.records.length >= bufferEvents || pending.bytes + this.#sentBytes >= bufferBytes)
    );
  }

  /** A running delay is not stopped by an earlier commit: most delays are short, and to stop each one costs more. */
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

  /** Sends the same commit again: the storage may have it already. */
  #failed(commit: Append | undefined, error: unknown, attempt: number): void {
    if (this.log === undefined) return;
    const { clock, logger } = this.#context;
    const waitMs = retryMs(attempt);
    logger[failureLevel(error)]('commit failed, trying again', { taskId: this.#turn.taskId, attempt, waitMs, error });
    clock.after(waitMs, () => {
      if (this.log !== undefined) void this.#send(commit, attempt + 1);
    });
  }

  /** The last commit of a turn that has no more records. */
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

  /** Callers who wait for the outcome of the turn are told if its commit takes too long, and later callers as well. */
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
