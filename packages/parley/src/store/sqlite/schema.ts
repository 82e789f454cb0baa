import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../errors/storage-error.js';
import { INTERRUPTED_STATES } from '../state-numbers.js';
import { keyNumber } from './key-numbers.js';

/** The version of the tables below; a file with a newer one is refused. */
export const SCHEMA_VERSION = 13;

/**
 * The cost of a commit is its number of changed pages. So the indexes of lists contain numbers for agents, scopes and
 * contexts. Rows keep their size when a task changes, and the rows of a task are adjacent. States are the numbers of
 * the protocol. A context with one task has no row and no number: most contexts never have more.
 */
const TABLES = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE agent (pk INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE scope (pk INTEGER PRIMARY KEY, agent INTEGER NOT NULL, tenant TEXT NOT NULL, owner TEXT) STRICT;
CREATE INDEX scope_name ON scope (agent, tenant, owner);
CREATE TABLE context (
  scope INTEGER, id TEXT, number INTEGER NOT NULL, tasks INTEGER NOT NULL, PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;

-- context: NULL for a task that is or was alone in its context.
-- status and metadata are those of the last record. The rest of the task follows from its snapshot, or from its first
-- record, and the records behind it. A task that has ended has a snapshot of its last record. bytes: about what its
-- records take.
CREATE TABLE task (
  pk INTEGER PRIMARY KEY, agent INTEGER NOT NULL, id TEXT NOT NULL, scope INTEGER NOT NULL,
  context INTEGER, context_id TEXT,
  state INTEGER NOT NULL, status_time INTEGER NOT NULL, created INTEGER NOT NULL,
  seq INTEGER NOT NULL, floor INTEGER NOT NULL, epoch INTEGER NOT NULL, turns INTEGER NOT NULL,
  held INTEGER, node TEXT, lease_end INTEGER, began INTEGER NOT NULL, ended INTEGER,
  status TEXT NOT NULL, metadata TEXT, bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX task_id ON task (id, scope);
CREATE INDEX task_state ON task (scope, state, status_time, id);
CREATE INDEX task_context ON task (context, state, status_time, id) WHERE context IS NOT NULL;
CREATE INDEX task_alone ON task (scope, context_id) WHERE context IS NULL AND context_id IS NOT NULL;
CREATE INDEX task_created ON task (scope, created, id);
CREATE INDEX task_ended ON task (ended, bytes) WHERE ended IS NOT NULL;
CREATE INDEX task_interrupted ON task (status_time) WHERE state IN (${INTERRUPTED_STATES.join(', ')});
CREATE TABLE task_count (scope INTEGER, state INTEGER, tasks INTEGER NOT NULL, PRIMARY KEY (scope, state)) STRICT, WITHOUT ROWID;

-- key: see record-keys.ts; the other columns: record-rows.ts.
CREATE TABLE task_record (
  key INTEGER PRIMARY KEY, turn INTEGER NOT NULL, event TEXT NOT NULL, history TEXT, metadata TEXT
) STRICT;
CREATE TABLE snapshot (
  task INTEGER PRIMARY KEY, seq INTEGER NOT NULL, status TEXT NOT NULL, metadata TEXT, history TEXT, artifacts TEXT
) STRICT;

-- A turn that waits (ready = 1: the next one of its task, which nobody runs) or runs (task.held).
-- place: see rules/turn-place.ts. attempt: how often its agent has begun.
CREATE TABLE execution (
  task INTEGER, turn INTEGER, place INTEGER NOT NULL, ready INTEGER NOT NULL, attempt INTEGER NOT NULL,
  message TEXT NOT NULL, caller TEXT NOT NULL, checkpoint TEXT, cancel TEXT, hand_overs INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (task, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX execution_ready ON execution (place) WHERE ready = 1;

CREATE TABLE push_config (
  task INTEGER, id TEXT, config TEXT NOT NULL, PRIMARY KEY (task, id)
) STRICT, WITHOUT ROWID;
-- The queue of deliveries of each push configuration. Records after position are pending. due: if they are and the queue
-- is not parked, the time of the next attempt.
CREATE TABLE push_delivery (
  pk INTEGER PRIMARY KEY, task INTEGER NOT NULL, agent INTEGER NOT NULL, config TEXT NOT NULL,
  position INTEGER NOT NULL, due INTEGER, attempts INTEGER NOT NULL, status INTEGER, parked TEXT,
  epoch INTEGER NOT NULL, node TEXT, lease_end INTEGER, trace TEXT
) STRICT;
CREATE UNIQUE INDEX push_delivery_config ON push_delivery (task, config);
CREATE INDEX push_delivery_due ON push_delivery (due) WHERE due IS NOT NULL;
-- pk: see key-numbers.ts.
CREATE TABLE idempotency (
  pk INTEGER PRIMARY KEY, scope INTEGER NOT NULL, key TEXT NOT NULL, expires INTEGER NOT NULL, digest TEXT NOT NULL,
  task TEXT, turn INTEGER, reply TEXT, node TEXT, lease_end INTEGER, lasting INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX idempotency_key ON idempotency (scope, key);
`;

/** The statement at index n migrates a file of version n + 1 to the next version. */
const MIGRATIONS = [
  `ALTER TABLE task ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE task SET bytes = (SELECT coalesce(sum(octet_length(event) + coalesce(octet_length(history), 0)
    + coalesce(octet_length(metadata), 0)), 0) FROM task_record WHERE task_record.task = task.pk);
  DROP INDEX task_ended;
  CREATE INDEX task_ended ON task (ended, bytes) WHERE ended IS NOT NULL;`,
  `ALTER TABLE task_record RENAME TO task_record_2;
  CREATE TABLE task_record (
    key INTEGER PRIMARY KEY, turn INTEGER NOT NULL, event TEXT NOT NULL, history TEXT, metadata TEXT
  ) STRICT;
  INSERT INTO task_record SELECT (task << 31) | seq, turn, event, history, metadata FROM task_record_2 ORDER BY task, seq;
  DROP TABLE task_record_2;`,
  'ALTER TABLE execution ADD COLUMN hand_overs INTEGER NOT NULL DEFAULT 0;',
  // Keys live for minutes: existing ones are dropped.
  `DROP TABLE idempotency;
  CREATE TABLE idempotency (
    scope INTEGER, key TEXT, expires INTEGER NOT NULL, digest TEXT NOT NULL, task TEXT, turn INTEGER, reply TEXT,
    PRIMARY KEY (scope, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_expires ON idempotency (expires);`,
  'DROP INDEX task_id; CREATE UNIQUE INDEX task_id ON task (id, scope);',
  'ALTER TABLE idempotency ADD COLUMN node TEXT; ALTER TABLE idempotency ADD COLUMN lease_end INTEGER;',
  // Earlier versions stored no deliveries: queues begin after the existing records.
  `CREATE TABLE push_delivery (
    pk INTEGER PRIMARY KEY, task INTEGER NOT NULL, agent INTEGER NOT NULL, config TEXT NOT NULL,
    position INTEGER NOT NULL, due INTEGER, attempts INTEGER NOT NULL, status INTEGER, parked TEXT,
    epoch INTEGER NOT NULL, node TEXT, lease_end INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX push_delivery_config ON push_delivery (task, config);
  CREATE INDEX push_delivery_due ON push_delivery (due) WHERE due IS NOT NULL;
  INSERT INTO push_delivery SELECT NULL, c.task, t.agent, c.id, t.seq, NULL, 0, NULL, NULL, 0, NULL, NULL
    FROM push_config c JOIN task t ON t.pk = c.task;`,
  // From this version on, a row may have several records. Rows with one record are unchanged.
  '',
  'CREATE INDEX task_alone ON task (scope, context_id) WHERE context IS NULL AND context_id IS NOT NULL;',
  `ALTER TABLE idempotency ADD COLUMN lasting INTEGER NOT NULL DEFAULT 0;
  DROP INDEX idempotency_expires;
  CREATE INDEX idempotency_expires ON idempotency (expires) WHERE lasting = 0;
  CREATE INDEX idempotency_lasting ON idempotency (expires) WHERE lasting = 1;`,
  'ALTER TABLE push_delivery ADD COLUMN trace TEXT;',
  `ALTER TABLE idempotency RENAME TO idempotency_12;
  CREATE TABLE idempotency (
    pk INTEGER PRIMARY KEY, scope INTEGER NOT NULL, key TEXT NOT NULL, expires INTEGER NOT NULL, digest TEXT NOT NULL,
    task TEXT, turn INTEGER, reply TEXT, node TEXT, lease_end INTEGER, lasting INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO idempotency
    SELECT ${keyNumber('lasting', 'expires', 'row_number() OVER (PARTITION BY lasting)')}, scope, key, expires,
      digest, task, turn, reply, node, lease_end, lasting FROM idempotency_12;
  DROP TABLE idempotency_12;
  CREATE UNIQUE INDEX idempotency_key ON idempotency (scope, key);`,
] as const;

/**
 * Creates the tables in an empty file. In any other file, checks that the tables belong to Parley, and migrates an
 * older version. Runs in one transaction.
 * @throws StorageError for a file of another program or of a newer version.
 */
export function prepareSchema(db: DatabaseSync): void {
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
  if (tables.length === 0) {
    change(db, TABLES);
    return;
  }
  const known = ['meta', 'task', 'task_record', 'execution'].every((name) =>
    tables.some((table) => table.name === name),
  );
  if (!known) throw new StorageError('it is a database of something else: name another file');
  const row = db.prepare("SELECT value FROM meta WHERE name = 'schema'").get() as { value: string } | undefined;
  const version = Number(row?.value);
  if (version > SCHEMA_VERSION) {
    throw new StorageError(
      `a newer version wrote it (schema ${version}, this version knows ${SCHEMA_VERSION}): run that version or a newer one`,
    );
  }
  if (!(version >= 1)) throw new StorageError(`its schema is unknown (${row?.value}): name another file`);
  if (version < SCHEMA_VERSION) change(db, MIGRATIONS.slice(version - 1).join('\n'));
}

/** Changes the tables, and sets the version, in one transaction. */
function change(db: DatabaseSync, sql: string): void {
  db.exec('BEGIN IMMEDIATE');
  db.exec(sql);
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('schema', ?)").run(String(SCHEMA_VERSION));
  db.exec('COMMIT');
}
