import type { Invocation } from '../command-line/invocation.js';
import { databaseOf, isPostgres, isShared, openDatabase, pathOf } from '../database/open-database.js';
import { usageError } from '../failure/cli-error.js';

const BATCH = 500;
/** Tables that the status names: the largest ones. */
const TABLES_SHOWN = 5;

/** Shows the contents of a database. */
export async function status(invocation: Invocation): Promise<number> {
  const { settings, output } = invocation;
  const url = databaseOf(settings);
  if (isPostgres(url)) return postgresDatabaseStatus(url, invocation);
  if (isShared(url)) return redisDatabaseStatus(url, invocation);
  const { sqliteStatus } = await import('parley-a2a/sqlite');
  const found = sqliteStatus(await pathOf(settings));
  if (output.json) {
    output.document(found);
    return 0;
  }
  output.field('Database', found.path);
  output.field('Schema', versioned(found));
  output.field('In use', found.inUse ? 'yes' : 'no');
  output.field('Size', `${sized(found.bytes)}, ${sized(found.freeBytes)} of it free`);
  showStates(found.tasks, output);
  output.field('Events', String(found.records));
  output.field('Turns', String(found.turns));
  output.field('Webhooks', String(found.pushConfigs));
  return 0;
}

async function postgresDatabaseStatus(url: string, { output }: Invocation): Promise<number> {
  const { postgresStatus } = await import('parley-a2a/postgres');
  const found = await postgresStatus({ url });
  if (output.json) {
    output.document(found);
    return 0;
  }
  output.field('Database', found.database);
  output.field('Schema', found.schema === 0 ? 'none: a server makes it, or parley db migrate' : versioned(found));
  output.field('Size', sized(found.bytes));
  for (const { name, bytes, rows } of found.tables.slice(0, TABLES_SHOWN))
    output.field(`Table ${name}`, `${sized(bytes)}, about ${rows} rows`);
  showStates(found.tasks, output);
  output.field('Turns', String(found.turns));
  output.field('Webhooks', String(found.pushConfigs));
  const oldest =
    found.oldestLeaseMs === undefined ? '' : `, the oldest for ${Math.round(found.oldestLeaseMs / 1000)} s`;
  output.field('Ended leases', `${found.endedLeases}${oldest}`);
  return 0;
}

async function redisDatabaseStatus(url: string, { output }: Invocation): Promise<number> {
  const { redisStatus } = await import('parley-a2a/redis');
  const found = await redisStatus({ url });
  if (output.json) {
    output.document(found);
    return 0;
  }
  output.field('Database', found.database);
  output.field('Schema', found.schema === 0 ? 'none: a server makes it' : versioned(found));
  output.field('Size', `${sized(found.bytes)} of memory`);
  showStates(found.tasks, output);
  return 0;
}

function showStates(tasks: Readonly<Record<string, number>>, output: Invocation['output']): void {
  for (const [state, count] of Object.entries(tasks)) output.field(state.replace('TASK_STATE_', ''), String(count));
}

function versioned({ schema, newestSchema }: { readonly schema: number; readonly newestSchema: number }): string {
  if (schema > newestSchema) return `${schema} (newer than this version, which knows ${newestSchema})`;
  return `${schema}${schema < newestSchema ? ` (newest: ${newestSchema})` : ''}`;
}

/** Migrates a database to the newest schema. */
export async function migrate({ settings, output }: Invocation): Promise<number> {
  const planned = settings.isOn('dry-run');
  const url = databaseOf(settings);
  const place = isPostgres(url) ? {} : { path: await pathOf(settings) };
  const { from, to } = isPostgres(url)
    ? await migratedPostgres(url, planned)
    : await migratedFile(await pathOf(settings), planned);
  if (from > to) throw usageError(`a newer version wrote it (schema ${from}, this version knows ${to})`, NEWER_HINT);
  if (output.json) output.document({ ...place, from, to, changed: !planned && from !== to });
  else if (from === to) output.field('Schema', `${to}, the newest: nothing to do`);
  else output.field('Schema', `${from} → ${to}${planned ? ' (not done: --dry-run)' : ''}`);
  return 0;
}

const NEWER_HINT = 'run that version or a newer one';

interface Migrated {
  readonly from: number;
  readonly to: number;
}

async function migratedFile(path: string, planned: boolean): Promise<Migrated> {
  const { migrateSqlite, sqliteStatus } = await import('parley-a2a/sqlite');
  if (!planned) return migrateSqlite(path);
  const { schema: from, newestSchema: to } = sqliteStatus(path);
  return { from, to };
}

async function migratedPostgres(url: string, planned: boolean): Promise<Migrated> {
  const { migratePostgres, postgresStatus } = await import('parley-a2a/postgres');
  if (!planned) return migratePostgres({ url });
  const { schema: from, newestSchema: to } = await postgresStatus({ url });
  return { from, to };
}

/** Returns unused disk space of a database to the system. */
export async function vacuum({ settings, output }: Invocation): Promise<number> {
  const { vacuumSqlite } = await import('parley-a2a/sqlite');
  const path = await pathOf(settings);
  const { bytesBefore, bytesAfter } = vacuumSqlite(path);
  if (output.json) output.document({ path, bytesBefore, bytesAfter });
  else output.field('Size', `${sized(bytesBefore)} → ${sized(bytesAfter)}`);
  return 0;
}

/** Deletes tasks and event logs whose retention is over. */
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

function sized(bytes: number): string {
  if (bytes < 10_000) return `${bytes} B`;
  return bytes < 10_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}
