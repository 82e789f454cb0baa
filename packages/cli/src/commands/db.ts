import type { Invocation } from '../command-line/invocation.js';
import { openDatabase, pathOf } from '../database/open-database.js';

const BATCH = 500;

/** Shows the contents of a database. */
export async function status({ settings, output }: Invocation): Promise<number> {
  const { sqliteStatus } = await import('parley-a2a/sqlite');
  const found = sqliteStatus(pathOf(settings));
  if (output.json) {
    output.document(found);
    return 0;
  }
  output.field('Database', found.path);
  output.field(
    'Schema',
    `${found.schema}${found.schema < found.newestSchema ? ` (newest: ${found.newestSchema})` : ''}`,
  );
  output.field('In use', found.inUse ? 'yes' : 'no');
  output.field('Size', `${sized(found.bytes)}, ${sized(found.freeBytes)} of it free`);
  for (const [state, tasks] of Object.entries(found.tasks))
    output.field(state.replace('TASK_STATE_', ''), String(tasks));
  output.field('Events', String(found.records));
  output.field('Turns', String(found.turns));
  output.field('Webhooks', String(found.pushConfigs));
  return 0;
}

/** Migrates a database to the newest schema. */
export async function migrate({ settings, output }: Invocation): Promise<number> {
  const { migrateSqlite, sqliteStatus } = await import('parley-a2a/sqlite');
  const path = pathOf(settings);
  const planned = settings.isOn('dry-run');
  const before = planned ? sqliteStatus(path) : undefined;
  const { from, to } = before === undefined ? migrateSqlite(path) : { from: before.schema, to: before.newestSchema };
  if (output.json) output.document({ path, from, to, changed: !planned && from !== to });
  else if (from === to) output.field('Schema', `${to}, the newest: nothing to do`);
  else output.field('Schema', `${from} → ${to}${planned ? ' (not done: --dry-run)' : ''}`);
  return 0;
}

/** Returns unused disk space of a database to the system. */
export async function vacuum({ settings, output }: Invocation): Promise<number> {
  const { vacuumSqlite } = await import('parley-a2a/sqlite');
  const path = pathOf(settings);
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
