import type { Clock } from 'parley-a2a/server';

/** The ports of a `ListFollower`. */
interface ListFollowerOptions {
  /** Reads the list. It must not reject. */
  readonly read: () => Promise<void>;
  readonly clock: Clock;
}

/** The pause after a read, in ms. It doubles as long as the server announces a change within the last pause. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Reads a list again after its server has announced a change. The first change is read at once. Changes during a read,
 * or in the pause after it, are read together after the pause. So endless announcements cause at most one read a
 * minute.
 */
export class ListFollower {
  readonly #options: ListFollowerOptions;
  #isStale = false;
  #isClosed = false;
  /** Ends the current pause. */
  #endPause: (() => void) | undefined;
  #isBusy = false;
  #pauseMs = 0;
  /** Monotonic time of the end of the last pause. */
  #pausedUntil = 0;

  constructor(options: ListFollowerOptions) {
    this.#options = options;
  }

  /** Call it for each announcement of the server. */
  readAgain(): void {
    this.#isStale = true;
    if (!this.#isBusy) void this.#follow();
  }

  /** Stops reading. */
  close(): void {
    this.#isClosed = true;
    this.#endPause?.();
  }

  async #follow(): Promise<void> {
    const { read, clock } = this.#options;
    this.#isBusy = true;
    if (clock.monotonic() - this.#pausedUntil > this.#pauseMs) this.#pauseMs = 0;
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      await read();
      this.#pauseMs = Math.min(2 * this.#pauseMs || PAUSE_MS, LONGEST_PAUSE_MS);
      await this.#pause();
      this.#pausedUntil = clock.monotonic();
    }
    this.#isBusy = false;
  }

  async #pause(): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(this.#pauseMs, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }
}
