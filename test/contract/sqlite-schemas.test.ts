import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../packages/parley/src/store/sqlite/schema.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { checkKeptTasks, writeKeptTasks } from './storage/kept-tasks.js';
import { StorageClock } from './storage/tested-storage.js';

// The folder has a file of SQL for each version of the schema, written by the code of that version. Files of earlier
// versions never change. The first run with a new version writes its file, unless CI is set.
const FOLDER = new URL('sqlite-schemas/', import.meta.url);
const VERSIONS = Array.from({ length: SCHEMA_VERSION }, (_, at) => at + 1);
/** The first versions whose fixtures contain keys, and deliveries. */
const KEYS_SINCE = 5;
const DELIVERIES_SINCE = 8;

const files = new SqliteFiles();
afterAll(() => files.remove());

function fixtureOf(version: number): URL {
  return new URL(`${version}.sql`, FOLDER);
}

/** The path of a new file with kept tasks. */
async function newFile(): Promise<string> {
  const path = files.fresh();
  const clock = new StorageClock();
  const storage = await files.open(clock, { path });
  await writeKeptTasks({ storage, clock });
  await storage.close();
  return path;
}

beforeAll(async () => {
  if (!process.env.CI && !existsSync(fixtureOf(SCHEMA_VERSION))) {
    writeFileSync(fixtureOf(SCHEMA_VERSION), dumpOf(await newFile()));
  }
});

it('each version of the schema has a fixture', () => {
  const names = readdirSync(FOLDER).sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
  expect(names).toEqual(VERSIONS.map((version) => `${version}.sql`));
});

it.each(VERSIONS)('a file of schema %i keeps all that it has, and gets the schema of a new file', async (version) => {
  const path = files.fresh();
  mkdirSync(dirname(path));
  const db = new DatabaseSync(path);
  db.exec(readFileSync(fixtureOf(version), 'utf8'));
  expect(db.prepare("SELECT value FROM meta WHERE name = 'schema'").get()).toEqual({ value: `${version}` });
  db.close();
  const clock = new StorageClock();
  const storage = await files.open(clock, { path });
  await checkKeptTasks({ storage, clock }, { keys: version < KEYS_SINCE, deliveries: version < DELIVERIES_SINCE });
  await storage.close();
  expect(schemaOf(path)).toEqual(schemaOf(await newFile()));
});

/** The statements that create the tables and indexes of a file, by name, without comments and layout of the text. */
function schemaOf(path: string): ReadonlyMap<string, string> {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name').all();
  db.close();
  const plain = (sql: string) =>
    sql
      .replaceAll(/--.*/g, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/ ?([(),]) ?/g, '$1');
  return new Map(rows.map(({ name, sql }) => [String(name), plain(String(sql))]));
}

/** The SQL that makes a file with the same tables and rows. */
function dumpOf(path: string): string {
  const db = new DatabaseSync(path, { readOnly: true });
  const made = db
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'index'")
    .all();
  const tables = made.filter(({ type }) => type === 'table').map(({ name }) => String(name));
  const rows = tables.flatMap((table) => {
    const columns = db.prepare(`PRAGMA table_info(${table})`).all();
    const values = columns.map(({ name }) => `quote(${name})`).join(" || ', ' || ");
    const found = db.prepare(`SELECT ${values} AS texts FROM ${table}`).all();
    return found.map(({ texts }) => `INSERT INTO ${table} VALUES (${texts});`);
  });
  db.close();
  return `${[...made.map(({ sql }) => `${sql};`), ...rows].join('\n')}\n`;
}
