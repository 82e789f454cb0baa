import { type BindingContext, limitsOfSmallBody } from '../../bindings/http/binding-context.js';
import type { ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { parseJson, readText } from '../../bindings/http/json-body.js';
import { essence, JSON_TYPE } from '../../bindings/http/media-type.js';
import type { ReadThrough } from '../../cache/read-through.js';
import { A2AError } from '../../errors/a2a-error.js';
import { CacheError } from '../../errors/cache-error.js';
import { isLoopback } from '../../net/loopback.js';
import { isLocalHost } from '../../net/public-hosts.js';
import { errorAnswer, jsonAnswer } from '../json-answer.js';

const LIMITS = limitsOfSmallBody(16_384);
const LONGEST_PATTERN = 1_024;
const NOTHING_DROPPED =
  'No cached answer matches the pattern. Keys begin with "discover:" or "health:". "*" matches all';

/** The cache, for the endpoints that change it. */
interface CacheEndpointOptions {
  readonly texts: ReadThrough;
  readonly timestamp: () => string;
}

/** Drops what the pattern of the request matches. */
export async function invalidateCache(
  request: ExchangeRequest,
  { texts, timestamp }: CacheEndpointOptions,
): Promise<ExchangeResponse> {
  if (essence(request.header('content-type')) !== JSON_TYPE) {
    return errorAnswer({ status: 415, message: `The Content-Type must be ${JSON_TYPE}` });
  }
  let pattern: string;
  try {
    pattern = patternOf(parseJson(await readText(request, { limits: LIMITS }), LIMITS));
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    return errorAnswer({ status: error.code === 'PAYLOAD_TOO_LARGE' ? 413 : 400, message: error.message });
  }
  return unlessGone({ pattern, invalidated: 0, timestamp: timestamp() }, async () => {
    let invalidated = 0;
    for (const one of cachePatterns(pattern)) invalidated += await texts.invalidate(one);
    const message = invalidated === 0 ? { message: NOTHING_DROPPED } : undefined;
    return { success: true, pattern, invalidated, ...message, timestamp: timestamp() };
  });
}

/** Fills the cache before the first request. `warm` gives the number of cached answers. */
export function warmCache(warm: () => Promise<number>, timestamp: () => string): Promise<ExchangeResponse> {
  return unlessGone({ warmed: 0, timestamp: timestamp() }, async () => {
    const warmed = await warm();
    return { success: true, warmed, timestamp: timestamp() };
  });
}

async function unlessGone(nothing: object, work: () => Promise<object>): Promise<ExchangeResponse> {
  try {
    return jsonAnswer({ status: 200, value: await work() });
  } catch (error) {
    if (!(error instanceof CacheError)) throw error;
    const value = { success: false, error: 'The cache cannot be reached now', ...nothing };
    return jsonAnswer({ status: 503, value, headers: { 'retry-after': '1' } });
  }
}

function patternOf(body: unknown): string {
  const pattern = typeof body === 'object' && body !== null && 'pattern' in body ? body.pattern : undefined;
  if (typeof pattern === 'string' && pattern !== '' && pattern.length <= LONGEST_PATTERN) return pattern;
  throw new A2AError(
    'INVALID_REQUEST',
    `pattern must be a text of 1 to ${LONGEST_PATTERN} characters, such as "discover:*"`,
  );
}

/** Headers of proxies and browsers. With one of them, the address of the peer does not identify the caller. */
const FOREIGN = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-real-ip',
  'via',
  'origin',
];

const NOT_FROM_HERE = errorAnswer({
  status: 403,
  message: 'Without authentication only programs on the machine of this server may do this',
});

/**
 * Refuses an anonymous caller that may not change the cache; `undefined` if the caller may. Only programs on this
 * machine may change it without a credential, under a name of this machine, and no page of a browser. `addressOf` gives
 * a trusted proxy an address, and a program of this machine none.
 */
export function refuseCacheChange(
  request: ExchangeRequest,
  { addressOf }: Pick<BindingContext, 'addressOf'>,
): ExchangeResponse | undefined {
  if (request.user !== undefined) return undefined;
  const { peer } = request;
  const host = request.header('host');
  const isLocal = peer !== undefined && isLoopback(peer) && addressOf?.(request) === undefined;
  const isNamed = host === undefined || isLocalHost(host);
  return isLocal && isNamed && FOREIGN.every((name) => request.header(name) === undefined) ? undefined : NOT_FROM_HERE;
}

/** Endpoint names and paths that callers use for the names that keys begin with. */
const SYNONYMS: readonly (readonly [name: string, words: RegExp])[] = [
  ['discover', /\/?discovery\b|\/discover\b|\/?agent\.json\b|\/?agentJson\b/g],
  ['health', /\/health\b/g],
];

/**
 * The patterns of the cache that a caller's pattern means. A pattern without `*` means every key that contains it. An
 * endpoint's name and its path mean the same.
 */
function cachePatterns(pattern: string): readonly string[] {
  const named = SYNONYMS.reduce((text, [name, words]) => text.replace(words, name), pattern);
  return [...new Set([pattern, named].map((one) => (one.includes('*') ? one : `*${literal(one)}*`)))];
}

/** A text as a pattern that matches only itself. */
function literal(text: string): string {
  return text.replace(/[\\?[\]^]/g, '\\$&');
}
