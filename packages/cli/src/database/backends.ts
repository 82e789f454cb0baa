import type { StorageBackend } from 'parley-a2a/storage';
import { needPackagesOf } from '../failure/needed-packages.js';
import type { Settings } from '../settings/settings.js';

/** An example url of a shared database, for help texts. */
export const SHARED_EXAMPLE = 'postgres://parley@localhost/parley';

/** The kinds of shared databases: their urls, and the loader of their backend. */
const SHARED = [
  {
    urls: /^postgres(?:ql)?:/,
    load: async () => {
      needPackagesOf('PostgreSQL');
      return (await import('parley-a2a-postgres')).postgresBackend;
    },
  },
  {
    urls: /^rediss?:/,
    load: async () => {
      needPackagesOf('Redis');
      return (await import('parley-a2a-redis')).redisBackend;
    },
  },
];

/** Returns the database url of a server. */
export function databaseUrl(settings: Settings): string {
  return settings.text('database') ?? process.env.DATABASE_URL ?? 'memory:';
}

/** True for the url of a shared database. */
export function isShared(url: string): boolean {
  return SHARED.some(({ urls }) => urls.test(url));
}

/**
 * Loads the backends for the given urls; none for memory and SQLite.
 * @throws CliError with the command that installs a missing package.
 */
export async function backendsOf(...urls: readonly string[]): Promise<readonly StorageBackend[]> {
  return Promise.all(SHARED.filter((one) => urls.some((url) => one.urls.test(url))).map(({ load }) => load()));
}
