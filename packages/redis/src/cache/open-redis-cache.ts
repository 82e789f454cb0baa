import type { Logger } from 'parley-a2a';
import { stderrLogger, systemClock } from 'parley-a2a/kit';
import { RedisCache } from './redis-cache.js';

export type { AnswerCache, CacheConnections, CacheLink } from 'parley-a2a/server';
export { RedisCache } from './redis-cache.js';

/** Options of a cache in Redis or Valkey. */
export interface OpenRedisCacheOptions {
  /** `redis://` or `rediss://`, with optional user, password and database number. */
  readonly url: string;
  /** Prefix of all keys. Default `a2a:`. */
  readonly prefix?: string;
  /** Number of open connections; default and minimum 2. */
  readonly connections?: number;
  /** Longest time of a command, in ms, at most 100. Default 40. */
  readonly timeoutMs?: number;
  /** Logs the start and the end of outages of the server. Default: warnings and errors to standard error. */
  readonly logger?: Logger;
}

/**
 * Opens a cache in Redis or Valkey. An unreachable server is no error: requests are answered without the cache until it
 * is back.
 * @throws OptionsError
 */
export function openRedisCache({ logger = stderrLogger, ...options }: OpenRedisCacheOptions): Promise<RedisCache> {
  return RedisCache.open({ ...options, logger, clock: systemClock });
}
