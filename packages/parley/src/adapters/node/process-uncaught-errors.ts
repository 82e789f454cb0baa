import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';
import type { UncaughtErrorScope, UncaughtErrors } from '../../runtime/uncaught-errors.js';

const scopes = new AsyncLocalStorage<UncaughtErrorScope>();
let users = 0;

/** Uncaught errors of this process, by the asynchronous context in which they were thrown. */
export const processUncaughtErrors: UncaughtErrors = { within: (scope, task) => scopes.run(scope, task) };

/**
 * From now on an uncaught error of a scope goes to that scope and does not end the process. For other errors the
 * process acts as before. The returned function reverts one call.
 */
export function catchUncaughtErrors(): () => void {
  users += 1;
  if (users === 1) process.on('uncaughtException', deliver);
  return () => {
    users -= 1;
    if (users === 0) process.off('uncaughtException', deliver);
  };
}

/** Unhandled rejections arrive here too, because Node.js raises them as exceptions by default. */
function deliver(error: unknown): void {
  const scope = scopes.getStore();
  if (scope !== undefined) return scope.stray(error);
  if (process.listenerCount('uncaughtException') > 1) return;
  // No listener handles it, so it ends the process with its own text and stack.
  process.off('uncaughtException', deliver);
  process.nextTick(() => {
    throw error;
  });
}
