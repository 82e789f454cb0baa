import { FIRST_SCHEMA } from './first-schema.js';
import { WAKEUP_SCHEMA } from './wakeup-table.js';

/** The place of the tables. */
export interface SchemaPlace {
  /** The name of the schema for SQL, in quotes. */
  readonly schema: string;
  /** Partitions of each large table, from 1 to 256. */
  readonly partitions: number;
}

/** One step of the schema. A step that was released never changes. */
export interface SchemaChange {
  /** Sorts behind the names of the steps before it. */
  readonly name: string;
  /** The statements of the step, for one transaction. The schema is there. */
  statements(place: SchemaPlace): readonly string[];
  /**
   * The column that the step adds, if that is all it does. Earlier versions run beside it: they do not see the step,
   * because the column alone tells that it is done.
   */
  readonly column?: { readonly table: string; readonly name: string };
}

/** The time at which the message of a turn arrived. Turns of earlier versions have none. */
const ARRIVAL_SCHEMA: SchemaChange = {
  name: '0003',
  statements: ({ schema }) => [
    `ALTER TABLE ${schema}.execution ADD COLUMN arrived bigint`,
    `ALTER TABLE ${schema}.execution ALTER COLUMN arrived SET DEFAULT ${schema}.now_ms()`,
  ],
};

/** Columns with texts of users that no statement looks for. */
const CONTENT: Readonly<Record<string, readonly string[]>> = {
  task: ['owner', 'full_id', 'context_id', 'status', 'snapshot_status', 'metadata', 'history', 'artifacts'],
  task_record: ['event', 'history', 'metadata'],
  execution: ['message', 'caller', 'checkpoint', 'cancel'],
  push_config: ['config', 'parked'],
  idempotency: ['full_task_id', 'reply', 'agent', 'tenant', 'owner'],
};

/**
 * The owners whose new data are refused, and the scopes of idempotency keys by their names: a key may have no task.
 * Keys of earlier versions have no names. They are found by the hash of their scope, or expire.
 */
const OWNER_SCHEMA: SchemaChange = {
  name: '0004',
  statements: ({ schema }) => [
    `CREATE TABLE ${schema}.owner_block (
      name text PRIMARY KEY, owner text, agent text, tenant text, until bigint NOT NULL
    )`,
    `ALTER TABLE ${schema}.idempotency ADD COLUMN agent text, ADD COLUMN tenant text, ADD COLUMN owner text`,
    // The planner keeps values of rows that are gone. The same type again removes them, and rewrites nothing.
    ...Object.entries(CONTENT).map(([table, columns]) => {
      const changes = columns.map((name) => `ALTER COLUMN ${name} TYPE text, ALTER COLUMN ${name} SET STATISTICS 0`);
      return `ALTER TABLE ${schema}.${table} ${changes.join(', ')}`;
    }),
  ],
};

/**
 * The version of a task. It grows with each change after which a decision about the task may be another one. Records of
 * a turn that goes on leave it as it is. Processes of earlier versions do not write it: a trigger does it for them.
 * They write a request to cancel into the table execution only. So during an upgrade, one of two requests at the same
 * time may lose its metadata.
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

/** The text that a failed delivery leaves for the spans of the next attempt. */
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
