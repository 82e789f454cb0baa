CREATE SCHEMA parley;
CREATE TABLE parley.schema_change (name varchar(255) NOT NULL PRIMARY KEY, timestamp varchar(255) NOT NULL);
CREATE TABLE parley.schema_lock (id varchar(255) NOT NULL PRIMARY KEY, is_locked integer DEFAULT 0 NOT NULL);
CREATE SEQUENCE "parley".number;
CREATE FUNCTION "parley".now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
      $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;
CREATE TABLE "parley".meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE "parley".node (
      node text PRIMARY KEY, agents text NOT NULL, running_turns integer NOT NULL,
      first_seen bigint NOT NULL, seen bigint NOT NULL
    );
CREATE UNLOGGED TABLE "parley".rate_window (
      key uuid PRIMARY KEY, asked bigint NOT NULL, ends bigint NOT NULL,
      requests integer NOT NULL, wanted integer NOT NULL, taken integer NOT NULL, granted integer NOT NULL
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
CREATE TABLE "parley".task (
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
  PRIMARY KEY (pk, part)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
CREATE TABLE "parley".task_record (
  task bigint NOT NULL,
  seq integer NOT NULL,
  turn integer NOT NULL,
  part smallint NOT NULL,
  event text NOT NULL,
  history text,
  metadata text,
  PRIMARY KEY (task, seq, part)
) WITH (fillfactor = 100);
CREATE TABLE "parley".execution (
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
  PRIMARY KEY (task, turn, part)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
CREATE TABLE "parley".push_config (
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
  PRIMARY KEY (task, id, part)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
CREATE TABLE "parley".idempotency (
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
  PRIMARY KEY (scope, key, part)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
CREATE TABLE "parley".task_count (
  scope uuid NOT NULL,
  tasks bigint NOT NULL,
  state smallint NOT NULL,
  part smallint NOT NULL,
  PRIMARY KEY (scope, state, part)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
CREATE TABLE "parley".task_count_change (
  scope uuid NOT NULL,
  tasks integer NOT NULL,
  from_state smallint,
  to_state smallint,
  part smallint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
CREATE UNIQUE INDEX task_id ON "parley".task (id, scope, part);
CREATE INDEX task_state ON "parley".task (scope, state, status_time);
CREATE INDEX task_context ON "parley".task (context, status_time) WHERE context IS NOT NULL;
CREATE INDEX task_created ON "parley".task (scope, created);
CREATE INDEX task_ended ON "parley".task (ended) WHERE ended IS NOT NULL;
CREATE INDEX task_log_ended ON "parley".task (log_ended, pk) WHERE log_ended IS NOT NULL;
CREATE INDEX task_interrupted ON "parley".task (status_time) WHERE state IN (6, 8);
CREATE INDEX execution_free ON "parley".execution (agent, ready, place) WHERE node IS NULL;
CREATE INDEX execution_lease ON "parley".execution (lease_end) WHERE node IS NOT NULL;
CREATE INDEX push_config_due ON "parley".push_config (agent, due) WHERE due IS NOT NULL;
CREATE INDEX push_config_place ON "parley".push_config (agent, place);
CREATE INDEX idempotency_expires ON "parley".idempotency (expires);
CREATE INDEX task_count_change_scope ON "parley".task_count_change (scope);
CREATE FUNCTION "parley".mark_due(of_task bigint, of_part smallint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        UPDATE "parley".push_config SET due = "parley".now_ms()
        WHERE task = of_task AND part = of_part AND due IS NULL AND parked IS NULL;
        RETURN FOUND;
      END $$;
