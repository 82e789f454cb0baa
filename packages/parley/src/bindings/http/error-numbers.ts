import type { A2AError, ErrorCode } from '../../errors/a2a-error.js';
import { ContentCodingError } from './content-coding.js';

/** The number of every error (Spec §5.4, §9.5): the code of JSON-RPC, and before 1.0 that of HTTP+JSON, too. */
export const ERROR_NUMBERS: { readonly [Code in ErrorCode]: number } = {
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

/** The number of an error; that of an internal error for an unknown code. */
export function errorNumber(code: ErrorCode): number {
  return ERROR_NUMBERS[code] ?? ERROR_NUMBERS.INTERNAL_ERROR;
}

/** Codes by number. Of codes that share a number, the internal error wins, then the first. */
const BY_NUMBER = new Map<unknown, ErrorCode>();
for (const [name, number] of Object.entries(ERROR_NUMBERS)) {
  const code = name as ErrorCode;
  if (!BY_NUMBER.has(number) || code === 'INTERNAL_ERROR') BY_NUMBER.set(number, code);
}

/** True if a received reason is a code of the protocol. */
export function isErrorCode(reason: unknown): reason is ErrorCode {
  return typeof reason === 'string' && Object.hasOwn(ERROR_NUMBERS, reason);
}

/** The code of a received number. */
export function codeOfNumber(number: unknown): ErrorCode | undefined {
  return BY_NUMBER.get(number);
}

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

const UNSUPPORTED_CODING: ErrorStatus = { http: 415, name: 'INVALID_ARGUMENT' };

/** The status of an error answer. */
export function errorStatus(error: A2AError): ErrorStatus {
  if (error instanceof ContentCodingError) return UNSUPPORTED_CODING;
  return ERROR_STATUS[error.code] ?? ERROR_STATUS.INTERNAL_ERROR;
}

/** The HTTP status of an error answer. */
export function httpStatus(error: A2AError): number {
  return errorStatus(error).http;
}
