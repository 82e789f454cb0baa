import {
  type Logger,
  type StorageBackend,
  stderrLogger,
  steadyLogger,
  systemClock,
  systemIds,
} from 'parley-a2a/storage-engine';
import type { RedisOptions } from './storage/redis-options.js';
import { type RedisStatus, redisStatusOf } from './storage/redis-status.js';
import { RedisStorage } from './storage/redis-storage.js';
import { RedisTransfer } from './storage/redis-transfer.js';

export {
  type AnswerCache,
  type CacheConnections,
  type CacheLink,
  type OpenRedisCacheOptions,
  openRedisCache,
  RedisCache,
} from './cache/redis-cache.js';
export type { RedisOptions, RedisTlsOptions } from './storage/redis-options.js';
export type { RedisStatus } from './storage/redis-status.js';
export { RedisStorage } from './storage/redis-storage.js';

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
export function openRedisStorage({ logger = stderrLogger, ...options }: OpenRedisOptions): Promise<RedisStorage> {
  return RedisStorage.open({ ...options, logger: steadyLogger(logger), clock: systemClock, ids: systemIds });
}

/**
 * Reads the status of a storage, even while servers use it. Changes nothing.
 * @throws OptionsError, or StorageError if the servers cannot be used.
 */
export function redisStatus({ logger = stderrLogger, ...options }: OpenRedisOptions): Promise<RedisStatus> {
  return redisStatusOf({ ...options, logger, clock: systemClock, ids: systemIds });
}

/** Redis for `openStorage` and `copyStorage`: urls such as `redis://user:password@host:6379`. */
export const redisBackend: StorageBackend = {
  schemes: ['redis', 'rediss'],
  open: (url, options) => openRedisStorage({ ...options, url }),
  status: (url) => redisStatus({ url }),
  openTarget: (url) => RedisTransfer.open({ url, clock: systemClock, ids: systemIds, logger: stderrLogger }),
};
