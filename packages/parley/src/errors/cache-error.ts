/** A cache failed or was too slow. Never crosses the wire: the caller goes on without the cache. */
export class CacheError extends Error {
  override readonly name = 'CacheError';
}
