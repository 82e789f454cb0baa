import { type RefusedRequest, refusalHeaders } from '../bindings/http/answer-call.js';
import { httpStatus } from '../bindings/http/error-numbers.js';
import type { ExchangeResponse } from '../bindings/http/exchange.js';
import type { JsonObject } from '../model/json.js';

/** An answer that no binding gives. */
interface JsonAnswer {
  readonly status: number;
  readonly value: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes a JSON answer outside of the bindings. */
export function jsonAnswer({ status, value, headers }: JsonAnswer): ExchangeResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: `${JSON.stringify(value, undefined, 2)}\n`,
  };
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  413: 'OUT_OF_RANGE',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  431: 'OUT_OF_RANGE',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  505: 'UNIMPLEMENTED',
};

/** An error outside of the bindings. */
interface ErrorAnswer {
  readonly status: number;
  readonly message: string;
  /** The details of the error. Absent: none. */
  readonly details?: readonly JsonObject[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error outside of any binding, in the form of the HTTP+JSON errors (Spec §11.6). */
export function errorAnswer({ status, message, details, headers = {} }: ErrorAnswer): ExchangeResponse {
  const error = { code: status, status: STATUS_NAMES[status] ?? 'UNKNOWN', message, details };
  return jsonAnswer({ status, value: { error }, headers });
}

/** The answer to a request that the gate refuses outside of the bindings. */
export function refusedPlain({ error, challenges }: RefusedRequest): ExchangeResponse {
  const headers = refusalHeaders(error, challenges);
  return errorAnswer({ status: httpStatus(error), message: error.message, headers });
}
