import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';
import type { UncaughtErrorScope, UncaughtErrors } from '../../runtime/uncaught-errors.js';

const scopes = new AsyncLocalStorage<UncaughtErrorScope>();
let users = 0;

/** Scopes of uncaught errors in this process, by the asynchronous context in which they are thrown. */
export const processUncaughtErrors: UncaughtErrors = scopes;

/**
 * From now on an uncaught error of a scope is passed to that scope and does not end the process. Other errors have
 * their default effect. The returned function reverts one call.
 */
export function catchUncaughtErrors(): () => void {
  users += 1;
  if (users === 1) process.on('uncaughtException', uncaught);
  return () => {
    users -= 1;
    if (users === 0) process.off('uncaughtException', uncaught);
  };
}

/** Unhandled rejections arrive here too, because Node.js raises them as exceptions by default. */
function uncaught(error: unknown): void {
  const scope = scopes.getStore();
  if (scope !== undefined) scope.uncaught(error);
  else if (process.listenerCount('uncaughtException') === 1) return endProcess(error);
  runOtherTicks();
}

/** No scope handles the error, so it ends the process with its own text and stack. */
function endProcess(error: unknown): void {
  process.off('uncaughtException', uncaught);
  process.nextTick(() => {
    throw error;
  });
}

/** `process._tickCallback` runs all callbacks of `process.nextTick` that wait. */
interface TickQueue {
  readonly _tickCallback?: () => void;
}

let runningTicks = false;

/**
 * Runs the callbacks that wait behind a failed callback of `process.nextTick`. Node.js would run them within whatever
 * comes next, such as the parser of an HTTP request. If one of them throws, too, the parser drops that request, which
 * then never gets an answer.
 */
function runOtherTicks(): void {
  const run = (process as unknown as TickQueue)._tickCallback;
  if (runningTicks || run === undefined) return;
  runningTicks = true;
  // Each round removes at least the callback that throws. An error that ends the process is left to Node.js.
  for (let again = true; again; ) {
    again = false;
    try {
      run.call(process);
    } catch (error) {
      (process as NodeJS.EventEmitter).emit('uncaughtException', error, 'uncaughtException');
      again = process.listeners('uncaughtException').includes(uncaught);
    }
  }
  runningTicks = false;
}
