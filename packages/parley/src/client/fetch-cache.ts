import type { IdSource } from '../runtime/id-source.js';
import type { CardCache } from './card-cache.js';

/** Names of functions. A name is random, because a cache may outlive the process. */
const names = new WeakMap<object, string>();

/** A view of the cache for one `fetch`. That function may add headers, so its answers are not shared with others. */
export function cacheOfFetch(cache: CardCache, fetch: object, ids: Pick<IdSource, 'random'>): CardCache {
  const name = names.get(fetch) ?? ids.random();
  names.set(fetch, name);
  return {
    get: (url) => cache.get(`${url} ${name}`),
    set: (url, document) => cache.set(`${url} ${name}`, document),
  };
}
