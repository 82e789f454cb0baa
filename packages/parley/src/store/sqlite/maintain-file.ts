import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../errors/storage-error.js';
import type { TaskState } from '../../model/task-state.js';
import { refuseArgument } from '../../options/refuse-argument.js';
import { stateOfNumber } from '../state-numbers.js';
import { cannotOpen, lockFile, openForReading, openForWriting } from './open-file.js';
import { SCHEMA_VERSION } from './schema.js';

/** The content of a database file. */
export interface SqliteStatus {
  readonly path: string;
  /** The version of its schema, and the newest one that this version supports. */
  readonly schema: number;
  readonly newestSchema: number;
  /** True if a server uses the file now. */
  readonly inUse: boolean;
  /** Includes the write-ahead log. */
  readonly bytes: number;
  /** Bytes that a vacuum would free. */
  readonly freeBytes: number;
  /** The ids of the agents with tasks in it. */
  readonly agents: readonly string[];
  /** Tasks by state; states without any are left out. */
  readonly tasks: Readonly<Partial<Record<TaskState, number>>>;
  /** Events in the logs of tasks. */
  readonly records: number;
  /** Waiting and running turns. */
  readonly turns: number;
  readonly pushConfigs: number;
}

/**
 * Reads the status of a database file, even while a server uses it; changes nothing.
 * @throws StorageError with the path if the file is missing or belongs to another program.
 */
export function sqliteStatus(path: string): SqliteStatus {
  if (typeof path !== 'string') refuseArgument('sqliteStatus', 'the path of a database file', path);
  const size = sizeOf(path);
  const db = openForReading(path, 'thread');
  try {
    const schema = schemaOf(db);
    const count = (table: string) => numberOf(db, `SELECT count(*) AS value FROM ${table}`);
    return {
      path,
      schema,
      newestSchema: SCHEMA_VERSION,
      inUse: isInUse(path),
      bytes: size,
      freeBytes: numberOf(db, 'PRAGMA freelist_count') * numberOf(db, 'PRAGMA page_size'),
      agents: db
        .prepare('SELECT name FROM agent ORDER BY name')
        .all()
        .map(({ name }) => String(name)),
      tasks: tasksByState(db),
      records: numberOf(db, 'SELECT coalesce(sum(seq - floor + 1), 0) AS value FROM task'),
      turns: count('execution'),
      pushConfigs: count('push_config'),
    };
  } catch (error) {
    throw cannotOpen(path, error);
  } finally {
    db.close();
  }
}

/**
 * Migrates an unused file to the newest schema, as a server does at its start.
 * @throws StorageError with the path if the file is missing, belongs to another program, or is in use.
 */
export function migrateSqlite(path: string): { readonly from: number; readonly to: number } {
  const { schema: from } = sqliteStatus(path);
  withFile(path, () => {});
  return { from, to: SCHEMA_VERSION };
}

/**
 * Compacts an unused file. Needs free disk space of the same size in the meantime.
 * @throws StorageError with the path if the file is missing, belongs to another program, or is in use.
 */
export function vacuumSqlite(path: string): { readonly bytesBefore: number; readonly bytesAfter: number } {
  if (typeof path !== 'string') refuseArgument('vacuumSqlite', 'the path of a database file', path);
  const bytesBefore = sizeOf(path);
  withFile(path, (db) => db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE);'));
  return { bytesBefore, bytesAfter: sizeOf(path) };
}

function withFile(path: string, work: (db: DatabaseSync) => void): void {
  sizeOf(path);
  const { path: real, lock } = lockFile(path);
  try {
    const db = openForWriting({ path: real, durability: 'power-loss' });
    try {
      work(db);
    } catch (error) {
      throw cannotOpen(path, error);
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
}

function isInUse(path: string): boolean {
  // Reading the status must not create a lock file.
  if (statSync(`${path}-lock`, { throwIfNoEntry: false }) === undefined) return false;
  try {
    lockFile(path).lock.release();
    return false;
  } catch (error) {
    return isHeld(error);
  }
}

function isHeld(error: unknown): boolean {
  return error instanceof StorageError && (error.fault === 'in-use' || isHeld(error.cause));
}

/** Returns the bytes of the file and its log. Does not create a missing file. */
function sizeOf(path: string): number {
  const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size;
  const bytes = size(path);
  if (bytes === undefined) throw cannotOpen(path, new StorageError('there is no such file', { fault: 'missing' }));
  return bytes + (size(`${path}-wal`) ?? 0);
}

function schemaOf(db: DatabaseSync): number {
  const ours = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'task_record'").get() !== undefined;
  if (!ours) throw new StorageError('it is a database of something else: name another file');
  return numberOf(db, "SELECT value FROM meta WHERE name = 'schema'");
}

function tasksByState(db: DatabaseSync): Partial<Record<TaskState, number>> {
  const rows = db.prepare('SELECT state, sum(tasks) AS tasks FROM task_count GROUP BY state').all() as unknown as {
    state: number;
    tasks: number;
  }[];
  return Object.fromEntries(
    rows.filter(({ tasks }) => tasks > 0).map(({ state, tasks }) => [stateOfNumber(state), tasks]),
  );
}

function numberOf(db: DatabaseSync, query: string): number {
  return Number(Object.values(db.prepare(query).get() ?? {})[0]);
}
