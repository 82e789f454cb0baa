import { type Retention, type Swept, sweepTimes } from 'parley-a2a/storage-engine';
import { forgetNodes } from './nodes.js';
import type { Sql, Tables } from './tables.js';

/** Only one process sweeps at a time. */
const LOCK: Sql = {
  name: 'sweep-lock',
  text: "SELECT pg_try_advisory_xact_lock(hashtext('parley.task'), 1) AS locked, parley.now_ms() AS now",
};

/** Corrects end times in the future, after a clock was ahead. */
const CLOCK_BACK: Sql = {
  name: 'sweep-clock',
  text: 'UPDATE parley.task SET ended = $1 WHERE ended > $1',
};

const KEYS: Sql = {
  name: 'sweep-keys',
  text: `WITH f AS MATERIALIZED (
      SELECT scope, key, part FROM parley.idempotency WHERE expires <= $1 ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED
    ),
    d AS (
      DELETE FROM parley.idempotency k USING f WHERE k.scope = f.scope AND k.key = f.key AND k.part = f.part RETURNING 1
    )
    SELECT count(*) AS removed FROM d`,
};

/** Deletes the oldest records of the tasks in `f`, within the limit. */
const REMOVE_RECORDS = `g AS (
      SELECT pk, part, seq, floor, bytes, least(seq, floor + $1 - (total - seq + floor - 1) - 1) AS upto
      FROM (SELECT *, sum(seq - floor + 1) OVER (ORDER BY log_ended, pk) AS total FROM f) f
      WHERE total - (seq - floor + 1) < $1
    ),
    d AS (
      DELETE FROM parley.task_record r USING g WHERE r.task = g.pk AND r.part = g.part AND r.seq <= g.upto
      RETURNING r.task, octet_length(r.event) + coalesce(octet_length(r.history), 0) + coalesce(octet_length(r.metadata), 0) AS bytes
    ),
    s AS (SELECT task, sum(bytes) AS bytes FROM d GROUP BY task),
    t AS (
      UPDATE parley.task t SET floor = g.upto + 1,
        bytes = CASE WHEN g.upto = g.seq THEN 0 ELSE greatest(0, t.bytes - s.bytes) END
      FROM g LEFT JOIN s ON s.task = g.pk WHERE t.pk = g.pk AND t.part = g.part
    )
    SELECT coalesce(sum(upto - floor + 1), 0)::bigint AS removed FROM g`;

// A pending delivery keeps the log of its task until the task is deleted.
const LOGS: Sql = {
  name: 'sweep-logs',
  text: `WITH f AS MATERIALIZED (
      SELECT pk, part, seq, floor, bytes, log_ended FROM parley.task t
      WHERE log_ended < $2 AND (ended < $3 OR NOT pushes OR NOT EXISTS (
        SELECT FROM parley.push_config c WHERE c.task = t.pk AND c.part = t.part AND c.due IS NOT NULL
      ))
      ORDER BY log_ended, pk LIMIT $1 FOR UPDATE SKIP LOCKED
    ),
    ${REMOVE_RECORDS}`,
};

const LOG_BYTES: Sql = {
  name: 'log-bytes',
  text: 'SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM parley.task WHERE log_ended IS NOT NULL',
};
/** Selects the logs of the earliest finished tasks, until the others are within the limit of bytes. */
const LARGE_LOGS: Sql = {
  name: 'sweep-large-logs',
  text: `WITH o AS MATERIALIZED (
      SELECT pk, part, seq, floor, bytes, log_ended FROM parley.task WHERE log_ended IS NOT NULL
      ORDER BY log_ended, pk LIMIT $1 FOR UPDATE SKIP LOCKED
    ),
    f AS (
      SELECT * FROM (SELECT *, sum(bytes) OVER (ORDER BY log_ended, pk) - bytes AS before FROM o) o WHERE before < $2::bigint
    ),
    ${REMOVE_RECORDS}`,
};

const TASKS: Sql = {
  name: 'sweep-tasks',
  text: `WITH f AS MATERIALIZED (
      SELECT pk, part FROM parley.task WHERE ended < $1 ORDER BY ended LIMIT $2 FOR UPDATE SKIP LOCKED
    ),
    t AS (
      DELETE FROM parley.task t USING f WHERE t.pk = f.pk AND t.part = f.part RETURNING t.scope, t.state, t.part
    ),
    r AS (DELETE FROM parley.task_record r USING f WHERE r.task = f.pk AND r.part = f.part),
    e AS (DELETE FROM parley.execution e USING f WHERE e.task = f.pk AND e.part = f.part),
    p AS (DELETE FROM parley.push_config p USING f WHERE p.task = f.pk AND p.part = f.part),
    c AS (
      INSERT INTO parley.task_count_change (scope, tasks, from_state, to_state, part)
      SELECT scope, count(*), state, NULL, part FROM t GROUP BY scope, state, part
    )
    SELECT count(*) AS removed FROM t`,
};

/** Adds changes of counters to the sums. */
const FOLD: Sql = {
  name: 'fold-counts',
  text: `WITH f AS MATERIALIZED (
      SELECT ctid, tableoid FROM parley.task_count_change LIMIT $1 FOR UPDATE SKIP LOCKED
    ),
    d AS (
      DELETE FROM parley.task_count_change c USING f WHERE c.ctid = f.ctid AND c.tableoid = f.tableoid
      RETURNING c.scope, c.part, c.tasks, c.from_state, c.to_state
    ),
    s AS (
      SELECT scope, part, state, sum(tasks) AS tasks FROM (
        SELECT scope, part, to_state AS state, tasks FROM d WHERE to_state IS NOT NULL
        UNION ALL SELECT scope, part, from_state, -tasks FROM d WHERE from_state IS NOT NULL
      ) changes GROUP BY scope, part, state
    ),
    w AS (
      INSERT INTO parley.task_count AS c (scope, part, state, tasks) SELECT scope, part, state, tasks FROM s
      ON CONFLICT (scope, state, part) DO UPDATE SET tasks = c.tasks + excluded.tasks
    )
    SELECT count(*) AS folded FROM d`,
};
/** Maximum number of changes in one transaction. */
const FOLDED = 20_000;

/**
 * Adds changes of counters to the sums, unless another process does. Returns true if there are more. Must run in a
 * transaction.
 */
export async function foldCounts(tables: Tables): Promise<boolean> {
  const [held] = await tables.query<{ readonly locked: boolean }>(LOCK);
  if (held?.locked !== true) return false;
  const [row] = await tables.query<{ readonly folded: number }>(FOLD, FOLDED);
  return row?.folded === FOLDED;
}

/** Deletes rows past their retention. Does nothing while another process sweeps. Must run in a transaction. */
export async function sweepOnce(
  tables: Tables,
  retention: Retention,
  eventLogBytes: number | undefined,
): Promise<Swept> {
  const [held] = await tables.query<{ readonly locked: boolean; readonly now: number }>(LOCK);
  if (held?.locked !== true) return { tasks: 0, records: 0, keys: 0, more: false };
  const { now } = held;
  await forgetNodes(tables);
  await tables.query(CLOCK_BACK, now);
  const { limit } = retention;
  const { finishedBefore, logsBefore } = sweepTimes(retention, now);
  const remove = async (sql: Sql, ...values: readonly number[]) =>
    (await tables.query<{ readonly removed: number }>(sql, ...values))[0]?.removed ?? 0;
  const keys = await remove(KEYS, now, limit);
  let records = keys < limit ? await remove(LOGS, limit - keys, logsBefore, finishedBefore) : 0;
  if (eventLogBytes !== undefined && keys + records < limit) {
    const [kept] = await tables.query<{ readonly bytes: number }>(LOG_BYTES);
    const excess = (kept?.bytes ?? 0) - eventLogBytes;
    if (excess > 0) records += await remove(LARGE_LOGS, limit - keys - records, excess);
  }
  const left = limit - keys - records;
  const tasks = left > 0 ? await remove(TASKS, finishedBefore, left) : 0;
  return { tasks, records, keys, more: keys + records + tasks >= limit };
}
