import { A2AError } from '../../errors/a2a-error.js';
import { ServerClosingError } from '../../errors/server-closing-error.js';
import { StorageError } from '../../errors/storage-error.js';

const RETRY_MS = 2_000;

/** The error for callers while the server is closing. */
export function closingError(): A2AError {
  return new ServerClosingError(RETRY_MS);
}

/** The error for callers after the time limit of the storage. Their message or cancel may still take effect. */
export function storageStalledError(): A2AError {
  return new A2AError('UNAVAILABLE', 'The server cannot store anything at present', { retryAfterMs: RETRY_MS });
}

/**
 * The error for the sender of a message that was accepted, but not answered. It contains the id of the task. It asks
 * the sender to repeat the message only if that leads to the same task.
 */
export function unansweredError(
  error: unknown,
  { taskId, isRepeatable }: { readonly taskId: string; readonly isRepeatable: boolean },
): unknown {
  if (error instanceof StorageError) return unansweredError(storageStalledError(), { taskId, isRepeatable });
  if (!(error instanceof A2AError) || error.code !== 'UNAVAILABLE') return error;
  const { retryAfterMs, ...details } = error.details;
  const metadata = { ...details.metadata, taskId };
  const again = isRepeatable && retryAfterMs !== undefined ? { retryAfterMs } : {};
  return new A2AError(error.code, error.message, { ...details, metadata, ...again }, { cause: error });
}
