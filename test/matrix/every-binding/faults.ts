import { A2AError, ERROR_CODES, type ErrorCode } from '../../../packages/parley/src/errors/a2a-error.js';
import { StorageError } from '../../../packages/parley/src/errors/storage-error.js';
import { isStreaming, OPERATION_NAMES } from '../../../packages/parley/src/operations/operations.js';
import type { RequestHandler } from '../../../packages/parley/src/server/request-handler.js';
import type { ServerCallContext } from '../../../packages/parley/src/server/server-call-context.js';
import { interceptedStorage } from '../../../packages/parley/src/store/intercepted-storage.js';
import type { Scope } from '../../../packages/parley/src/store/task-key.js';
import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';

/** The cause of a fault, which no caller may see. */
export const CAUSE = 'ENOENT: no such file or directory, open /var/lib/agent/tasks.db';

/** The users whose calls fail. The name of a user begins with one of them, or with an error code. */
export const FAULTS = {
  /** The storage says that it cannot work now. */
  storage: 'unstored',
  /** Code throws an error of JavaScript. */
  code: 'broken',
  /** An answer is none of the protocol. */
  answer: 'odd',
} as const;

/** A storage that fails for the tasks of some users. */
export function failingStorage(storage: TaskStorage): TaskStorage {
  return interceptedStorage(storage, (_call, args, run) => {
    const owner = ownerOf(args[0]) ?? '';
    if (owner.includes(FAULTS.storage)) return Promise.reject(new StorageError(CAUSE));
    if (owner.includes(FAULTS.code)) return Promise.reject(new TypeError(CAUSE));
    return run();
  });
}

function ownerOf(argument: unknown): string | null | undefined {
  if (typeof argument !== 'object' || argument === null) return undefined;
  return ('scope' in argument ? (argument.scope as Scope) : (argument as Partial<Scope>)).owner;
}

/** A handler of an author that answers every call with the fault of its user. */
export const faultyHandler = Object.fromEntries(
  OPERATION_NAMES.map((operation) => [operation, isStreaming(operation) ? faultyStream : faultyAnswer]),
) as unknown as RequestHandler;

async function faultyAnswer(_request: unknown, context: ServerCallContext): Promise<object> {
  return answerOf(context);
}

async function* faultyStream(_request: unknown, context: ServerCallContext): AsyncGenerator<object> {
  yield { event: answerOf(context) };
}

function answerOf({ user }: ServerCallContext): object {
  const fault = /\|(\w+)-/.exec(user?.id ?? '')?.[1] ?? '';
  if (fault === FAULTS.answer) return { odd: CAUSE };
  if (!isCode(fault)) throw new TypeError(CAUSE);
  throw new A2AError(fault, 'What happened', { metadata: { at: 'the agent' } }, { cause: new Error(CAUSE) });
}

function isCode(name: string): name is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(name);
}
