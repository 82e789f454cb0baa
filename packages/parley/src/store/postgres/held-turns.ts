import type { CancelRequest, HeldTurn, Holding, Lease, ReleaseHow } from '../held-turn.js';
import { mergedCancel, parsedCancel } from '../held-turn.js';
import { decideCancel, decideDelete } from '../rules/decide-cancel.js';
import { releasedCounts } from '../rules/decide-lease.js';
import { isHeld, isRunning, waitingIn } from '../rules/task-head.js';
import { isEndState } from '../state-numbers.js';
import { dropTurns, keyFields, lockTask, writeQueue } from './locked-task.js';
import type { StoredScope, StoredScopes } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

// The lateral query and the array tell PostgreSQL to look each turn up by an index, whatever the tables held when the
// statement was planned.
const HELD = `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now),
  i AS MATERIALIZED (
    SELECT i.*, t.pk FROM json_to_recordset($1::json)
      AS i(n integer, part smallint, scope uuid, id text, turn integer, epoch integer)
    CROSS JOIN LATERAL (
      SELECT t.pk FROM parley.task t WHERE t.part = i.part AND t.id = i.id AND t.scope IS NOT DISTINCT FROM i.scope LIMIT 1
    ) t
  )`;
const OF_HELD = `e.task = ANY (ARRAY(SELECT pk FROM i)) AND e.task = i.pk AND e.part = i.part AND e.turn = i.turn
  AND e.epoch = i.epoch AND e.node IS NOT NULL`;

const RENEW: Sql = {
  name: 'renew-leases',
  text: `${HELD}
    UPDATE parley.execution e SET lease_end = clock.now + $2 FROM i, clock WHERE ${OF_HELD} RETURNING i.n, e.cancel`,
};
const BEGIN: Sql = {
  name: 'begin-attempt',
  text: `${HELD}
    UPDATE parley.execution e SET attempt = $2 FROM i WHERE ${OF_HELD} RETURNING i.n, e.cancel`,
};
const CHECKPOINT: Sql = {
  name: 'save-checkpoint',
  text: `${HELD}
    UPDATE parley.execution e SET checkpoint = $2 FROM i WHERE ${OF_HELD} RETURNING i.n, e.cancel`,
};

/** Moves the ends of leases on. */
export function renewLeases(
  tables: Tables,
  scopes: StoredScopes,
  { turns, leaseMs }: Lease & { readonly turns: readonly HeldTurn[] },
): Promise<readonly Holding[]> {
  return changeHeld(tables, RENEW, { scopes, turns, value: leaseMs });
}

/** Counts an attempt that begins. */
export async function beginAttempt(
  tables: Tables,
  scopes: StoredScopes,
  { turn, attempt }: { readonly turn: HeldTurn; readonly attempt: number },
): Promise<Holding> {
  const [holding] = await changeHeld(tables, BEGIN, { scopes, turns: [turn], value: attempt });
  return holding ?? { held: false };
}

/** Keeps a value for the next attempt; false if the turn is not held. */
export async function keepCheckpoint(
  tables: Tables,
  scopes: StoredScopes,
  { turn, checkpoint }: { readonly turn: HeldTurn; readonly checkpoint: string },
): Promise<boolean> {
  const [holding] = await changeHeld(tables, CHECKPOINT, { scopes, turns: [turn], value: checkpoint });
  return holding?.held === true;
}

async function changeHeld(
  tables: Tables,
  sql: Sql,
  change: { readonly scopes: StoredScopes; readonly turns: readonly HeldTurn[]; readonly value: number | string },
): Promise<readonly Holding[]> {
  const { scopes, turns, value } = change;
  const held = turns.map(({ key, turn, epoch }, n) => ({ n, ...keyFields(scopes.of(key.scope), key), turn, epoch }));
  const rows = await tables.query<{ readonly n: number; readonly cancel: string | null }>(
    sql,
    JSON.stringify(held.sort(byKey)),
    value,
  );
  const holdings: Holding[] = turns.map(() => ({ held: false }));
  for (const { n, cancel } of rows) {
    holdings[n] = cancel === null ? { held: true } : { held: true, cancel: parsedCancel(cancel) };
  }
  return holdings;
}

/** The order in which statements lock tasks. */
export function byKey(
  one: { readonly part: number; readonly scope: string; readonly id: string },
  other: { readonly part: number; readonly scope: string; readonly id: string },
): number {
  return one.part - other.part || compare(one.scope, other.scope) || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

const RELEASE: Sql = {
  name: 'release-turn',
  text: `WITH t AS (
      UPDATE parley.task SET held = 0 WHERE part = $1 AND id = $3 AND scope IS NOT DISTINCT FROM $2::uuid AND held = $4 AND epoch = $5
      RETURNING pk, part, queued
    ),
    e AS (
      UPDATE parley.execution e SET node = NULL, lease_end = 0, epoch = 0, ready = true, attempt = $6,
        hand_overs = hand_overs + $7
      FROM t WHERE e.task = t.pk AND e.part = t.part AND e.turn = $4
    )
    SELECT queued AS waiting FROM t`,
};

/** Gives up a turn that is to be claimed again. Resolves to the turns that wait, or `undefined` if it is not held. */
export async function releaseUnfinished(
  tables: Tables,
  scope: StoredScope,
  { turn, how }: { readonly turn: HeldTurn & { readonly attempt: number }; readonly how: ReleaseHow },
): Promise<number | undefined> {
  const counts = releasedCounts(how, turn.attempt);
  if (counts === undefined) return undefined;
  const { part, id } = keyFields(scope, turn.key);
  const { attempts, addedHandOvers } = counts;
  const held = [part, scope.hash, id, turn.turn, turn.epoch] as const;
  const [row] = await tables.query<{ waiting: number }>(RELEASE, ...held, attempts, addedHandOvers);
  return row?.waiting;
}

/** The plain end of a turn: no other turn of its task waits. The locked row says so, and it is the newest one. */
const END: Sql = {
  name: 'end-turn',
  text: `WITH t AS (
      UPDATE parley.task SET held = 0, queued = 0
      WHERE part = $1 AND id = $3 AND scope IS NOT DISTINCT FROM $2::uuid AND held = $4 AND epoch = $5 AND queued = 1
      RETURNING pk, part
    ),
    e AS (DELETE FROM parley.execution e USING t WHERE e.task = t.pk AND e.part = t.part AND e.turn = $4)
    SELECT pk FROM t`,
};

/** Ends a turn in one statement. False if it is not plain. */
export async function releaseLast(tables: Tables, scope: StoredScope, held: HeldTurn): Promise<boolean> {
  const { part, id } = keyFields(scope, held.key);
  const rows = await tables.query(END, part, scope.hash, id, held.turn, held.epoch);
  return rows.length > 0;
}

/** Ends a turn. Resolves to the turns that wait. Runs in a transaction. */
export async function releaseDone(tables: Tables, scope: StoredScope, held: HeldTurn): Promise<number> {
  const { task } = await lockTask(tables, scope, held.key.id);
  if (task === undefined) return 0;
  if (!isHeld(task, held)) return waitingIn(task);
  const queue = await dropTurns(tables, task, held.turn);
  await writeQueue(tables, { ...task, queue, holder: undefined });
  return queue.length;
}

/**
 * The plain request to cancel: it is the first one for the held turn, or no turn is held. The lock on the task comes
 * first, as in a transaction. The row of the turn is checked again when it is written.
 */
const REQUEST_CANCEL: Sql = {
  name: 'request-cancel',
  text: `WITH t AS MATERIALIZED (
      SELECT pk, part, seq, state, held FROM parley.task
      WHERE part = $1 AND id = $3 AND scope IS NOT DISTINCT FROM $2::uuid FOR UPDATE
    ),
    e AS (
      UPDATE parley.execution e SET cancel = $4 FROM t
      WHERE e.task = t.pk AND e.part = t.part AND e.turn = t.held AND e.node IS NOT NULL AND e.cancel IS NULL
      RETURNING e.turn, e.lease_end > parley.now_ms() AS running
    )
    SELECT t.seq, t.state, t.held, e.turn, e.running FROM t LEFT JOIN e ON true`,
};

/** Requests to cancel in one statement. `undefined` if that is not plain. */
export async function cancelPlain(
  tables: Tables,
  scope: StoredScope,
  { taskId, request }: { readonly taskId: string; readonly request: CancelRequest },
): Promise<CancelResult | undefined> {
  const { part, id } = keyFields(scope, { id: taskId });
  const [row] = await tables.query<{
    readonly seq: number;
    readonly state: number;
    readonly held: number;
    readonly turn: number | null;
    readonly running: boolean | null;
  }>(REQUEST_CANCEL, part, scope.hash, id, JSON.stringify(request));
  if (row === undefined) return { kind: 'not-found' };
  const { seq, state, held, turn: writtenTo, running } = row;
  const decision = decideCancel({ hasEnded: isEndState(state), holder: held === 0 ? undefined : { turn: held } });
  if (decision.kind === 'not-found') return decision;
  if (decision.kind === 'terminal') return { kind: 'terminal', state };
  const { turn } = decision;
  // The held turn has a request already, or lost its node.
  if (turn !== undefined && writtenTo === null) return undefined;
  return { kind: 'requested', seq, turn, running: running === true };
}

const CANCEL_OF: Sql = {
  name: 'read-cancel',
  text: 'SELECT cancel FROM parley.execution WHERE task = $1 AND part = $2 AND turn = $3',
};
const CANCEL: Sql = {
  name: 'write-cancel',
  text: 'UPDATE parley.execution SET cancel = $4 WHERE task = $1 AND part = $2 AND turn = $3',
};

/** The result of a request to cancel. `state`: the number of the state of a task that has ended. */
export type CancelResult =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'terminal'; readonly state: number }
  | { readonly kind: 'requested'; readonly seq: number; readonly turn: number | undefined; readonly running: boolean };

/** Keeps a request to cancel with the held turn, if there is one. Runs in a transaction. */
export async function keepCancel(
  tables: Tables,
  scope: StoredScope,
  { taskId, request }: { readonly taskId: string; readonly request: CancelRequest },
): Promise<CancelResult> {
  const { now, task } = await lockTask(tables, scope, taskId);
  const decision = decideCancel(task);
  if (task === undefined || decision.kind === 'not-found') return { kind: 'not-found' };
  if (decision.kind === 'terminal') return { kind: 'terminal', state: task.state };
  const { turn } = decision;
  if (turn !== undefined) {
    const [row] = await tables.query<{ cancel: string | null }>(CANCEL_OF, task.pk, task.part, turn);
    const earlier = row?.cancel ?? null;
    const merged = earlier === null ? request : mergedCancel(parsedCancel(earlier), request);
    await tables.query(CANCEL, task.pk, task.part, turn, JSON.stringify(merged));
  }
  return { kind: 'requested', seq: task.seq, turn, running: isRunning(task, now) };
}

const DELETE: Sql = {
  name: 'delete-task',
  text: `WITH t AS (DELETE FROM parley.task WHERE pk = $1 AND part = $2 RETURNING scope, state, part),
    r AS (DELETE FROM parley.task_record WHERE task = $1 AND part = $2),
    e AS (DELETE FROM parley.execution WHERE task = $1 AND part = $2),
    p AS (DELETE FROM parley.push_config WHERE task = $1 AND part = $2)
    INSERT INTO parley.task_count_change SELECT scope, 1, state, NULL, part FROM t`,
};

/** Deletes a task, unless a turn runs. Runs in a transaction. */
export async function deleteTask(
  tables: Tables,
  scope: StoredScope,
  taskId: string,
): Promise<'deleted' | 'not-found' | 'running'> {
  const { now, task } = await lockTask(tables, scope, taskId);
  const decision = decideDelete(task, now);
  if (task !== undefined && decision === 'deleted') await tables.query(DELETE, task.pk, task.part);
  return decision;
}
