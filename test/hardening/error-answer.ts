import { expect } from 'vitest';
import { ERROR_NUMBERS } from '../../packages/parley/src/bindings/http/error-numbers.js';
import { assertNoInternals } from '../support/no-internals.js';
import type { HttpAnswer } from './http-answer.js';

/** The status codes that a caller can cause. */
const STATUSES = [400, 404, 405, 408, 413, 415, 421, 429, 431, 501, 505];
/** Members that repeat texts of the caller. */
const ECHOES = ['id', 'metadata', 'field'];
const INFO = 'type.googleapis.com/google.rpc.ErrorInfo';

/** The content of an error answer, for all bindings. */
export interface ErrorSaid {
  readonly status: number;
  /** The number of JSON-RPC, or the status in the body. */
  readonly code: number;
  readonly message: string;
  /** The reason of its ErrorInfo; undefined outside of any binding. */
  readonly reason: string | undefined;
  /** The fields that are named, each with what is wrong. */
  readonly fields: ReadonlyMap<string, string>;
  readonly id?: unknown;
}

interface Wire {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly status?: string;
    readonly data?: readonly Detail[];
    readonly details?: readonly Detail[];
  };
}

interface Detail {
  readonly '@type': string;
  readonly reason?: string;
  readonly domain?: string;
  readonly metadata?: object;
  readonly fieldViolations?: readonly { readonly field: string; readonly description: string }[];
}

/**
 * Checks the form of an error answer of any binding, or of none (Spec §3.3.2, §9.5, §11.6). It is JSON with the right
 * media type, a code that fits the status, the ErrorInfo, and no internals. `echoes`: the answer may repeat text of the
 * caller.
 */
export function readError(answer: HttpAnswer, { echoes = false } = {}): ErrorSaid {
  const { status, text, headers } = answer;
  expect(headers.get('content-type'), text).toMatch(/^application\/(a2a\+)?json$/);
  const wire = JSON.parse(text) as Wire;
  const error = wire.error ?? oldError(wire);
  if (error === undefined) throw new Error(`no error in ${text.slice(0, 400)}`);
  assertNoInternals(
    echoes ? JSON.stringify(wire, (name, value: unknown) => (ECHOES.includes(name) ? '' : value)) : text,
  );
  expect(error.message).toMatch(/^\w/);
  if (wire.jsonrpc !== undefined) return ofJsonRpc(status, wire, error);
  return wire.error === undefined ? ofOldHttp(status, error) : ofHttp(status, error);
}

/** The form that HTTP+JSON had in 0.3: the number of JSON-RPC, and nothing around it. */
function oldError(wire: Wire & Partial<NonNullable<Wire['error']>>): Wire['error'] {
  const { code, message, data } = wire;
  if (code === undefined || message === undefined) return undefined;
  return { code, message, ...(data && { data }) };
}

function ofOldHttp(status: number, error: NonNullable<Wire['error']>): ErrorSaid {
  expect(STATUSES).toContain(status);
  const details = readDetails(error.data);
  expect(error.code).toBe(ERROR_NUMBERS[details.reason as keyof typeof ERROR_NUMBERS]);
  return { status, code: error.code, message: error.message, ...details };
}

function ofHttp(status: number, error: NonNullable<Wire['error']>): ErrorSaid {
  expect(STATUSES).toContain(status);
  expect(error.code).toBe(status);
  expect(error.status).toMatch(/^[A-Z_]+$/);
  return { status, code: error.code, message: error.message, ...readDetails(error.details) };
}

function ofJsonRpc(status: number, { jsonrpc, id }: Wire, error: NonNullable<Wire['error']>): ErrorSaid {
  expect(jsonrpc).toBe('2.0');
  expect([200, 405, 413, 415]).toContain(status);
  expect(id).not.toBe(undefined);
  const details = readDetails(error.data);
  expect(error.code).toBe(ERROR_NUMBERS[details.reason as keyof typeof ERROR_NUMBERS]);
  return { status, code: error.code, message: error.message, id, ...details };
}

function readDetails(details: readonly Detail[] | undefined): Pick<ErrorSaid, 'reason' | 'fields'> {
  if (details === undefined) return { reason: undefined, fields: new Map() };
  const info = details.find((detail) => detail['@type'] === INFO);
  expect(info?.domain).toBe('a2a-protocol.org');
  expect(info?.metadata).toBeTypeOf('object');
  expect(['INTERNAL_ERROR', 'UNAVAILABLE', 'INVALID_AGENT_RESPONSE']).not.toContain(info?.reason);
  const violations = details.flatMap(({ fieldViolations = [] }) => fieldViolations);
  return { reason: info?.reason, fields: new Map(violations.map(({ field, description }) => [field, description])) };
}
