import type { WireCodec } from '../../codec/wire-codec.js';
import type { A2AError, ErrorCode } from '../../errors/a2a-error.js';
import { errorNumber } from '../http/error-numbers.js';
import { errorDetails, errorWords } from '../http/wire-error.js';

/**
 * The HTTP status of a call that failed: 200, because the call was answered, except where HTTP itself has a say before
 * JSON-RPC does.
 */
export function httpStatus(code: ErrorCode): number {
  switch (code) {
    case 'UNAUTHENTICATED':
      return 401;
    case 'PERMISSION_DENIED':
      return 403;
    case 'METHOD_NOT_ALLOWED':
      return 405;
    case 'PAYLOAD_TOO_LARGE':
      return 413;
    default:
      return 200;
  }
}

/** What an error response says beside the error. */
export interface ErrorResponseOptions {
  /** Speaks for the call; absent until it is known which one does. */
  readonly codec?: WireCodec | undefined;
  /** What goes with the error; default: the details of the specification. */
  readonly data?: unknown;
  /** The details are a member of an object. Default: they are an array. */
  readonly isObject?: boolean;
}

/** The error response to the request with this id, which is given as JSON, in the words of the version that is spoken. */
export function errorResponse(id: string, error: A2AError, { codec, data, isObject }: ErrorResponseOptions): string {
  const { reason, message } = errorWords(error, codec);
  const details = errorDetails(error, reason);
  const body = JSON.stringify({
    code: errorNumber(error.code),
    message,
    data: data ?? (isObject ? { details } : details),
  });
  return `{"jsonrpc":"2.0","id":${id},"error":${body}}`;
}
