import { type MigrationResult, StorageError, stateOfNumber, type TaskState } from 'parley-a2a/storage-engine';
import { PostgresConnections } from './connections.js';
import { changesIn, migrate } from './migrate.js';
import { type PostgresStorageOptions, postgresPlan } from './postgres-options.js';
import { SCHEMA_CHANGES } from './schema.js';
import { PostgresTables, type Sql } from './tables.js';

/** The content of a database. */
export interface PostgresStatus {
  /** Host, port and name. */
  readonly database: string;
  /** Number of schema changes in the database, and in this version. 0: there are no tables. */
  readonly schema: number;
  readonly newestSchema: number;
  /** Bytes of all tables with their indexes. */
  readonly bytes: number;
  /**
   * Tables by their bytes, the largest first. A partitioned table counts as one. `rows` is an estimate of the server.
   */
  readonly tables: readonly { readonly name: string; readonly bytes: number; readonly rows: number }[];
  /** Tasks by state; states without any are left out. */
  readonly tasks: Readonly<Partial<Record<TaskState, number>>>;
  /** Waiting and running turns. */
  readonly turns: number;
  readonly pushConfigs: number;
  /** Expired leases whose turns no replica has claimed yet. */
  readonly endedLeases: number;
  /** Time since the oldest of these leases expired, in ms. Absent if there is none. */
  readonly oldestLeaseMs?: number;
}

const TABLES: Sql = {
  text: `SELECT regexp_replace(relname, '_\\d+$', '') AS name, sum(pg_total_relation_size(oid))::bigint AS bytes,
      sum(greatest(reltuples, 0))::bigint AS rows
    FROM pg_class WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
    GROUP BY 1 ORDER BY 2 DESC, 1`,
  repeatable: true,
};
const TASKS: Sql = {
  text: `SELECT state, sum(tasks)::bigint AS tasks FROM (
      SELECT state, tasks FROM parley.task_count
      UNION ALL SELECT to_state, tasks FROM parley.task_count_change WHERE to_state IS NOT NULL
      UNION ALL SELECT from_state, -tasks FROM parley.task_count_change WHERE from_state IS NOT NULL
    ) c GROUP BY state HAVING sum(tasks) > 0 ORDER BY state`,
  repeatable: true,
};
const WORK: Sql = {
  text: `SELECT (SELECT count(*) FROM parley.execution) AS turns, (SELECT count(*) FROM parley.push_config) AS configs,
      count(*) AS leases, parley.now_ms() - min(lease_end) AS oldest
    FROM parley.execution WHERE node IS NOT NULL AND lease_end <= parley.now_ms()`,
  repeatable: true,
};

interface WorkRow {
  readonly turns: number;
  readonly configs: number;
  readonly leases: number;
  readonly oldest: number | null;
}

/**
 * Reads the status of a database, even while servers use it. Changes nothing.
 * @throws OptionsError, or StorageError if the server cannot be used.
 */
export function postgresStatusOf(options: PostgresStorageOptions): Promise<PostgresStatus> {
  return withConnections(options, async (connections) => {
    const { schema: name, subject } = connections.plan;
    const { length: schema } = await changesIn(connections, name);
    const status = { database: subject, schema, newestSchema: SCHEMA_CHANGES.length };
    if (schema === 0) return { ...status, bytes: 0, tables: [], tasks: {}, turns: 0, pushConfigs: 0, endedLeases: 0 };
    const tables = new PostgresTables(connections);
    const sizes = await tables.query<PostgresStatus['tables'][number]>(TABLES, name);
    const tasks = await tables.query<{ readonly state: number; readonly tasks: number }>(TASKS);
    const [work] = await tables.query<WorkRow>(WORK);
    if (work === undefined) throw new StorageError(`${subject} answers nothing`);
    return {
      ...status,
      bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
      tables: sizes,
      tasks: Object.fromEntries(tasks.map(({ state, tasks: count }) => [stateOfNumber(state), count])),
      turns: work.turns,
      pushConfigs: work.configs,
      endedLeases: work.leases,
      ...(work.oldest !== null && { oldestLeaseMs: work.oldest }),
    };
  });
}

/**
 * Creates or migrates the tables, as a server does at its start.
 * @throws OptionsError, or StorageError if the server cannot be used or a newer version has changed the schema.
 */
export function migrateDatabase(options: PostgresStorageOptions): Promise<MigrationResult> {
  return withConnections(options, migrate);
}

async function withConnections<R>(
  options: PostgresStorageOptions,
  work: (connections: PostgresConnections) => Promise<R>,
): Promise<R> {
  const { clock, logger } = options;
  const connections = new PostgresConnections({ plan: postgresPlan(options), clock, logger });
  try {
    return await work(connections);
  } finally {
    await connections.close();
  }
}
