import { ADDED_FIELDS, CHANGE_FIELDS, type PreparedChange, RECORD_FIELDS, TURN_FIELDS } from './prepared-change.js';
import { isBlocked } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** The answer to a committed change: the time of the statement, and whether a delivery became due. */
export interface Changed {
  /** The last record of the task, and the last turn with a record. */
  readonly seq: number;
  readonly began: number;
  readonly now: number;
  readonly isDue: boolean;
}

const IS_AS_BEFORE = 't.version = i.version AND (i.after IS NULL OR t.seq = i.after)';

/** The parts of the statement for changes of turns. Most appends have none. */
const TURNS = {
  fields: `, ${ADDED_FIELDS}`,
  condition: `
      WHERE i.adds IS NULL OR NOT ${isBlocked('i.agent', 'i.tenant', 'i.owner')}`,
  // Uses the newest version of the row, so that a turn that writes continuously blocks no other change.
  found: `t.pk = ANY (ARRAY(SELECT pk FROM f)) AND t.part = i.part AND t.pk = i.pk AND ${IS_AS_BEFORE}`,
  returned: ', i.changed, i.adds, i.attempt, i.ready, i.message, i.caller, i.node, i.lease_ms',
  writes: `,
    u AS (
      UPDATE parley.execution e SET
        ready = coalesce(c.ready, e.ready),
        epoch = CASE WHEN c.ready THEN 0 WHEN NOT c.ready THEN t.epoch ELSE e.epoch END,
        node = CASE WHEN c.ready IS NULL THEN e.node ELSE c.node END,
        lease_end = CASE WHEN c.ready THEN 0 WHEN NOT c.ready THEN t.now + c.lease_ms ELSE e.lease_end END,
        attempt = coalesce(c.attempt, e.attempt), hand_overs = e.hand_overs + coalesce(c.hand_overs, 0),
        checkpoint = coalesce(c.checkpoint, e.checkpoint), cancel = coalesce(c.cancel, e.cancel)
      FROM t, json_to_recordset(t.changed) AS c(${TURN_FIELDS})
      WHERE e.task = ANY (ARRAY(SELECT pk FROM t WHERE changed IS NOT NULL)) AND e.task = t.pk AND e.part = t.part
        AND e.turn = c.turn
    ),
    a AS (
      INSERT INTO parley.execution (task, part, agent, turn, place, attempt, hand_overs, message, caller, ready, node,
        epoch, lease_end)
      SELECT pk, part, agent, adds, nextval('parley.number'), attempt, 0, message, caller, ready, node,
        CASE WHEN node IS NULL THEN 0 ELSE epoch END, coalesce(now + lease_ms, 0)
      FROM t WHERE adds IS NOT NULL
    )`,
};
const NO_TURNS = { fields: '', condition: '', found: 't.part = i.part AND t.ctid = i.place', returned: '', writes: '' };

/**
 * Changes tasks whose heads have not changed. It contains no rules: it compares the version of each task, for an append
 * also the last record, and checks whether the owner is blocked. An append finds the row of its task by its physical
 * place (ctid). If another transaction has written the row since the statement began, the row has another place, and
 * the change is refused.
 * The lateral query and the arrays make PostgreSQL look each task up by an index, whatever the tables contained when
 * the statement was planned.
 */
function changeSql({ name, withTurns }: { readonly name: string; readonly withTurns: boolean }): Sql {
  const turns = withTurns ? TURNS : NO_TURNS;
  return {
    name,
    text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now),
    i AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS i(${CHANGE_FIELDS}${turns.fields})),
    f AS MATERIALIZED (
      SELECT i.*, o.place FROM i CROSS JOIN LATERAL (
        SELECT t.ctid AS place FROM parley.task t
        WHERE t.part = i.part AND t.pk = i.pk AND ${IS_AS_BEFORE} LIMIT 1
      ) o${turns.condition}
    ),
    t AS (
      UPDATE parley.task t SET
        version = CASE WHEN i.stays THEN t.version ELSE t.version + 1 END, seq = coalesce(i.seq, t.seq),
        epoch = i.epoch, turns = i.turns, began = coalesce(i.began, t.began),
        held = coalesce(i.held, t.held), queued = i.queued, bytes = t.bytes + coalesce(i.bytes, 0),
        state = coalesce(i.state, t.state), earlier_state = t.state,
        status_time = coalesce(i.status_time, t.status_time), status = coalesce(i.status, t.status),
        metadata = CASE WHEN i.state IS NULL THEN t.metadata ELSE i.metadata END,
        ended = CASE WHEN i.ends THEN now ELSE t.ended END,
        snapshot_seq = CASE WHEN i.snap THEN i.seq ELSE t.snapshot_seq END,
        snapshot_status = CASE WHEN i.ends THEN NULL WHEN i.snap THEN i.status ELSE t.snapshot_status END,
        history = CASE WHEN i.snap THEN i.history ELSE t.history END,
        artifacts = CASE WHEN i.snap THEN i.artifacts ELSE t.artifacts END
      FROM f i, clock
      WHERE ${turns.found}
      RETURNING i.n, now, t.pk, t.part, t.scope, t.agent, t.seq, t.began, t.epoch, t.state, t.earlier_state, t.pushes,
        i.count, i.drops, i.records${turns.returned}
    ),
    r AS (
      INSERT INTO parley.task_record (task, seq, turn, part, event, history, metadata)
      SELECT t.pk, r.q, r.t, t.part, r.e, r.h, r.m FROM t, json_to_recordset(t.records) AS r(${RECORD_FIELDS})
    ),
    d AS (
      DELETE FROM parley.execution e
      WHERE e.task = ANY (ARRAY(SELECT pk FROM t WHERE drops IS NOT NULL)) AND e.part = ANY (ARRAY(SELECT part FROM t))
        AND EXISTS (SELECT FROM t WHERE t.pk = e.task AND (t.drops = 0 OR e.turn = t.drops))
    )${turns.writes},
    s AS (
      INSERT INTO parley.task_count_change
      SELECT scope, count(*), earlier_state, state, part FROM t WHERE state <> earlier_state
      GROUP BY scope, earlier_state, state, part
    )
    SELECT n, now, seq, began,
      CASE WHEN pushes AND count > 0 THEN parley.mark_due(pk, part) ELSE false END AS due FROM t`,
  };
}

const CHANGE = changeSql({ name: 'change-tasks', withTurns: true });
const APPEND = changeSql({ name: 'append-records', withTurns: false });

/** Changes tasks in one statement. A refused change is missing in the result. */
export async function changeTasks(
  tables: Tables,
  changes: readonly PreparedChange[],
): Promise<ReadonlyMap<number, Changed>> {
  for (const [n, change] of changes.entries()) change.n = n;
  const rows = await tables.query<Omit<Changed, 'isDue'> & { readonly n: number; readonly due: boolean }>(
    changes.some(({ adds, changed }) => adds !== undefined || changed !== undefined) ? CHANGE : APPEND,
    JSON.stringify(changes),
  );
  return new Map(rows.map(({ n, due, ...changed }) => [n, { ...changed, isDue: due }] as const));
}

/** A change of a held turn only. The epoch of its lease is compared instead of the version of the task. */
export interface HeldChange {
  /** Its index in the batch. */
  n: number;
  readonly pk: number;
  readonly part: number;
  readonly turn: number;
  readonly epoch: number;
  readonly lease_ms?: number;
  readonly attempt?: number;
  readonly checkpoint?: string;
}

/** The lease of a turn after its change, and the request to cancel it. */
export interface HeldTurnRow {
  readonly leaseEnd: number;
  readonly cancel: string | null;
}

// Calls about a lease only affect decisions about that lease. So they neither read nor write the version of the task,
// and do not wait for appends.
const HELD: Sql = {
  name: 'change-held-turns',
  text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now),
    i AS MATERIALIZED (
      SELECT * FROM json_to_recordset($1::json) AS i(n integer, pk bigint, part smallint, turn integer, epoch integer,
        lease_ms bigint, attempt integer, checkpoint text)
    )
    UPDATE parley.execution e SET lease_end = coalesce(clock.now + i.lease_ms, e.lease_end),
      attempt = coalesce(i.attempt, e.attempt), checkpoint = coalesce(i.checkpoint, e.checkpoint)
    FROM i, clock
    WHERE e.task = ANY (ARRAY(SELECT pk FROM i)) AND e.task = i.pk AND e.part = i.part AND e.turn = i.turn
      AND e.epoch = i.epoch AND e.node IS NOT NULL
    RETURNING i.n, e.lease_end, e.cancel`,
};

/** Changes held turns in one statement. A turn that its node no longer holds is missing in the result. */
export async function changeHeldTurns(
  tables: Tables,
  changes: readonly HeldChange[],
): Promise<ReadonlyMap<number, HeldTurnRow>> {
  for (const [n, change] of changes.entries()) change.n = n;
  const rows = await tables.query<{ readonly n: number; readonly lease_end: number; readonly cancel: string | null }>(
    HELD,
    JSON.stringify(changes),
  );
  return new Map(rows.map(({ n, lease_end: leaseEnd, cancel }) => [n, { leaseEnd, cancel }] as const));
}

/** The order in which statements lock tasks. */
export function byPlace(
  one: { readonly part: number; readonly pk: number },
  other: { readonly part: number; readonly pk: number },
): number {
  return one.part - other.part || one.pk - other.pk;
}

const REMOVE: Sql = {
  name: 'delete-task',
  text: `WITH t AS (
      DELETE FROM parley.task WHERE pk = $1 AND part = $2 AND version = $3 RETURNING pk, scope, state, part
    ),
    r AS (DELETE FROM parley.task_record WHERE task = ANY (ARRAY(SELECT pk FROM t)) AND part = $2),
    e AS (DELETE FROM parley.execution WHERE task = ANY (ARRAY(SELECT pk FROM t)) AND part = $2),
    p AS (DELETE FROM parley.push_config WHERE task = ANY (ARRAY(SELECT pk FROM t)) AND part = $2),
    s AS (INSERT INTO parley.task_count_change SELECT scope, 1, state, NULL, part FROM t)
    SELECT pk FROM t`,
};

/** Deletes a task of this version with everything that belongs to it. Returns false if the task has changed. */
export async function removeTask(
  tables: Tables,
  { pk, part, version }: { readonly pk: number; readonly part: number; readonly version: number },
): Promise<boolean> {
  return (await tables.query(REMOVE, pk, part, version)).length > 0;
}
