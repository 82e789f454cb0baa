/** Time and timers as a port. The library reads a clock and sets timers only through it. */
export interface Clock {
  /** Wall-clock time, ms since the epoch. */
  now(): number;
  /** Monotonic time in ms. Only differences are meaningful. */
  monotonic(): number;
  /** Runs `task` once after `ms`; the returned function cancels it. Timers of servers keep no process alive. */
  after(ms: number, task: () => void): () => void;
  /** Runs `task` after the I/O that is ready now, and before any timer. */
  soon(task: () => void): void;
  /**
   * Keeps the process alive until `work` settles, and returns `work`. For code that closes: its sockets are closed
   * already, and timers of servers keep no process alive.
   */
  hold<T>(work: Promise<T>): Promise<T>;
}

/** A hundred years, in ms. */
export const UNENDING_MS = 3_155_760_000_000;
