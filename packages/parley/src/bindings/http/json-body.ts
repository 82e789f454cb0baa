import { A2AError } from '../../errors/a2a-error.js';
import { ContentTypeNotSupportedError } from '../../errors/spec-errors.js';
import type { BindingContext, RequestLimits } from './binding-context.js';
import type { ExchangeRequest } from './exchange.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Reads the body as text.
 * @throws A2AError PAYLOAD_TOO_LARGE, PARSE_ERROR (not UTF-8), INVALID_REQUEST (cut off), CONTENT_TYPE_NOT_SUPPORTED
 * (compressed), RESOURCE_EXHAUSTED (too many large ones in progress).
 */
export function readText(
  request: ExchangeRequest,
  { limits, bodies }: Pick<BindingContext, 'limits' | 'bodies'>,
): Promise<string> {
  const coding = request.header('content-encoding');
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return Promise.reject(new ContentTypeNotSupportedError('the request body must not be compressed'));
  }
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
 * Parses the JSON of a body.
 * @throws A2AError PARSE_ERROR if it is no JSON, INVALID_REQUEST if it nests too deeply.
 */
export function parseJson(text: string, limits: RequestLimits): unknown {
  if (nestsDeeper(text, limits.jsonDepth)) {
    throw tooDeep(limits.jsonDepth);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new A2AError('PARSE_ERROR', 'Invalid JSON payload');
  }
}

/**
 * True if objects and arrays nest deeper than `depth`. Bodies that are too short for that, or have too few brackets,
 * are not scanned.
 */
export function nestsDeeper(text: string, depth: number): boolean {
  if (text.length <= depth || !opensMore(text, depth)) return false;
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b:
      case 0x5b:
        if (++open > depth) return true;
        break;
      case 0x7d:
      case 0x5d:
        open--;
        break;
      case QUOTE:
        at = endOfString(text, at);
        break;
    }
  }
  return false;
}

/** A native search from bracket to bracket costs far less than a look at every character. */
function opensMore(text: string, count: number): boolean {
  let left = count;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (left-- === 0) return true;
    }
  }
  return false;
}

/** The index of the closing quote of the string that begins at `start`. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

/** The error of JSON with more than `depth` levels. */
export function tooDeep(depth: number): A2AError {
  const message = `The JSON is nested deeper than ${depth} levels`;
  return new A2AError('INVALID_REQUEST', message, { metadata: { limit: 'jsonDepth' } });
}
