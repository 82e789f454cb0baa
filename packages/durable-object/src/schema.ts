import { isInterrupted, StorageError, TASK_STATES } from 'parley-a2a/storage-engine';
import type { ObjectSql } from './object-context.js';

/** The version of the tables. A newer version is refused. */
export const SCHEMA_VERSION = 2;

/** The condition of the index of tasks that wait for their caller. */
export const IS_INTERRUPTED = `state IN (${TASK_STATES.filter(isInterrupted)
  .map((state) => `'${state}'`)
  .join(', ')})`;

/** Columns with JSON, which may refer to a long text. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  task: ['status', 'metadata'],
  snapshot: ['task_text'],
  record: ['event', 'history', 'metadata'],
  turn: ['message', 'caller', 'checkpoint', 'cancel'],
  push_queue: ['config'],
  message_key: ['reply'],
};

/**
 * Times are ms since the epoch. `first_place`: the place of the first waiting or running turn. A held turn is the first
 * one. `snapshot`: the whole task after a record. Without it, the first record contains the task.
 */
const TABLES = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE scope (pk INTEGER PRIMARY KEY, agent TEXT NOT NULL, tenant TEXT NOT NULL, owner TEXT);
CREATE INDEX scope_name ON scope (agent, tenant, owner);

CREATE TABLE task (
  pk INTEGER PRIMARY KEY, scope INTEGER NOT NULL, id TEXT NOT NULL, context_id TEXT,
  state TEXT NOT NULL, status_time INTEGER NOT NULL, created INTEGER NOT NULL, ended INTEGER,
  status TEXT NOT NULL, metadata TEXT,
  seq INTEGER NOT NULL, floor INTEGER NOT NULL, log_bytes INTEGER NOT NULL,
  epoch INTEGER NOT NULL, turns INTEGER NOT NULL, began INTEGER NOT NULL,
  first_place INTEGER, held_turn INTEGER, held_node TEXT, lease_end INTEGER
);
CREATE UNIQUE INDEX task_id ON task (scope, id);
CREATE INDEX task_status ON task (scope, status_time, id);
CREATE INDEX task_state ON task (scope, state, status_time, id);
CREATE INDEX task_context ON task (scope, context_id, status_time, id) WHERE context_id IS NOT NULL;
CREATE INDEX task_created ON task (scope, created, id);
CREATE INDEX task_turns ON task (first_place) WHERE first_place IS NOT NULL;
CREATE INDEX task_ended ON task (ended) WHERE ended IS NOT NULL;
CREATE INDEX task_log ON task (ended, log_bytes) WHERE ended IS NOT NULL AND floor <= seq;
CREATE INDEX task_interrupted ON task (status_time) WHERE ${IS_INTERRUPTED};

CREATE TABLE snapshot (task INTEGER PRIMARY KEY, seq INTEGER NOT NULL, task_text TEXT NOT NULL);
CREATE TABLE record (
  task INTEGER, seq INTEGER, turn INTEGER NOT NULL, bytes INTEGER NOT NULL,
  event TEXT NOT NULL, history TEXT, metadata TEXT, PRIMARY KEY (task, seq)
) WITHOUT ROWID;
CREATE TABLE turn (
  task INTEGER, turn INTEGER, place INTEGER NOT NULL, attempts INTEGER NOT NULL, hand_overs INTEGER NOT NULL,
  message TEXT NOT NULL, caller TEXT NOT NULL, checkpoint TEXT, cancel TEXT, PRIMARY KEY (task, turn)
) WITHOUT ROWID;

CREATE TABLE push_queue (
  pk INTEGER PRIMARY KEY, task INTEGER NOT NULL, config_id TEXT NOT NULL, config TEXT NOT NULL,
  position INTEGER NOT NULL, due INTEGER, attempts INTEGER NOT NULL, http_status INTEGER, parked TEXT,
  epoch INTEGER NOT NULL, node TEXT, lease_end INTEGER, trace TEXT
);
CREATE UNIQUE INDEX push_queue_config ON push_queue (task, config_id);
CREATE INDEX push_queue_due ON push_queue (due) WHERE due IS NOT NULL;

CREATE TABLE message_key (
  scope INTEGER, key TEXT, digest TEXT NOT NULL, expires INTEGER NOT NULL, lasting INTEGER NOT NULL,
  bytes INTEGER NOT NULL, task TEXT, turn INTEGER, reply TEXT, node TEXT, lease_end INTEGER,
  PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE INDEX message_key_expires ON message_key (lasting, expires);

CREATE TABLE long_text (id INTEGER, part INTEGER, text TEXT NOT NULL, PRIMARY KEY (id, part)) WITHOUT ROWID;
`;

/** Returns the triggers that delete the long texts of a column when its row is deleted or gets another value. */
function triggersOf([table, columns]: readonly [table: string, columns: readonly string[]]): string {
  return columns
    .map((column) => {
      const drop = `BEGIN DELETE FROM long_text WHERE id = CAST(substr(OLD.${column}, 2) AS INTEGER); END;`;
      const isLong = `OLD.${column} GLOB '~*'`;
      return `CREATE TRIGGER ${table}_${column}_gone AFTER DELETE ON ${table} WHEN ${isLong} ${drop}
        CREATE TRIGGER ${table}_${column}_changed AFTER UPDATE OF ${column} ON ${table}
        WHEN ${isLong} AND OLD.${column} IS NOT NEW.${column} ${drop}`;
    })
    .join('\n');
}

/** The statement at index n migrates the tables of version n + 1 to the next version. */
const MIGRATIONS = ['ALTER TABLE push_queue ADD COLUMN trace TEXT;'] as const;

/**
 * Creates the tables in an empty object, or migrates those of an older version.
 * @throws StorageError for an object with tables of a newer version.
 */
export function prepareSchema(sql: ObjectSql): void {
  sql.transaction(() => {
    const known = sql.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'") !== undefined;
    const meta = known ? sql.get<{ value: number }>("SELECT value FROM meta WHERE name = 'schema'") : undefined;
    if (meta === undefined) {
      sql.run(`${TABLES}${Object.entries(TEXTS).map(triggersOf).join('\n')}`);
      sql.run("INSERT INTO meta VALUES ('schema', ?)", SCHEMA_VERSION);
    } else if (meta.value < SCHEMA_VERSION) {
      sql.run(MIGRATIONS.slice(meta.value - 1).join('\n'));
      sql.run("UPDATE meta SET value = ? WHERE name = 'schema'", SCHEMA_VERSION);
    } else if (meta.value > SCHEMA_VERSION) {
      throw new StorageError(
        `The Durable Object has tables of version ${meta.value}, and this package knows ${SCHEMA_VERSION}: deploy a newer one`,
      );
    }
  });
}
