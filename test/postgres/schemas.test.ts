import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openPostgresStorage } from '../../packages/postgres/src/index.js';
import { SCHEMA_CHANGES } from '../../packages/postgres/src/schema.js';
import { checkKeptTasks, writeKeptTasks } from '../contract/storage/kept-tasks.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

// The folder has two files of SQL for each change of the schema: its statements, and rows that the code of that time
// wrote. Files of earlier changes never change. The first run with a new change writes its files, unless CI is set.
const FOLDER = new URL('schemas/', import.meta.url);
const NAMES = SCHEMA_CHANGES.map(({ name }) => name);
const NEWEST = NAMES.at(-1) ?? '';

let server: PostgresServer;
let newDatabase: string;
beforeAll(async () => {
  server = await PostgresServer.start();
  newDatabase = await server.newDatabase();
  const clock = new StorageClock();
  const storage = await openPostgresStorage({ url: newDatabase, logger: silentLogger });
  await writeKeptTasks({ storage, clock });
  await storage.close();
  if (process.env.CI || existsSync(fileOf(`${NEWEST}.sql`))) return;
  const statements = SCHEMA_CHANGES.at(-1)?.statements({ schema: '"parley"', partitions: 1 }) ?? [];
  writeFileSync(fileOf(`${NEWEST}.sql`), statements.map((text) => `${text};\n`).join(''));
  writeFileSync(fileOf(`${NEWEST}-rows.sql`), await query(newDatabase, rowsOf));
});
afterAll(() => server[Symbol.asyncDispose]());

it('each change of the schema has its fixtures', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(NAMES.flatMap((name) => [`${name}-rows.sql`, `${name}.sql`]));
});

it.each(NAMES)('a schema up to change %s keeps its rows, and becomes equal to a new one', async (name) => {
  const url = await server.newDatabase();
  const changes = NAMES.slice(0, NAMES.indexOf(name) + 1).map((each) => `${each}.sql`);
  await query(url, async (client) => {
    for (const file of [...changes, `${name}-rows.sql`]) await client.query(readFileSync(fileOf(file), 'utf8'));
    const { rows } = await client.query('SELECT name FROM parley.schema_change ORDER BY name');
    const recorded = SCHEMA_CHANGES.filter(({ column }) => column === undefined).map((change) => `${change.name}.sql`);
    expect(rows.map((row) => `${row.name}.sql`)).toEqual(changes.filter((each) => recorded.includes(each)));
  });
  const storage = await openPostgresStorage({ url, logger: silentLogger });
  await checkKeptTasks({ storage, clock: new StorageClock() });
  await storage.close();
  expect(await query(url, catalogOf)).toEqual(await query(newDatabase, catalogOf));
});

function fileOf(name: string): URL {
  return new URL(name, FOLDER);
}

async function query<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Tables, columns, constraints, indexes, triggers and functions of the schema. */
async function catalogOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ text: string }>(`
    SELECT concat_ws(' ', relname, relkind, relpersistence, reloptions) AS text
      FROM pg_class WHERE relnamespace = 'parley'::regnamespace
    UNION ALL SELECT concat_ws(' ', c.relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
      attgenerated, attstattarget, attcollation::regcollation, pg_get_expr(adbin, adrelid))
      FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = c.oid AND adnum = attnum
      WHERE relnamespace = 'parley'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE connamespace = 'parley'::regnamespace
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'parley'
    UNION ALL SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
      WHERE relnamespace = 'parley'::regnamespace
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'parley'::regnamespace
    ORDER BY text`);
  return rows.map(({ text }) => text);
}

/** The statements that insert the rows of the schema. */
async function rowsOf(client: Client): Promise<string> {
  const columns = await client.query<{ table: string; names: string; values: string }>(`
    SELECT relname AS table, string_agg(attname, ', ' ORDER BY attnum) AS names,
      string_agg(format('quote_nullable(%I::text)', attname), ', ' ORDER BY attnum) AS values
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
    WHERE relnamespace = 'parley'::regnamespace AND relkind = 'r' AND attnum > 0 AND attgenerated = ''
    GROUP BY relname ORDER BY relname`);
  const last = await client.query('SELECT last_value FROM parley.number');
  const lines = [`SELECT setval('parley.number', ${last.rows[0].last_value});`];
  for (const { table, names, values } of columns.rows) {
    const { rows } = await client.query(`SELECT concat_ws(', ', ${values}) AS texts FROM parley.${table}`);
    const tuples = rows.map(({ texts }) => `(${texts})`).join(',\n');
    if (tuples) lines.push(`INSERT INTO parley.${table} (${names}) VALUES`, `${tuples};`);
  }
  return `${lines.join('\n')}\n`;
}
