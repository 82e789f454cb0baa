import type { StorageBackend } from 'parley-a2a/storage';
import { needPackagesOf } from '../failure/needed-packages.js';
import type { Settings } from '../settings/settings.js';

/** The url of a database that processes share, for help texts. */
export const SHARED_EXAMPLE = 'postgres://parley@localhost/parley';

/** The kinds of databases that several processes share: their urls, and what loads their backend. */
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

/** The url of the database of a server. */
export function databaseUrl(settings: Settings): string {
  return settings.text('database') ?? process.env.DATABASE_URL ?? 'memory:';
}

/** True for the url of a database of several processes. */
export function isShared(url: string): boolean {
  return SHARED.some(({ urls }) => urls.test(url));
}

/**
 * Loads the backends that some urls need; none for memory and SQLite.
 * @throws CliError with the command that installs what is missing.
 */
export async function backendsOf(...urls: readonly string[]): Promise<readonly StorageBackend[]> {
  return Promise.all(SHARED.filter((one) => urls.some((url) => one.urls.test(url))).map(({ load }) => load()));
}
