import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';
import type { UncaughtErrorScope, UncaughtErrors } from '../../runtime/uncaught-errors.js';

const scopes = new AsyncLocalStorage<UncaughtErrorScope>();
let users = 0;

/** Stray errors of this process, by the asynchronous context in which they were thrown. */
export const processUncaughtErrors: UncaughtErrors = { within: (scope, task) => scopes.run(scope, task) };

/**
 * From now on a stray error that belongs to a scope goes there and does not end the process; with any other one the
 * process does what it would have done. The function that is returned takes one call of this back.
 */
export function catchUncaughtErrors(): () => void {
  users += 1;
  if (users === 1) process.on('uncaughtException', deliver);
  return () => {
    users -= 1;
    if (users === 0) process.off('uncaughtException', deliver);
  };
}

/** Rejections that nobody handles come here too, as Node.js raises them as exceptions by default. */
function deliver(error: unknown): void {
  const scope = scopes.getStore();
  if (scope !== undefined) return scope.stray(error);
  if (process.listenerCount('uncaughtException') > 1) return;
  // Nobody else wants it, so that it ends the process: with its own text and stack, as it would without us.
  process.off('uncaughtException', deliver);
  process.nextTick(() => {
    throw error;
  });
}
