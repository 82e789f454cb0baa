import { redisBackend } from 'parley-a2a/redis';
import { postgresBackend } from 'parley-a2a-postgres';

/** Backends for the urls of all databases that processes share. */
export const BACKENDS = [postgresBackend, redisBackend];
