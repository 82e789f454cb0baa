import { A2AError } from '../../errors/a2a-error.js';

/** A JSON-RPC request. */
export interface Envelope {
  readonly method: string;
  /** An object; `{}` where the request has none. */
  readonly params: object;
}

/** The id of a request as JSON, to be echoed; `null` where none can be read. */
export function idOf(value: unknown, text: string): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, 'id')) return 'null';
  const { id } = value as { id: unknown };
  if (typeof id === 'string') return JSON.stringify(id);
  if (typeof id !== 'number') return 'null';
  return Number.isInteger(id) && !Number.isSafeInteger(id) ? literalId(text) : JSON.stringify(id);
}

/**
 * Checks the envelope (spec §9).
 * @throws A2AError INVALID_REQUEST; batches and notifications are not part of A2A.
 */
export function readEnvelope(value: unknown): Envelope {
  if (Array.isArray(value)) throw invalid('Batches are not supported');
  if (typeof value !== 'object' || value === null) throw invalid('The request is not an object');
  const { jsonrpc, method, id, params } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0') throw invalid('jsonrpc must be "2.0"');
  if (typeof method !== 'string') throw invalid('method must be a string');
  if (id === undefined) throw invalid('Notifications are not supported: id is missing');
  if (id !== null && typeof id !== 'string' && typeof id !== 'number') {
    throw invalid('id must be a string, a number or null');
  }
  if (params === undefined || params === null) return { method, params: {} };
  if (typeof params !== 'object') throw invalid('params must be an object');
  if (Array.isArray(params)) throw new A2AError('INVALID_PARAMS', 'params must be an object');
  return { method, params };
}

function invalid(message: string): A2AError {
  return new A2AError('INVALID_REQUEST', message);
}

/** Integers beyond 2^53 lose digits as JavaScript numbers, so such an id is echoed as it was written. */
function literalId(text: string): string {
  const written = new Map<unknown, string>();
  let root: unknown;
  const note = function (this: unknown, key: string, value: unknown, context?: { readonly source?: string }): unknown {
    if (key === 'id' && context?.source !== undefined) written.set(this, context.source);
    if (key === '') root = value;
    return value;
  };
  JSON.parse(text, note);
  return written.get(root) ?? 'null';
}
