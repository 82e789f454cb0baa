import { FIRST_SCHEMA } from './first-schema.js';
import { WAKEUP_SCHEMA } from './wakeup-table.js';

/** The location of the tables. */
export interface SchemaPlace {
  /** The quoted name of the schema. */
  readonly schema: string;
  /** Partitions of each large table, from 1 to 256. */
  readonly partitions: number;
}

/** One step of the schema. A released step never changes. */
export interface SchemaChange {
  /** Must sort after the names of earlier steps. */
  readonly name: string;
  /** Returns the statements of the step, for one transaction. The schema exists. */
  statements(place: SchemaPlace): readonly string[];
  /**
   * The column that the step adds, if it does nothing else. Then the existence of the column marks the step as done.
   * Earlier versions that still run do not see the step.
   */
  readonly column?: { readonly table: string; readonly name: string };
}

/** The arrival time of the message of a turn. Null for turns of earlier versions. */
const ARRIVAL_SCHEMA: SchemaChange = {
  name: '0003',
  statements: ({ schema }) => [
    `ALTER TABLE ${schema}.execution ADD COLUMN arrived bigint`,
    `ALTER TABLE ${schema}.execution ALTER COLUMN arrived SET DEFAULT ${schema}.now_ms()`,
  ],
};

/** Columns with texts of users that no statement searches. */
const CONTENT: Readonly<Record<string, readonly string[]>> = {
  task: ['owner', 'full_id', 'context_id', 'status', 'snapshot_status', 'metadata', 'history', 'artifacts'],
  task_record: ['event', 'history', 'metadata'],
  execution: ['message', 'caller', 'checkpoint', 'cancel'],
  push_config: ['config', 'parked'],
  idempotency: ['full_task_id', 'reply', 'agent', 'tenant', 'owner'],
};

/**
 * Blocked owners, and the names of the scopes of idempotency keys, because a key may have no task. Keys of earlier
 * versions have no names. They are found by the hash of their scope, or expire.
 */
const OWNER_SCHEMA: SchemaChange = {
  name: '0004',
  statements: ({ schema }) => [
    `CREATE TABLE ${schema}.owner_block (
      name text PRIMARY KEY, owner text, agent text, tenant text, until bigint NOT NULL
    )`,
    `ALTER TABLE ${schema}.idempotency ADD COLUMN agent text, ADD COLUMN tenant text, ADD COLUMN owner text`,
    // The planner's statistics contain values of deleted rows. Setting the same type again removes them without
    // rewriting the table.
    ...Object.entries(CONTENT).map(([table, columns]) => {
      const changes = columns.map((name) => `ALTER COLUMN ${name} TYPE text, ALTER COLUMN ${name} SET STATISTICS 0`);
      return `ALTER TABLE ${schema}.${table} ${changes.join(', ')}`;
    }),
  ],
};

/**
 * The version of a task. It increases with each change that can affect a decision about the task. Records of a running
 * turn do not change it. Processes of earlier versions do not write it: a trigger does. They write a request to cancel
 * only into the table execution. So during an upgrade, one of two concurrent requests may lose its metadata.
 */
const VERSION_SCHEMA: SchemaChange = {
  name: '0005',
  statements: ({ schema }) => [
    `ALTER TABLE ${schema}.task ADD COLUMN version integer NOT NULL DEFAULT 0`,
    `CREATE FUNCTION ${schema}.move_task() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.version := OLD.version + 1;
        RETURN NEW;
      END $$`,
    `CREATE TRIGGER task_moved BEFORE UPDATE OF epoch, held, turns, queued, ended ON ${schema}.task FOR EACH ROW
      WHEN (NEW.version = OLD.version AND (NEW.epoch <> OLD.epoch OR NEW.held <> OLD.held OR NEW.turns <> OLD.turns
        OR NEW.queued <> OLD.queued OR NEW.ended IS DISTINCT FROM OLD.ended)) EXECUTE FUNCTION ${schema}.move_task()`,
  ],
};

/** The trace text of a failed delivery, for the spans of the next attempt. */
const TRACE_SCHEMA: SchemaChange = {
  name: '0006',
  column: { table: 'push_config', name: 'trace' },
  statements: ({ schema }) => [
    `ALTER TABLE ${schema}.push_config ADD COLUMN trace text`,
    `ALTER TABLE ${schema}.push_config ALTER COLUMN trace SET STATISTICS 0`,
  ],
};

/** All steps, in order. */
export const SCHEMA_CHANGES: readonly SchemaChange[] = [
  FIRST_SCHEMA,
  WAKEUP_SCHEMA,
  ARRIVAL_SCHEMA,
  OWNER_SCHEMA,
  VERSION_SCHEMA,
  TRACE_SCHEMA,
];
