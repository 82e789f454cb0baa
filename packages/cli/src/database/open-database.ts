import type { TaskStorage } from 'parley-a2a/storage';
import { usageError } from '../failure/cli-error.js';
import type { Settings } from '../settings/settings.js';
import { backendsOf, isShared } from './backends.js';

const DEFAULT_DATABASE = 'sqlite:./data/parley.db';

/** Returns the database url of the settings. */
export function databaseOf(settings: Settings): string {
  return settings.text('database') ?? process.env.DATABASE_URL ?? DEFAULT_DATABASE;
}

/**
 * Opens the database of the settings, which must exist. A file must not be in use.
 * @throws CliError for a database in memory; StorageError if it cannot be opened.
 */
export async function openDatabase(settings: Settings): Promise<TaskStorage> {
  const url = databaseOf(settings);
  if (url.startsWith('memory:')) throw usageError('a database in memory ends with its server');
  const { openStorage } = await import('parley-a2a/storage');
  if (!isShared(url)) {
    const { sqliteStatus } = await import('parley-a2a/sqlite');
    // Checked first, because SQLite would create a missing file.
    sqliteStatus(await pathOf(settings));
  }
  return openStorage(url, { backends: await backendsOf(url) });
}

/**
 * Returns the path of the database file.
 * @throws CliError if the url is not that of a file.
 */
export async function pathOf(settings: Settings): Promise<string> {
  const url = databaseOf(settings);
  const path = /^sqlite:([^?]+)/.exec(url)?.[1];
  if (path !== undefined) return path;
  const { printableUrl } = await import('parley-a2a/credentials');
  throw usageError(
    `this command works on files such as ${DEFAULT_DATABASE}, not on "${printableUrl(url)}"`,
    isShared(url) ? 'parley cluster status shows the replicas and the work of such a database' : undefined,
  );
}
