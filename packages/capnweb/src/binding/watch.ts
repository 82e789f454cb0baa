import type { Clock } from 'parley-a2a/server';
import type { FeedItem } from './session-types.js';

/** A function of a peer. */
export interface PeerFunction {
  (items: readonly FeedItem[]): PromiseLike<unknown> & Disposable;
  dup(): PeerFunction;
  [Symbol.dispose](): void;
}

/** The items of a feed. */
export interface PulledItems {
  /** The next item; `undefined` at the end. Rejects with the error for the peer. */
  next(): Promise<FeedItem | undefined>;
  /** The characters of the last item. */
  readonly lastLength: number;
  stop(): void;
}

/** The parts of a watch, which disposes the function. */
export interface WatchOptions {
  readonly source: PulledItems;
  readonly sink: PeerFunction;
  readonly clock: Clock;
}

/** Items of one batch, and the characters after which it is full. */
const BATCH_ITEMS = 64;
const BATCH_LENGTH = 64 * 1024;
/** Time limit for a peer to handle a batch, in ms. */
const PATIENCE_MS = 30_000;
/** Nothing more is ready now. */
const NOTHING = Symbol('nothing ready');

type Pulled = FeedItem | undefined;

/**
 * Calls a function of the peer with the items of a feed. One batch is sent at a time, and all items that are ready make
 * the next one. The return of the function acknowledges a batch. A function that throws or does not return in time ends
 * its own watch only.
 */
export class Watch {
  readonly #options: WatchOptions;
  #isOver = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#run().then(
      () => this.stop(),
      () => this.stop(),
    );
  }

  /** Ends the watch. The task continues. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.source.stop();
    this.#options.sink[Symbol.dispose]();
  }

  async #run(): Promise<void> {
    const { source } = this.#options;
    let pending = source.next();
    for (let first = await pending; first !== undefined && !this.#isOver; first = await pending) {
      const batch = [first];
      let length = source.lastLength;
      const nothing = this.#afterTick();
      pending = source.next();
      while (batch.length < BATCH_ITEMS && length < BATCH_LENGTH) {
        const next: Pulled | typeof NOTHING = await Promise.race([pending, nothing]);
        if (next === NOTHING || next === undefined) break;
        batch.push(next);
        length += source.lastLength;
        pending = source.next();
      }
      // The next pull gets the error.
      pending.catch(() => {});
      await this.#deliver(batch);
    }
  }

  #afterTick(): Promise<typeof NOTHING> {
    return new Promise((resolve) => this.#options.clock.soon(() => resolve(NOTHING)));
  }

  /** Rejects if the peer throws, or does not answer in time. */
  async #deliver(batch: readonly FeedItem[]): Promise<void> {
    const { sink, clock } = this.#options;
    if (this.#isOver) return;
    const answer = sink(batch);
    const late = Promise.withResolvers<never>();
    const stopTimer = clock.after(PATIENCE_MS, () => late.reject(new Error('The peer did not take a batch in time')));
    try {
      await Promise.race([answer, late.promise]);
    } finally {
      stopTimer();
      answer[Symbol.dispose]();
    }
  }
}
