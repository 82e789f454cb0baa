import type { Clock } from '../../runtime/clock.js';
import { attempt, SETTLED } from '../../runtime/settled.js';
import type { EngineLimits } from '../engine-limits.js';

/** The side of a queue that writes. One commit is under way at a time. */
export interface Committer<Item, Commit, Answer> {
  /** Makes one commit of all items. `isLast`: the queue is finished, and no more items come. */
  prepare(items: Item[], isLast: boolean): Commit;
  /** Writes a commit. If it rejects, nothing was written, and the queue sends the same commit again. */
  send(commit: Commit): Promise<Answer>;
  /** The commit has been answered. */
  sent(commit: Commit, answer: Answer): void;
  /** A commit failed. `attempt` counts its failures in a row. The queue sends it again after `waitMs`. */
  failed(error: unknown, attempt: number, waitMs: number): void;
}

/** The limits that a queue keeps. */
export type QueueLimits = Pick<EngineLimits, 'bufferEvents' | 'bufferBytes' | 'commitDelayMs'>;

interface FlushWaiter {
  readonly count: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const NO_WAITERS: readonly FlushWaiter[] = [];
const RETRY_MS = [50, 200, 1_000, 5_000] as const;

/** The pause after a number of failures in a row, in ms. */
export function retryMs(failures: number): number {
  return RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? 0;
}

/**
 * Items that wait for their commit. While one commit is under way, items that come wait for the next. A full queue
 * makes its producers wait. A commit that fails is sent again until it succeeds or the queue is closed.
 */
export class CommitQueue<Item, Commit, Answer> {
  readonly #committer: Committer<Item, Commit, Answer>;
  readonly #clock: Clock;
  readonly #limits: QueueLimits;
  #pending: Item[] = [];
  #pendingBytes = 0;
  /** Size of the commit that is under way. */
  #sentBytes = 0;
  /** Items that the commit under way brings to the storage, counted from the first item of all. */
  #sent = 0;
  #pushed = 0;
  #committed = 0;
  #committedBefore = 0;
  #isSending = false;
  #isScheduled = false;
  #cancelDelay: (() => void) | undefined;
  #failures = 0;
  #isFinished = false;
  #isClosed = false;
  #room: PromiseWithResolvers<void> | undefined;
  #flushes: readonly FlushWaiter[] = NO_WAITERS;

  constructor(committer: Committer<Item, Commit, Answer>, clock: Clock, limits: QueueLimits) {
    this.#committer = committer;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Nothing is written any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Items that wait for their commit to begin. */
  get waiting(): number {
    return this.#pending.length;
  }

  /** True if every item is committed. */
  get isEmpty(): boolean {
    return this.#committed === this.#pushed;
  }

  /** Adds an item. Resolves when there is room for the next. An item that is not `urgent` may wait for others. */
  push(item: Item, bytes: number, urgent: boolean): Promise<void> {
    if (this.#isClosed) return SETTLED;
    this.#pending.push(item);
    this.#pushed += 1;
    this.#pendingBytes += bytes;
    const isFull = this.#isFull();
    if (urgent || isFull) this.#schedule();
    else this.#scheduleLater();
    if (!isFull) return SETTLED;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Resolves when all items so far are committed. Rejects if the queue is closed first. */
  flush(): Promise<void> {
    if (this.isEmpty) return SETTLED;
    this.#schedule();
    return new Promise((resolve, reject) => {
      this.#flushes = [...this.#flushes, { count: this.#pushed, resolve, reject }];
    });
  }

  /** No more items come. The last commit may have no items. */
  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#schedule();
  }

  /**
   * Counts the items of the answered commit as not committed: it has written nothing. Call it in `sent`, before
   * `close`.
   */
  refuse(): void {
    this.#committed = this.#committedBefore;
  }

  /** Drops all items that are not committed. The answer of a commit under way is ignored. */
  close(): void {
    this.#isClosed = true;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#cancelDelay?.();
    this.#cancelDelay = undefined;
    this.#makeRoom();
    this.#settleFlushes();
  }

  #isFull(): boolean {
    const { bufferEvents, bufferBytes } = this.#limits;
    return this.#pending.length >= bufferEvents || this.#pendingBytes + this.#sentBytes >= bufferBytes;
  }

  /** A running delay is not stopped by an earlier commit: most delays are short, and to stop each one costs more. */
  #scheduleLater(): void {
    if (this.#isSending || this.#isScheduled) return;
    this.#cancelDelay ??= this.#clock.after(this.#limits.commitDelayMs, () => {
      this.#cancelDelay = undefined;
      if (this.#pending.length > 0) this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isSending || this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    this.#clock.soon(() => {
      this.#isScheduled = false;
      this.#commit();
    });
  }

  #commit(): void {
    if (this.#isSending || this.#isClosed) return;
    const items = this.#pending;
    if (items.length === 0 && !this.#isFinished) return;
    this.#pending = [];
    this.#sentBytes = this.#pendingBytes;
    this.#pendingBytes = 0;
    this.#sent = this.#pushed;
    this.#send(this.#committer.prepare(items, this.#isFinished));
    if (!this.#isFull()) this.#makeRoom();
  }

  #send(commit: Commit): void {
    this.#isSending = true;
    attempt(() => this.#committer.send(commit)).then(
      (answer) => {
        this.#isSending = false;
        this.#failures = 0;
        if (!this.#isClosed) this.#answered(commit, answer);
      },
      (error: unknown) => this.#failed(commit, error),
    );
  }

  #answered(commit: Commit, answer: Answer): void {
    this.#committedBefore = this.#committed;
    this.#committed = this.#sent;
    this.#sentBytes = 0;
    this.#committer.sent(commit, answer);
    if (this.#isClosed) return;
    if (!this.#isFull()) this.#makeRoom();
    this.#settleFlushes();
    if (this.#pending.length > 0 || this.#isFinished) this.#schedule();
  }

  #failed(commit: Commit, error: unknown): void {
    if (this.#isClosed) return;
    this.#failures += 1;
    const waitMs = retryMs(this.#failures);
    this.#committer.failed(error, this.#failures, waitMs);
    this.#clock.after(waitMs, () => {
      if (!this.#isClosed) this.#send(commit);
    });
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #settleFlushes(): void {
    const waiters = this.#flushes;
    if (waiters.length === 0) return;
    this.#flushes = this.#isClosed ? NO_WAITERS : waiters.filter(({ count }) => count > this.#committed);
    for (const { count, resolve, reject } of waiters) {
      if (count <= this.#committed) resolve();
      else if (this.#isClosed) reject(new Error('The queue is closed'));
    }
  }
}
