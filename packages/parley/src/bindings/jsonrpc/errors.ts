import type { A2AError, ErrorCode } from '../../errors/a2a-error.js';
import { errorDetails } from '../http/wire-error.js';

/** JSON-RPC code of every error (spec §5.4, §9.5). */
export const JSON_RPC_CODES: { readonly [Code in ErrorCode]: number } = {
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  INVALID_AGENT_RESPONSE: -32006,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  EXTENSION_SUPPORT_REQUIRED: -32008,
  VERSION_NOT_SUPPORTED: -32009,
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  METHOD_NOT_ALLOWED: -32600,
  INVALID_PARAMS: -32602,
  PAYLOAD_TOO_LARGE: -32600,
  UNAUTHENTICATED: -31401,
  PERMISSION_DENIED: -31403,
  RESOURCE_EXHAUSTED: -32603,
  UNAVAILABLE: -32603,
  INTERNAL_ERROR: -32603,
};

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

/** The error response to the request with this id, which is given as JSON. */
export function errorResponse(id: string, error: A2AError): string {
  const code = JSON_RPC_CODES[error.code] ?? JSON_RPC_CODES.INTERNAL_ERROR;
  const body = JSON.stringify({ code, message: error.message, data: errorDetails(error) });
  return `{"jsonrpc":"2.0","id":${id},"error":${body}}`;
}
