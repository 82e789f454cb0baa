import type { RedisOptions } from '../store/redis/redis-options.js';
import { type RedisStatus, redisStatusOf } from '../store/redis/redis-status.js';
import { RedisStorage } from '../store/redis/redis-storage.js';
import type { StorageBackend } from '../store/storage-backend.js';
import type { Logger } from '../telemetry/logger.js';
import { steadyLogger } from '../telemetry/steady-logger.js';
import { systemClock, systemIds } from './runtime.js';
import { stderrLogger } from './stderr-logger.js';

export type { RedisOptions, RedisTlsOptions } from '../store/redis/redis-options.js';
export type { RedisStatus } from '../store/redis/redis-status.js';
export { RedisStorage } from '../store/redis/redis-storage.js';

/** Options of a storage in Redis or Valkey. */
export interface OpenRedisOptions extends Omit<RedisOptions, 'clock' | 'ids' | 'logger'> {
  /** Hears when the servers cannot be used and when they can again. Default: warnings and errors to standard error. */
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
 * Looks at a storage, also while servers use it. Changes nothing.
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
  openTarget: async (url) => {
    const { RedisTransfer } = await import('../store/redis/redis-transfer.js');
    return RedisTransfer.open({ url, clock: systemClock, ids: systemIds, logger: stderrLogger });
  },
};
