import {
  type Logger,
  type StorageBackend,
  stderrLogger,
  steadyLogger,
  systemClock,
  systemIds,
} from 'parley-a2a/storage-engine';
import type { OpenRedisCacheOptions, RedisCache } from './cache/redis-cache.js';
import type { RedisOptions } from './storage/redis-options.js';
import type { RedisStatus } from './storage/redis-status.js';
import type { RedisStorage } from './storage/redis-storage.js';

// The driver loads with the first use: a program may name backends that it does not open.

export type {
  AnswerCache,
  CacheConnections,
  CacheLink,
  OpenRedisCacheOptions,
  RedisCache,
} from './cache/redis-cache.js';
export type { RedisOptions, RedisTlsOptions } from './storage/redis-options.js';
export type { RedisStatus } from './storage/redis-status.js';
export type { RedisStorage } from './storage/redis-storage.js';

/** Options of a storage in Redis or Valkey. */
interface OpenRedisOptions extends Omit<RedisOptions, 'clock' | 'ids' | 'logger'> {
  /** Logs the start and the end of outages of the servers. Default: warnings and errors to standard error. */
  readonly logger?: Logger;
}

/**
 * Opens a storage in Redis or Valkey, for any number of processes.
 * @throws OptionsError, or StorageError if the servers cannot be reached, may lose tasks by eviction, or if a newer
 * version wrote the storage.
 */
export async function openRedisStorage({ logger = stderrLogger, ...options }: OpenRedisOptions): Promise<RedisStorage> {
  const { RedisStorage } = await import('./storage/redis-storage.js');
  return RedisStorage.open({ ...options, logger: steadyLogger(logger), clock: systemClock, ids: systemIds });
}

/**
 * Reads the status of a storage, even while servers use it. Changes nothing.
 * @throws OptionsError, or StorageError if the servers cannot be used.
 */
export async function redisStatus({ logger = stderrLogger, ...options }: OpenRedisOptions): Promise<RedisStatus> {
  const { redisStatusOf } = await import('./storage/redis-status.js');
  return redisStatusOf({ ...options, logger, clock: systemClock, ids: systemIds });
}

/**
 * Opens a cache in Redis or Valkey. An unreachable server is no error: requests are answered without the cache until it
 * is back.
 * @throws OptionsError
 */
export async function openRedisCache({
  logger = stderrLogger,
  ...options
}: OpenRedisCacheOptions): Promise<RedisCache> {
  const { RedisCache } = await import('./cache/redis-cache.js');
  return RedisCache.open({ ...options, logger, clock: systemClock });
}

async function targetOf(url: string) {
  const { RedisTransfer } = await import('./storage/redis-transfer.js');
  return RedisTransfer.open({ url, clock: systemClock, ids: systemIds, logger: stderrLogger });
}

/** Redis for `openStorage` and `copyStorage`: urls such as `redis://user:password@host:6379`. */
export const redisBackend: StorageBackend = {
  schemes: ['redis', 'rediss'],
  open: (url, options) => openRedisStorage({ ...options, url }),
  status: (url) => redisStatus({ url }),
  openTarget: targetOf,
};
