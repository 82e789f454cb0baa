import { A2AError } from '../../errors/a2a-error.js';
import { tooDeep, tooManyItems } from '../../errors/standard-errors.js';
import { ENVELOPE_LEVELS } from '../../model/json-fault.js';
import { passedBound } from '../../model/json-scan.js';
import type { BindingContext, RequestLimits } from './binding-context.js';
import { refusedCoding } from './content-coding.js';
import type { ExchangeRequest } from './exchange.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the body as text.
 * @throws A2AError PAYLOAD_TOO_LARGE, PARSE_ERROR (not UTF-8), INVALID_REQUEST (cut off), RESOURCE_EXHAUSTED
 * (too many large ones in progress); ContentCodingError (compressed).
 */
export function readText(
  request: ExchangeRequest,
  { limits, bodies }: Pick<BindingContext, 'limits' | 'bodies'>,
): Promise<string> {
  const refused = refusedCoding(request);
  if (refused !== undefined) return Promise.reject(refused);
  return request.body(limits.bodyBytes, bodies?.meter(request)).then(textOf, unreadable);
}

/**
 * Reads the body.
 * @throws A2AError PAYLOAD_TOO_LARGE, INVALID_REQUEST (cut off), RESOURCE_EXHAUSTED (too many large ones in progress).
 */
export function readBytes(
  request: ExchangeRequest,
  { limits, bodies }: Pick<BindingContext, 'limits' | 'bodies'>,
): Promise<Uint8Array> {
  return request.body(limits.bodyBytes, bodies?.meter(request)).catch(unreadable);
}

function unreadable(error: unknown): never {
  if (error instanceof A2AError) throw error;
  throw new A2AError('INVALID_REQUEST', 'The request body could not be read', {}, { cause: error });
}

function textOf(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new A2AError('PARSE_ERROR', 'The request body is not UTF-8');
  }
}

/**
 * Parses the JSON of a body. Beyond the levels of the protocol, free values may have `jsonDepth` levels, which
 * `limitRequest` checks exactly.
 * @throws A2AError PARSE_ERROR if it is no JSON, INVALID_REQUEST if it nests too deeply or has too many items.
 */
export function parseJson(text: string, limits: Pick<RequestLimits, 'jsonDepth' | 'jsonItems'>): unknown {
  const { jsonDepth, jsonItems: items } = limits;
  const passed = passedBound(text, { depth: jsonDepth + ENVELOPE_LEVELS, items });
  if (passed !== undefined) throw passed === 'depth' ? tooDeep(jsonDepth) : tooManyItems(items);
  try {
    return JSON.parse(text);
  } catch {
    throw new A2AError('PARSE_ERROR', 'Invalid JSON payload');
  }
}
