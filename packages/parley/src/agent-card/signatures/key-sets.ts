import type * as Jose from 'jose';
import { isObject } from '../../model/json.js';
import { boundedFetch, type DocumentFetch } from '../../net/bounded-fetch.js';
import type { Clock } from '../../runtime/clock.js';

/** A key set that was fetched, and when: written and read by the library that verifies. */
export type CachedKeySet = Jose.JWKSCacheInput;

/** What key sets are fetched with. */
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
 * Key sets by their url (RFC 7517 §5). Used for ten minutes, then asked for again, and sooner where one lacks a key; redirects are not
 * followed. Keys that have expired or were revoked are taken out.
 */
export class KeySets {
  readonly #options: KeySetsOptions;

  constructor(options: KeySetsOptions) {
    this.#options = options;
  }

  /** Finds the key that a header names in the set at a url. */
  at(url: string, signal: AbortSignal | undefined): Jose.RemoteJWKSet {
    const { library, fetch, clock } = this.#options;
    const bounded = boundedFetch(fetch, { clock, ...ANSWER });
    const fetched: Jose.FetchImplementation = async (address, init) => {
      const both = signal === undefined ? init.signal : AbortSignal.any([init.signal, signal]);
      const response = await bounded(address, { ...init, signal: both });
      return response.status === 200 ? Response.json(this.#withoutOutdated(await response.json())) : response;
    };
    const options = { [library.customFetch]: fetched, [library.jwksCache]: this.#cached(url) };
    return library.createRemoteJWKSet(new URL(url), options);
  }

  #cached(url: string): CachedKeySet {
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
