import type { WireCodec } from '../../codec/wire-codec.js';
import type { A2AError, ErrorCode } from '../../errors/a2a-error.js';
import { isLegacy } from '../../operations/versions.js';
import { errorNumber } from '../http/error-numbers.js';
import { eventFrame } from '../http/sse-stream.js';
import { errorDetails, errorWords } from '../http/wire-error.js';

interface ErrorStatus {
  readonly http: number;
  /** The name of the status in gRPC (Spec §11.6). */
  readonly name: string;
}

/** The HTTP status of every error (Spec §5.4, values of v1.0.1). */
export const ERROR_STATUS: { readonly [Code in ErrorCode]: ErrorStatus } = {
  TASK_NOT_FOUND: { http: 404, name: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { http: 400, name: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { http: 400, name: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { http: 400, name: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { http: 400, name: 'INVALID_ARGUMENT' },
  INVALID_AGENT_RESPONSE: { http: 500, name: 'INTERNAL' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { http: 400, name: 'FAILED_PRECONDITION' },
  EXTENSION_SUPPORT_REQUIRED: { http: 400, name: 'FAILED_PRECONDITION' },
  VERSION_NOT_SUPPORTED: { http: 400, name: 'FAILED_PRECONDITION' },
  PARSE_ERROR: { http: 400, name: 'INVALID_ARGUMENT' },
  INVALID_REQUEST: { http: 400, name: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { http: 404, name: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { http: 405, name: 'UNIMPLEMENTED' },
  INVALID_PARAMS: { http: 400, name: 'INVALID_ARGUMENT' },
  PAYLOAD_TOO_LARGE: { http: 413, name: 'INVALID_ARGUMENT' },
  UNAUTHENTICATED: { http: 401, name: 'UNAUTHENTICATED' },
  PERMISSION_DENIED: { http: 403, name: 'PERMISSION_DENIED' },
  RESOURCE_EXHAUSTED: { http: 429, name: 'RESOURCE_EXHAUSTED' },
  UNAVAILABLE: { http: 503, name: 'UNAVAILABLE' },
  INTERNAL_ERROR: { http: 500, name: 'INTERNAL' },
};

/** The HTTP status of an error answer. */
export function httpStatus(code: ErrorCode): number {
  return (ERROR_STATUS[code] ?? ERROR_STATUS.INTERNAL_ERROR).http;
}

/**
 * The body of an error answer (Spec §11.6), in the words of the version. The specification had no such body before 1.0:
 * clients of that time look for number and message at the top.
 */
export function errorBody(error: A2AError, codec: WireCodec | undefined): string {
  const { http, name } = ERROR_STATUS[error.code] ?? ERROR_STATUS.INTERNAL_ERROR;
  const { reason, message } = errorWords(error, codec);
  const details = errorDetails(error, reason);
  return JSON.stringify(
    codec !== undefined && isLegacy(codec.version)
      ? { code: errorNumber(error.code), message, data: details }
      : { error: { code: http, status: name, message, details } },
  );
}

/** An error as the last frame of a stream. Before 1.0 the name of the event marks an error. */
export function errorFrame(error: A2AError, codec: WireCodec): string {
  const frame = eventFrame(errorBody(error, codec));
  return isLegacy(codec.version) ? `event: error\n${frame}` : frame;
}
