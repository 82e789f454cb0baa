/** Receives the uncaught errors of one task, such as those from a timer or from a promise without a handler. */
export interface UncaughtErrorScope {
  uncaught(error: unknown): void;
}

/** Assigns uncaught errors to their origin, on hosts that know it. */
export interface UncaughtErrors {
  /** Runs `task`. Uncaught errors of anything that it starts go to `scope`. */
  run<T>(scope: UncaughtErrorScope, task: () => T): T;
}

/** For hosts that do not know the origin of an uncaught error. The host decides what to do with the error. */
export const unknownOrigin: UncaughtErrors = { run: (_scope, task) => task() };
