import type { DatabaseStatus, MigrationResult, StorageBackend } from 'parley-a2a/storage';
import type { Invocation } from '../command-line/invocation.js';
import { backendsOf } from '../database/backends.js';
import { databaseOf, openDatabase, pathOf } from '../database/open-database.js';
import { usageError } from '../failure/cli-error.js';
import type { Output } from '../output/output.js';
import { formatBytes } from '../output/transfer-progress.js';
import type { Settings } from '../settings/settings.js';

const BATCH = 500;
/** Maximum number of tables in the status, largest first. */
const TABLES_SHOWN = 5;

/** Prints the content of a database. */
export async function status(invocation: Invocation): Promise<number> {
  const { settings, output } = invocation;
  const url = databaseOf(settings);
  const [backend] = await backendsOf(url);
  if (backend !== undefined) return showShared(await backend.status(url), backend, output);
  const { sqliteStatus } = await import('parley-a2a/sqlite');
  const found = sqliteStatus(await pathOf(settings));
  if (output.json) {
    output.document(found);
    return 0;
  }
  output.field('Database', found.path);
  output.field('Schema', versionText(found));
  output.field('In use', found.inUse ? 'yes' : 'no');
  output.field('Size', `${formatBytes(found.bytes)}, ${formatBytes(found.freeBytes)} of it free`);
  showStates(found.tasks, output);
  output.field('Events', String(found.records));
  output.field('Turns', String(found.turns));
  output.field('Webhooks', String(found.pushConfigs));
  return 0;
}

/** Prints the content of a shared database, as far as its backend can count it. */
function showShared(found: DatabaseStatus, { migrate: migrates }: StorageBackend, output: Output): number {
  if (output.json) {
    output.document(found);
    return 0;
  }
  const { tables = [], turns, pushConfigs, endedLeases, oldestLeaseMs } = found;
  output.field('Database', found.database);
  const none = `none: a server creates it${migrates === undefined ? '' : ', or parley db migrate'}`;
  output.field('Schema', found.schema === 0 ? none : versionText(found));
  output.field('Size', formatBytes(found.bytes));
  for (const { name, bytes, rows } of tables.slice(0, TABLES_SHOWN))
    output.field(`Table ${name}`, `${formatBytes(bytes)}, about ${rows} rows`);
  showStates(found.tasks, output);
  if (turns !== undefined) output.field('Turns', String(turns));
  if (pushConfigs !== undefined) output.field('Webhooks', String(pushConfigs));
  const oldest = oldestLeaseMs === undefined ? '' : `, the oldest for ${Math.round(oldestLeaseMs / 1000)} s`;
  if (endedLeases !== undefined) output.field('Ended leases', `${endedLeases}${oldest}`);
  return 0;
}

function showStates(tasks: Readonly<Record<string, number>>, output: Output): void {
  for (const [state, count] of Object.entries(tasks)) output.field(state.replace('TASK_STATE_', ''), String(count));
}

function versionText({ schema, newestSchema }: { readonly schema: number; readonly newestSchema: number }): string {
  if (schema > newestSchema) return `${schema} (newer than this version, which knows ${newestSchema})`;
  return `${schema}${schema < newestSchema ? ` (newest: ${newestSchema})` : ''}`;
}

/** Migrates a database to the newest schema. */
export async function migrate({ settings, output }: Invocation): Promise<number> {
  const isDryRun = settings.isOn('dry-run');
  const migrated = (await migrateShared(databaseOf(settings), isDryRun)) ?? (await migratedFile(settings, isDryRun));
  const { from, to } = migrated;
  if (from > to) throw usageError(`a newer version wrote it (schema ${from}, this version knows ${to})`, NEWER_HINT);
  if (output.json) output.document({ ...migrated, changed: !isDryRun && from !== to });
  else if (from === to) output.field('Schema', `${to}, the newest: nothing to do`);
  else output.field('Schema', `${from} → ${to}${isDryRun ? ' (not done: --dry-run)' : ''}`);
  return 0;
}

const NEWER_HINT = 'run that version or a newer one';

/** Returns undefined for the url of a file, and of a database that only servers migrate. */
async function migrateShared(url: string, isDryRun: boolean): Promise<MigrationResult | undefined> {
  const [backend] = await backendsOf(url);
  if (backend?.migrate === undefined) return undefined;
  if (!isDryRun) return backend.migrate(url);
  const { schema: from, newestSchema: to } = await backend.status(url);
  return { from, to };
}

async function migratedFile(
  settings: Settings,
  isDryRun: boolean,
): Promise<MigrationResult & { readonly path: string }> {
  const { migrateSqlite, sqliteStatus } = await import('parley-a2a/sqlite');
  const path = await pathOf(settings);
  if (!isDryRun) return { path, ...migrateSqlite(path) };
  const { schema: from, newestSchema: to } = sqliteStatus(path);
  return { path, from, to };
}

/** Returns unused disk space of a database to the system. */
export async function vacuum({ settings, output }: Invocation): Promise<number> {
  const { vacuumSqlite } = await import('parley-a2a/sqlite');
  const path = await pathOf(settings);
  const { bytesBefore, bytesAfter } = vacuumSqlite(path);
  if (output.json) output.document({ path, bytesBefore, bytesAfter });
  else output.field('Size', `${formatBytes(bytesBefore)} → ${formatBytes(bytesAfter)}`);
  return 0;
}

/** Deletes tasks and event logs past their retention. */
export async function retention({ settings, output }: Invocation): Promise<number> {
  const storage = await openDatabase(settings);
  const removed = { tasks: 0, records: 0, keys: 0 };
  try {
    for (let more = true; more; ) {
      const swept = await storage.sweep({
        taskRetentionMs: settings.duration('finished') ?? 0,
        eventLogMs: settings.duration('event-log') ?? 0,
        limit: BATCH,
      });
      removed.tasks += swept.tasks;
      removed.records += swept.records;
      removed.keys += swept.keys;
      more = swept.more;
    }
  } finally {
    await storage.close();
  }
  if (output.json) output.document({ removed });
  else output.field('Removed', `${removed.tasks} tasks, ${removed.records} events, ${removed.keys} idempotency keys`);
  return 0;
}
