import { A2AError } from '../../errors/a2a-error.js';
import { isObject } from '../../model/json.js';
import { endOfString } from '../../model/json-scan.js';
import type { RequestLimits } from '../http/binding-context.js';

/** A JSON-RPC request. */
interface JsonRpcRequest {
  readonly method: string;
  /** An object; `{}` if the request has none. */
  readonly params: object;
  /** True if the request has no `id`, and so expects no answer. */
  readonly isNotification: boolean;
}

/**
 * The id of a request as JSON, for the answer; `null` if it is not readable. Its length has a limit, because every
 * event of a stream repeats it.
 * @throws A2AError INVALID_REQUEST for more than `idLength` characters.
 */
export function idOf(value: unknown, text: string, { idLength }: Pick<RequestLimits, 'idLength'>): string {
  if (!isObject(value) || !Object.hasOwn(value, 'id')) return 'null';
  const { id } = value;
  if (typeof id !== 'string' && typeof id !== 'number') return 'null';
  const literal = typeof id === 'string' || Number.isSafeInteger(id) ? JSON.stringify(id) : literalId(text);
  // Plus its two quotes.
  if (literal.length <= idLength + 2) return literal;
  const message = `id must not have more than ${idLength} characters`;
  throw new A2AError('INVALID_REQUEST', message, { metadata: { limit: 'idLength' } });
}

/**
 * Checks the envelope (Spec §9).
 * @throws A2AError INVALID_REQUEST; batches are not part of A2A.
 */
export function readRequest(value: unknown): JsonRpcRequest {
  if (Array.isArray(value)) throw invalid('Batches are not supported');
  if (!isObject(value)) throw invalid('The request is not an object');
  const { jsonrpc, method, id, params } = value;
  if (jsonrpc !== '2.0') throw invalid('jsonrpc must be "2.0"');
  if (typeof method !== 'string') throw invalid('method must be a string');
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') {
    throw invalid('id must be a string, a number or null');
  }
  const isNotification = id === undefined;
  if (params === undefined || params === null) return { method, params: {}, isNotification };
  if (typeof params !== 'object') throw invalid('params must be an object');
  if (Array.isArray(params)) throw new A2AError('INVALID_PARAMS', 'params must be an object');
  return { method, params, isNotification };
}

function invalid(message: string): A2AError {
  return new A2AError('INVALID_REQUEST', message);
}

const NUMBER_MEMBER = /\s*:\s*(-?\d[\d.eE+-]*)/y;

/**
 * An id in its original text, because long numbers lose digits as JavaScript numbers. Of several members `id` the last
 * counts.
 */
function literalId(text: string): string {
  let literal = 'null';
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x22) {
      const end = endOfString(text, at);
      NUMBER_MEMBER.lastIndex = end + 1;
      const number = depth === 1 ? NUMBER_MEMBER.exec(text)?.[1] : undefined;
      if (number !== undefined && JSON.parse(text.slice(at, end + 1)) === 'id') literal = number;
      at = end;
    }
  }
  return literal;
}
