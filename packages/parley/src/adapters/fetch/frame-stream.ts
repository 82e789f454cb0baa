import type { Clock } from '../../runtime/clock.js';

const encoder = new TextEncoder();

/** Options of a stream of frames. */
export interface FrameStreamOptions {
  readonly frames: AsyncIterable<string> | AsyncIterable<Uint8Array>;
  /** Aborted when the peer disconnects; not every host cancels the stream then. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Time in ms after which a reader that reads nothing is dropped. */
  readonly stallMs: number;
  /** Called if the reader is dropped. */
  readonly dropped: () => void;
}

/**
 * Frames as a web stream. Pulls one string when the reader wants one. Releases the frames if the reader cancels, if its
 * request is aborted, or if it stops reading for a while.
 */
export function frameStream(parts: FrameStreamOptions): ReadableStream<Uint8Array> {
  return new ReadableStream(new FrameSource(parts), { highWaterMark: 0 });
}

class FrameSource {
  readonly #frames: AsyncIterator<string | Uint8Array>;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #dropped: () => void;
  /** Time at which the reader got its last string; `undefined` while it waits for one. */
  #givenAt: number | undefined;
  #stopTimer: (() => void) | undefined;
  #drop: (() => void) | undefined;

  constructor({ frames, signal, clock, stallMs, dropped }: FrameStreamOptions) {
    this.#frames = frames[Symbol.asyncIterator]();
    this.#signal = signal;
    this.#clock = clock;
    this.#stallMs = stallMs;
    this.#dropped = dropped;
    this.#givenAt = clock.monotonic();
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (this.#signal.aborted) {
      this.#release();
      controller.close();
      return;
    }
    this.#signal.addEventListener('abort', this.#release);
    const drop = () => {
      controller.error(new Error('The reader took nothing for too long'));
      this.#release();
      this.#dropped();
    };
    this.#drop = drop;
    this.#watch(this.#stallMs);
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#givenAt = undefined;
    try {
      const next = await this.#frames.next();
      if (next.done === true) {
        this.#forget();
        controller.close();
      } else {
        // Copied, because the source may reuse the memory of a chunk.
        controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : new Uint8Array(next.value));
        this.#givenAt = this.#clock.monotonic();
      }
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  cancel(): void {
    this.#release();
  }

  readonly #release = (): void => {
    this.#forget();
    // Errors of the clean-up are ignored.
    this.#frames.return?.().catch(() => {});
  };

  #forget(): void {
    this.#signal.removeEventListener('abort', this.#release);
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#drop = undefined;
  }

  /** One timer serves a stream for a whole period, for any number of reads. */
  #watch(ms: number): void {
    this.#stopTimer = this.#clock.after(ms, () => {
      const quiet = this.#givenAt === undefined ? 0 : this.#clock.monotonic() - this.#givenAt;
      if (quiet >= this.#stallMs) this.#drop?.();
      else this.#watch(this.#stallMs - quiet);
    });
  }
}
