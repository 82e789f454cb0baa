/** Time and timers as a port: nothing in the library reads a clock or sets a timer in any other way. */
export interface Clock {
  /** Wall-clock time, ms since the epoch. */
  now(): number;
  /** A time that never goes back, in ms; only differences mean anything. */
  monotonic(): number;
  /** Runs `task` once after `ms`; the returned function cancels it. Timers of servers keep no process alive. */
  after(ms: number, task: () => void): () => void;
  /** Runs `task` soon: after the I/O that is ready now, before any timer. */
  soon(task: () => void): void;
}
