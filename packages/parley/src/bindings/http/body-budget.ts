import { A2AError } from '../../errors/a2a-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { ExchangeRequest } from './exchange.js';

/** Called with the number of bytes that have arrived. If it returns a promise, reading pauses until that resolves. */
export type BodyMeter = (total: number) => Promise<void> | undefined;

/** The default memory for the bodies of all requests in progress. */
export const DEFAULT_BODY_MEMORY = 33_554_432;

/** A body up to this size is not counted, so that small requests never wait for large ones. */
const SMALL = 65_536;
/** A paused request is refused after this time. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 1_000;

/** One large body. */
interface Share {
  bytes: number;
  waiting: { readonly bytes: number; readonly resume: () => void; readonly stopTimer: () => void } | undefined;
}

/**
 * Bounds the memory of large bodies that are being read, decoded and stored at the same time. When it is used up, all
 * of these requests except for the oldest pause. Back-pressure then slows their senders down.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #shares = new Map<object, Share>();
  #used = 0;
  #waiting = 0;

  constructor({ maxBytes, clock }: { readonly maxBytes?: number | undefined; readonly clock: Clock }) {
    this.#maxBytes = maxBytes ?? DEFAULT_BODY_MEMORY;
    this.#clock = clock;
  }

  /** The meter for the body of a request; undefined if its length is announced and small. */
  meter(request: ExchangeRequest): BodyMeter | undefined {
    if (Number(request.header('content-length')) <= SMALL) return undefined;
    return (total) => (total <= SMALL ? undefined : this.take(request, total));
  }

  /** Releases the memory of the body of a request; undefined if the body is not counted now. */
  releaseOf(request: ExchangeRequest): (() => void) | undefined {
    return this.#shares.size > 0 && this.#shares.has(request) ? () => this.release(request) : undefined;
  }

  /** Releases the memory of a body, or of another holder. */
  release(holder: object): void {
    const share = this.#shares.size === 0 ? undefined : this.#shares.get(holder);
    if (share === undefined) return;
    this.#shares.delete(holder);
    this.#used -= share.bytes;
    this.#resume(share);
    for (const next of this.#shares.values()) {
      if (next.waiting === undefined) continue;
      if (!this.#mayHave(next, next.waiting.bytes)) return;
      this.#charge(next, next.waiting.bytes);
      this.#resume(next);
    }
  }

  /**
   * Reserves bytes for a holder. `undefined`: they are reserved now. Otherwise the promise resolves when they are, and
   * rejects with RESOURCE_EXHAUSTED after 10 s.
   */
  take(holder: object, total: number): Promise<void> | undefined {
    let share = this.#shares.get(holder);
    if (share === undefined) {
      share = { bytes: 0, waiting: undefined };
      this.#shares.set(holder, share);
    }
    const bytes = total - share.bytes;
    if (this.#isFirst(share) || (this.#waiting === 0 && this.#mayHave(share, bytes))) {
      this.#charge(share, bytes);
      return undefined;
    }
    return this.#wait(share, bytes);
  }

  #wait(share: Share, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopTimer = this.#clock.after(PATIENCE_MS, () => {
        const details = { metadata: { limit: 'bodyMemory' }, retryAfterMs: RETRY_MS };
        reject(new A2AError('RESOURCE_EXHAUSTED', 'Too many large requests at the same time', details));
        this.#resume(share);
      });
      share.waiting = { bytes, resume: resolve, stopTimer };
      this.#waiting += 1;
    });
  }

  #resume(share: Share): void {
    const { waiting } = share;
    if (waiting === undefined) return;
    share.waiting = undefined;
    this.#waiting -= 1;
    waiting.stopTimer();
    waiting.resume();
  }

  #charge(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#used += bytes;
  }

  /** The oldest request never pauses, so that large requests cannot block each other. */
  #mayHave(share: Share, bytes: number): boolean {
    return this.#used + bytes <= this.#maxBytes || this.#isFirst(share);
  }

  #isFirst(share: Share): boolean {
    for (const first of this.#shares.values()) return first === share;
    return false;
  }
}
