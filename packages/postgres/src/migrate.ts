import { type MigrationResult, StorageError } from 'parley-a2a/storage-engine';
import type { PostgresConnections, Session } from './connections.js';
import { isPause } from './postgres-error.js';
import { SCHEMA_CHANGES, type SchemaChange } from './schema.js';

/** The table with the names of the changes in the schema. */
const CHANGES_TABLE = 'schema_change';
/** An unused table. Earlier versions created it, so all schemas have it. */
const UNUSED_TABLE = 'schema_lock';
/** Time limit of all changes in ms, and of the wait for another process that makes them. */
const MIGRATION_MS = 120_000;
/** Attempts, if the server ends the transaction because this process stood still. */
const ATTEMPTS = 3;
/** One advisory lock for all processes and schemas of a database. */
const LOCK = 5_019_741_102_853;

/**
 * Migrates the schema to this version. One transaction with a lock makes all changes or none, so that any number of
 * processes can start together. For a schema that is up to date, read permission is enough.
 * @throws StorageError for a schema of a newer version, and for one with tables of another program.
 */
export async function migrate(
  connections: PostgresConnections,
  changes: readonly SchemaChange[] = SCHEMA_CHANGES,
): Promise<MigrationResult> {
  const { schema, partitions } = connections.plan;
  const found = await changesIn(connections, schema, changes);
  if (isUpToDate(found, changes, schema)) return { from: changes.length, to: changes.length };
  const change = async (session: Session): Promise<MigrationResult> => {
    await session.query({ text: 'SELECT pg_advisory_xact_lock($1)', values: [LOCK] });
    const before = await changesIn(session, schema, changes);
    if (isUpToDate(before, changes, schema)) return { from: changes.length, to: changes.length };
    if (before.length === 0) await prepareSchema(session, schema);
    for (const { name, column, statements } of changes) {
      if (before.includes(name)) continue;
      for (const text of statements({ schema: connections.schema, partitions })) await session.query({ text });
      if (column === undefined) await recordChange(session, schema, name);
    }
    return { from: before.length, to: changes.length };
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return await connections.transaction(change, { statementTimeoutMs: MIGRATION_MS });
    } catch (error) {
      if (attempt === ATTEMPTS || !isPause(error)) throw error;
    }
  }
}

/** Returns the names of the changes in a schema; none if it is missing or only has tables of another program. */
export async function changesIn(
  session: Session,
  schema: string,
  changes: readonly SchemaChange[] = SCHEMA_CHANGES,
): Promise<readonly string[]> {
  const [there] = await session.query<{ readonly there: boolean }>({
    // Unlike to_regclass, a read of the catalog finds a table that another process has just created.
    text: `SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = $2) AS there`,
    values: [schema, CHANGES_TABLE],
    repeatable: true,
  });
  if (there?.there !== true) return [];
  const rows = await session.query<{ readonly name: string }>({
    text: `SELECT name FROM "${schema}".${CHANGES_TABLE} ORDER BY name`,
    repeatable: true,
  });
  const columns = await session.query<{ readonly place: string }>({
    text: `SELECT c.relname || '.' || a.attname AS place FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname || '.' || a.attname = ANY ($2) AND NOT a.attisdropped`,
    values: [schema, changes.flatMap(({ column }) => (column ? [`${column.table}.${column.name}`] : []))],
    repeatable: true,
  });
  const places = new Set(columns.map(({ place }) => place));
  const added = changes.filter(({ column }) => column && places.has(`${column.table}.${column.name}`));
  return [...rows, ...added].map(({ name }) => name).sort();
}

function isUpToDate(found: readonly string[], changes: readonly SchemaChange[], schema: string): boolean {
  const known = new Set(changes.map(({ name }) => name));
  const unknown = found.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new StorageError(
      `A newer version has changed the schema "${schema}" (${unknown}): run that version or a newer one`,
    );
  }
  return found.length === changes.length;
}

async function refuseOtherTables(session: Session, schema: string): Promise<void> {
  const [other] = await session.query<{ readonly name: string }>({
    text: `SELECT relname AS name FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
      AND relname NOT IN ($2, $3) AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') ORDER BY relname LIMIT 1`,
    values: [schema, CHANGES_TABLE, UNUSED_TABLE],
  });
  if (other === undefined) return;
  throw new StorageError(`The schema "${schema}" has tables of another program (${other.name}): name another schema`);
}

/** Creates the schema and the table of changes. An existing schema needs no permission to create one. */
async function prepareSchema(session: Session, schema: string): Promise<void> {
  await refuseOtherTables(session, schema);
  const [existing] = await session.query({ text: 'SELECT FROM pg_namespace WHERE nspname = $1', values: [schema] });
  if (existing === undefined) await session.query({ text: `CREATE SCHEMA "${schema}"` });
  await session.query({
    text: `CREATE TABLE IF NOT EXISTS "${schema}".${CHANGES_TABLE} (
      name varchar(255) NOT NULL PRIMARY KEY, timestamp varchar(255) NOT NULL)`,
  });
  await session.query({
    text: `CREATE TABLE IF NOT EXISTS "${schema}".${UNUSED_TABLE} (
      id varchar(255) NOT NULL PRIMARY KEY, is_locked integer DEFAULT 0 NOT NULL)`,
  });
}

async function recordChange(session: Session, schema: string, name: string): Promise<void> {
  await session.query({
    text: `INSERT INTO "${schema}".${CHANGES_TABLE} (name, timestamp)
      VALUES ($1, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`,
    values: [name],
  });
}
