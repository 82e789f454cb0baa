/** Where errors go that code throws where nobody waits for them: in a timer, in a promise that was forgotten. */
export interface UncaughtErrorScope {
  stray(error: unknown): void;
}

/** Tells by what an error was thrown astray, on hosts that know. */
export interface UncaughtErrors {
  /** Runs `task`; what is thrown astray by anything it starts goes to `scope`. */
  within<T>(scope: UncaughtErrorScope, task: () => T): T;
}

/** For hosts that do not know: what becomes of a stray error is up to them. */
export const unknownOrigin: UncaughtErrors = { within: (_scope, task) => task() };
