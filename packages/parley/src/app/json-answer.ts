import type { ExchangeResponse } from '../bindings/http/exchange.js';

/** A JSON answer for what no binding answers. */
export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): ExchangeResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: `${JSON.stringify(value, undefined, 2)}\n`,
  };
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  413: 'OUT_OF_RANGE',
  431: 'OUT_OF_RANGE',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** An error outside of any binding, in the form of the HTTP+JSON errors (spec §11.6). */
export function errorAnswer(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ExchangeResponse {
  return jsonAnswer(status, { error: { code: status, status: STATUS_NAMES[status] ?? 'UNKNOWN', message } }, headers);
}
