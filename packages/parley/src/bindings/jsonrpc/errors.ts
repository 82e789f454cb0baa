import type { WireCodec } from '../../codec/wire-codec.js';
import type { A2AError, ErrorCode } from '../../errors/a2a-error.js';
import { errorNumber } from '../http/error-numbers.js';
import { errorDetails, errorWords } from '../http/wire-error.js';

/**
 * The HTTP status of a failed call: 200, because JSON-RPC answered the call. Errors of HTTP itself have their own
 * status.
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

/** The options of an error response. */
interface ErrorResponseOptions {
  /** The codec of the call; absent until it is known. */
  readonly codec?: WireCodec | undefined;
  /** The data of the error. Default: the details of the specification. */
  readonly data?: unknown;
  /** True if the details are a member of an object. Default: they are an array. */
  readonly isObject?: boolean;
}

/** The error response in the words of the version. `id` is JSON. */
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
