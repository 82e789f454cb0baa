import { INTERRUPTED_STATES, PARTITIONS } from 'parley-a2a/storage-engine';
import type { SchemaChange, SchemaPlace } from './schema.js';

// The layout of the tables. In statements, the schema `parley` stands for the configured one.
// - `part` is the partition of a scope (`store/partition.ts`). Each key contains it, so that a table can be partitioned
//   by ranges of it. A statement gives it with each row, so that PostgreSQL reads one partition only.
// - `scope` is a hash of agent, tenant and owner, `context` one of scope and context id (`stored-names.ts`). This keeps
//   the indexes of lists small, and needs no table of scopes.
// - `id` of a task and of a push configuration and `key` of a message are index forms of the callers' texts. `full_id`
//   has the id of a task if its index form is a hash.
// - JSON columns are `text`, not `jsonb`, so that the exact text is returned.
// - Times are ms since the epoch by `now_ms()`. `status_time` is the time in the status of the task.
// - A chunk of an artifact changes no indexed column, so that its update stays within the page (HOT). A change of
//   `state` changes three indexes.
const TASK = `
  pk bigint NOT NULL,
  -- Sum of the lengths of the records.
  bytes bigint NOT NULL,
  status_time bigint NOT NULL,
  created bigint NOT NULL,
  -- The time at which the task reached a terminal state.
  ended bigint,
  -- The same as long as the log is kept.
  log_ended bigint GENERATED ALWAYS AS (CASE WHEN floor <= seq THEN ended END) STORED,
  scope uuid NOT NULL,
  context uuid,
  -- The numbers of the last record, and of the first one that is still kept.
  seq integer NOT NULL,
  floor integer NOT NULL,
  epoch integer NOT NULL,
  -- The turn that a node holds, 0 if there is none. Its lease stands in the table execution.
  held integer NOT NULL,
  -- The turn that was accepted last, the number of turns that wait or run, and the last turn that wrote a record.
  turns integer NOT NULL,
  queued integer NOT NULL,
  began integer NOT NULL,
  -- The record at which history and artifacts stand. 0: there is no snapshot, and the first record has the task.
  snapshot_seq integer NOT NULL,
  part smallint NOT NULL,
  -- The number of the state in the protocol, and that of the state before the last write.
  state smallint NOT NULL,
  earlier_state smallint NOT NULL,
  -- True if the task has a push configuration.
  pushes boolean NOT NULL,
  agent text NOT NULL,
  tenant text NOT NULL,
  owner text,
  id text COLLATE "C" NOT NULL,
  full_id text,
  context_id text,
  status text NOT NULL,
  -- The status at the record of the snapshot, if another one may follow.
  snapshot_status text,
  metadata text,
  history text,
  artifacts text,
  PRIMARY KEY (pk, part)`;

const TASK_RECORD = `
  task bigint NOT NULL,
  seq integer NOT NULL,
  turn integer NOT NULL,
  part smallint NOT NULL,
  event text NOT NULL,
  history text,
  metadata text,
  PRIMARY KEY (task, seq, part)`;

// A waiting or running turn. `ready`: the first turn of its task, held by no node. `epoch`, `node` and `lease_end` are
// those of the lease; `node` is null if no node holds the turn. `place` increases with each turn.
const EXECUTION = `
  task bigint NOT NULL,
  place bigint NOT NULL,
  lease_end bigint NOT NULL,
  turn integer NOT NULL,
  epoch integer NOT NULL,
  attempt integer NOT NULL,
  hand_overs integer NOT NULL,
  part smallint NOT NULL,
  ready boolean NOT NULL,
  agent text NOT NULL,
  node text,
  message text NOT NULL,
  caller text NOT NULL,
  checkpoint text,
  cancel text,
  PRIMARY KEY (task, turn, part)`;

// A push configuration and its delivery queue. `place` increases with each configuration. `due` is set if and only if
// records are pending and the queue is not parked.
const PUSH_CONFIG = `
  task bigint NOT NULL,
  place bigint NOT NULL,
  due bigint,
  epoch bigint NOT NULL,
  lease_end bigint,
  position integer NOT NULL,
  attempts integer NOT NULL,
  last_status integer,
  part smallint NOT NULL,
  agent text NOT NULL,
  id text COLLATE "C" NOT NULL,
  node text,
  parked text,
  config text NOT NULL,
  PRIMARY KEY (task, id, part)`;

// A key with its outcome: a task and a turn, or a reply. A key with a lease end is reserved by its node.
const IDEMPOTENCY = `
  scope uuid NOT NULL,
  expires bigint NOT NULL,
  lease_end bigint,
  turn integer,
  part smallint NOT NULL,
  key text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  task_id text COLLATE "C",
  full_task_id text,
  reply text,
  node text,
  PRIMARY KEY (scope, key, part)`;

// Number of tasks by scope and state: sums, and later changes. A change adds `tasks` to one state and subtracts them
// from another. A null state means that the tasks were created or deleted. Writers only insert changes, so that they
// never wait for each other. A sweep adds the changes to the sums.
const TASK_COUNT = `
  scope uuid NOT NULL,
  tasks bigint NOT NULL,
  state smallint NOT NULL,
  part smallint NOT NULL,
  PRIMARY KEY (scope, state, part)`;
const TASK_COUNT_CHANGE = `
  scope uuid NOT NULL,
  tasks integer NOT NULL,
  from_state smallint,
  to_state smallint,
  part smallint NOT NULL`;

const INDEXES = [
  // Lookups of a task compare its scope by IS NOT DISTINCT FROM, which uses no index. So PostgreSQL cannot choose one
  // of the indexes below and read all tasks of the scope.
  'CREATE UNIQUE INDEX task_id ON parley.task (id, scope, part)',
  // Lists by state; a list of all states merges them. Rows with equal times are sorted by id when they are read.
  'CREATE INDEX task_state ON parley.task (scope, state, status_time)',
  'CREATE INDEX task_context ON parley.task (context, status_time) WHERE context IS NOT NULL',
  'CREATE INDEX task_created ON parley.task (scope, created)',
  'CREATE INDEX task_ended ON parley.task (ended) WHERE ended IS NOT NULL',
  'CREATE INDEX task_log_ended ON parley.task (log_ended, pk) WHERE log_ended IS NOT NULL',
  `CREATE INDEX task_interrupted ON parley.task (status_time) WHERE state IN (${INTERRUPTED_STATES.join(', ')})`,
  'CREATE INDEX execution_free ON parley.execution (agent, ready, place) WHERE node IS NULL',
  'CREATE INDEX execution_lease ON parley.execution (lease_end) WHERE node IS NOT NULL',
  'CREATE INDEX push_config_due ON parley.push_config (agent, due) WHERE due IS NOT NULL',
  'CREATE INDEX push_config_place ON parley.push_config (agent, place)',
  'CREATE INDEX idempotency_expires ON parley.idempotency (expires)',
  'CREATE INDEX task_count_change_scope ON parley.task_count_change (scope)',
];

const VACUUM = 'autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05';
/** Reserves space for new versions of rows within their page. */
const UPDATED = `fillfactor = 70, ${VACUUM}`;

/** The first version of the tables. */
export const FIRST_SCHEMA: SchemaChange = {
  name: '0001',
  statements: (place) => statementsFor(place).map((text) => text.replaceAll('parley.', `${place.schema}.`)),
};

function statementsFor(place: SchemaPlace): readonly string[] {
  return [
    'CREATE SEQUENCE parley.number',
    // The clock of the storage: all times come from it.
    `CREATE FUNCTION parley.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
      $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$`,
    'CREATE TABLE parley.meta (name text PRIMARY KEY, value text NOT NULL)',
    `CREATE TABLE parley.node (
      node text PRIMARY KEY, agents text NOT NULL, running_turns integer NOT NULL,
      first_seen bigint NOT NULL, seen bigint NOT NULL
    )`,
    // Windows of rates. Unlogged, because they may be lost.
    `CREATE UNLOGGED TABLE parley.rate_window (
      key uuid PRIMARY KEY, asked bigint NOT NULL, ends bigint NOT NULL,
      requests integer NOT NULL, wanted integer NOT NULL, taken integer NOT NULL, granted integer NOT NULL
    ) WITH (${UPDATED})`,
    ...tableOf('task', TASK, UPDATED, place),
    ...tableOf('task_record', TASK_RECORD, 'fillfactor = 100', place),
    ...tableOf('execution', EXECUTION, UPDATED, place),
    ...tableOf('push_config', PUSH_CONFIG, UPDATED, place),
    ...tableOf('idempotency', IDEMPOTENCY, VACUUM, place),
    ...tableOf('task_count', TASK_COUNT, UPDATED, place),
    ...tableOf('task_count_change', TASK_COUNT_CHANGE, VACUUM, place),
    ...INDEXES,
    // A function, so that an append calls it after it has locked its task. An update in the same statement would see
    // the queues as of the start of the statement, before that lock.
    `CREATE FUNCTION parley.mark_due(of_task bigint, of_part smallint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        UPDATE parley.push_config SET due = parley.now_ms()
        WHERE task = of_task AND part = of_part AND due IS NULL AND parked IS NULL;
        RETURN FOUND;
      END $$`,
  ];
}

function tableOf(name: string, columns: string, storage: string, { partitions }: SchemaPlace): readonly string[] {
  const table = `CREATE TABLE parley.${name} (${columns}\n)`;
  if (partitions === 1) return [`${table} WITH (${storage})`];
  const parts = Array.from({ length: partitions }, (_, number) => {
    const from = Math.floor((number * PARTITIONS) / partitions);
    const to = Math.floor(((number + 1) * PARTITIONS) / partitions);
    return `CREATE TABLE parley.${name}_${number} PARTITION OF parley.${name}
      FOR VALUES FROM (${from}) TO (${to}) WITH (${storage})`;
  });
  return [`${table} PARTITION BY RANGE (part)`, ...parts];
}
