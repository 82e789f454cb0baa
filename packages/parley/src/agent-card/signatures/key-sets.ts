import type * as Jose from 'jose';
import { isObject } from '../../model/json.js';
import { boundedFetch, type DocumentFetch } from '../../net/bounded-fetch.js';
import type { Clock } from '../../runtime/clock.js';

/** A fetched key set and its time, in the form of the verifying library. */
type CachedKeySet = Jose.JWKSCacheInput;

/** Options of `KeySets`. */
export interface KeySetsOptions {
  readonly library: typeof Jose;
  readonly fetch: DocumentFetch;
  readonly clock: Clock;
  /** By url. */
  readonly cache: Map<string, CachedKeySet>;
}

const ANSWER = { bytes: 64 * 1024, ms: 5_000 };
const MOST_CACHED = 100;

/**
 * Key sets by url (RFC 7517 §5). A set is used for ten minutes, and refetched earlier if it lacks a key. Redirects are
 * not followed. Expired and revoked keys are removed.
 */
export class KeySets {
  readonly #options: KeySetsOptions;

  constructor(options: KeySetsOptions) {
    this.#options = options;
  }

  /** Finds the key of a header in the set at a url. */
  at(url: string, signal: AbortSignal | undefined): Jose.RemoteJWKSet {
    const { library, fetch, clock } = this.#options;
    const bounded = boundedFetch(fetch, { clock, ...ANSWER });
    const fetchKeys: Jose.FetchImplementation = async (address, init) => {
      const both = signal === undefined ? init.signal : AbortSignal.any([init.signal, signal]);
      const response = await bounded(address, { ...init, signal: both });
      return response.status === 200 ? Response.json(this.#withoutOutdated(await response.json())) : response;
    };
    const options = { [library.customFetch]: fetchKeys, [library.jwksCache]: this.#cacheOf(url) };
    return library.createRemoteJWKSet(new URL(url), options);
  }

  #cacheOf(url: string): CachedKeySet {
    const { cache } = this.#options;
    const known = cache.get(url) ?? {};
    cache.delete(url);
    cache.set(url, known);
    for (const oldest of cache.keys()) if (cache.size > MOST_CACHED) cache.delete(oldest);
    return known;
  }

  #withoutOutdated(set: unknown): unknown {
    if (!isObject(set) || !Array.isArray(set.keys)) return set;
    const now = this.#options.clock.now() / 1000;
    const isOutdated = (key: unknown) =>
      isObject(key) && ((typeof key.exp === 'number' && key.exp <= now) || key.revoked !== undefined);
    return { ...set, keys: (set.keys as unknown[]).filter((key) => !isOutdated(key)) };
  }
}
