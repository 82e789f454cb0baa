import type { ErrorWords, WireCodec } from '../../codec/wire-codec.js';
import { A2AError, type ErrorCode } from '../../errors/a2a-error.js';
import { ServerClosingError } from '../../errors/server-closing-error.js';
import { InternalError } from '../../errors/standard-errors.js';
import { failureLevel, StorageError } from '../../errors/storage-error.js';
import { StorageFullError } from '../../errors/storage-full-error.js';
import type { JsonObject } from '../../model/json.js';
import type { LogFields, Logger } from '../../telemetry/logger.js';

/** Errors that the caller did not cause. Their causes are logged. */
const FAULTS: ReadonlySet<ErrorCode> = new Set(['INTERNAL_ERROR', 'INVALID_AGENT_RESPONSE', 'UNAVAILABLE']);

/** True if the server caused an error, not the caller. */
export function isFault(code: ErrorCode): boolean {
  return FAULTS.has(code);
}

const RETRY_STORAGE_MS = 1000;
const TYPE = 'type.googleapis.com/google.rpc.';

/**
 * The error that the caller sees. An error that is no `A2AError` is logged with these fields, and becomes an internal
 * error without details.
 */
export function toA2AError(error: unknown, logger: Logger, fields: LogFields): A2AError {
  if (error instanceof A2AError) {
    const origin = error.cause ?? error;
    if (origin instanceof ServerClosingError) logger.debug('call ended by the shutdown', fields);
    else if (FAULTS.has(error.code)) logger.error('operation failed', { ...fields, error: origin });
    return withText(error);
  }
  if (error instanceof StorageError) {
    logger[failureLevel(error)]('storage failed', { ...fields, error });
    const message = error instanceof StorageFullError ? error.message : 'Temporarily unavailable';
    return new A2AError('UNAVAILABLE', message, { retryAfterMs: RETRY_STORAGE_MS }, { cause: error });
  }
  logger.error('operation failed', { ...fields, error });
  return new InternalError({ cause: error });
}

/** The texts of the specification for errors with more detail in Parley (Spec §9.5). */
const TEXTS: { readonly [Code in ErrorCode]?: string } = {
  PARSE_ERROR: 'Invalid JSON payload',
  INVALID_REQUEST: 'Request payload validation error',
  INVALID_PARAMS: 'Invalid parameters',
};

/** The error with the specified text in front of its own. */
function withText(error: A2AError): A2AError {
  const { code, message, details, cause } = error;
  const text = TEXTS[code];
  if (text === undefined || message.startsWith(text)) return error;
  return new A2AError(code, `${text}: ${message}`, details, { cause });
}

/** The reason and message of an error in the version of the call, if that is known. */
export function errorWords(error: A2AError, codec: WireCodec | undefined): ErrorWords {
  return codec?.wordsOf?.(error) ?? { reason: error.code, message: error.message };
}

/** The details of an error as JSON: ErrorInfo always, BadRequest and RetryInfo if they apply (Spec §3.3.2). */
export function errorDetails({ details: told }: A2AError, reason: string): readonly JsonObject[] {
  const { metadata, violations, retryAfterMs } = told;
  const details: JsonObject[] = [
    { '@type': `${TYPE}ErrorInfo`, reason, domain: 'a2a-protocol.org', metadata: metadata ?? {} },
  ];
  if (violations !== undefined && violations.length > 0) {
    const fieldViolations = violations.map(({ field, description }) => ({ field, description }));
    details.push({ '@type': `${TYPE}BadRequest`, fieldViolations });
  }
  if (retryAfterMs !== undefined) {
    details.push({ '@type': `${TYPE}RetryInfo`, retryDelay: `${Math.max(0, Math.ceil(retryAfterMs)) / 1000}s` });
  }
  return details;
}

/** The header with the time to wait, in whole seconds. */
export function retryHeaders(error: A2AError): Readonly<Record<string, string>> {
  const { retryAfterMs } = error.details;
  return retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}
