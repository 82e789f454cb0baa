import { postgresBackend } from 'parley-a2a-postgres';
import { redisBackend } from 'parley-a2a-redis';

/** Backends for the urls of all databases that processes share. */
export const BACKENDS = [postgresBackend, redisBackend];
