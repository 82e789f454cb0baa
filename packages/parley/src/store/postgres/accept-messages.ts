import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import type { Lease } from '../held-turn.js';
import type { Remembered } from '../idempotency-keys.js';
import { type AcceptDecision, decideAccept, firstTurn, repeatedAccept } from '../rules/decide-accept.js';
import type { Acceptance } from '../task-storage.js';
import { createTasks, newTaskOf } from './create-tasks.js';
import { type LockedTask, lockTask, writeQueue } from './locked-task.js';
import { dropUnusedKey, KEY_IS_FREE, lockKey, writeKey } from './message-keys.js';
import { PostgresError } from './postgres-error.js';
import { hasRoom, putConfig } from './push-queues.js';
import {
  contextHash,
  fullText,
  indexForm,
  isBlocked,
  type StoredScope,
  type StoredScopes,
  scopeColumns,
  textOfName,
} from './stored-names.js';
import type { Sql, SqlValue, Tables } from './tables.js';

/** The result of an acceptance. `epoch`: that of the claim, if the turn was claimed. */
export type AcceptResult =
  | {
      readonly kind: 'accepted';
      readonly turn: number;
      readonly seq: number;
      readonly epoch: number | undefined;
      /** True if a node can claim the turn now. */
      readonly isReady: boolean;
    }
  | { readonly kind: 'repeated'; readonly first: Remembered }
  | { readonly kind: 'terminal'; readonly state: number }
  | { readonly kind: 'not-found' | 'other-context' | 'full' | 'configs-full' | 'reserved' };

/** The result of the statement that creates tasks. */
export function createdResult(claim: Lease | undefined): AcceptResult {
  const { turn, epoch, attempts, isReady } = firstTurn(claim, 0);
  return { kind: 'accepted', turn, seq: 1, epoch: attempts === 1 ? epoch : undefined, isReady };
}

/**
 * The plain message to a task: a node claims it at once, and the task has no turn. A named context is that of the task.
 * The statement writes nothing for any other message. The division fails if the task was written to after the statement
 * began, so that no key is left.
 */
const ACCEPT_IDLE: Sql = {
  name: 'accept-idle',
  text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now),
    o AS MATERIALIZED (
      SELECT pk, part, scope, id, full_id, agent, tenant, owner, seq, epoch + 1 AS epoch, turns + 1 AS turn
      FROM parley.task t
      WHERE part = $1 AND id = $3 AND scope IS NOT DISTINCT FROM $2::uuid AND ended IS NULL AND queued = 0
        AND ($4::uuid IS NULL OR context = $4) AND NOT ${isBlocked('t.agent', 't.tenant', 't.owner')}
    ),
    k AS (
      INSERT INTO parley.idempotency AS k (scope, key, part, expires, digest, task_id, full_task_id, turn, node,
        agent, tenant, owner)
      SELECT scope, $9, part, now + $10::bigint, $11, id, full_id, turn, $7, agent, tenant, owner FROM o, clock
      WHERE $9::text IS NOT NULL
      ON CONFLICT (scope, key, part) DO UPDATE SET expires = excluded.expires, digest = excluded.digest,
        task_id = excluded.task_id, full_task_id = excluded.full_task_id, turn = excluded.turn, reply = NULL,
        node = excluded.node, lease_end = NULL, agent = excluded.agent, tenant = excluded.tenant, owner = excluded.owner
      WHERE ${KEY_IS_FREE}
      RETURNING true
    ),
    c AS MATERIALIZED (SELECT * FROM o WHERE $9::text IS NULL OR EXISTS (SELECT FROM k)),
    t AS (
      UPDATE parley.task t SET epoch = c.epoch, held = c.turn, turns = c.turn, queued = 1 FROM c
      WHERE t.pk = c.pk AND t.part = c.part AND t.turns = c.turn - 1 AND t.queued = 0 AND t.ended IS NULL
        AND t.seq = c.seq AND t.epoch = c.epoch - 1
      RETURNING t.pk, t.part, t.agent
    ),
    e AS (
      INSERT INTO parley.execution
      SELECT t.pk, nextval('parley.number'), now + $8::bigint, c.turn, c.epoch, 1, 0, t.part, false, t.agent, $7, $5, $6,
        NULL, NULL
      FROM t, c, clock
    )
    SELECT seq, turn, epoch, 1 / (SELECT count(*) FROM t) AS written FROM c`,
};
const DIVISION_BY_ZERO = '22012';

/** Takes a plain message to an existing task in. `undefined` for any other message. */
export async function acceptIdle(
  tables: Tables,
  scopes: StoredScopes,
  acceptance: Acceptance,
): Promise<AcceptResult | undefined> {
  const { scope, task, claim, message, caller, pushConfig, idempotency, again } = acceptance;
  if ('create' in task || claim === undefined || pushConfig !== undefined || again === true) return undefined;
  const stored = scopes.of(scope);
  const context = task.contextId === undefined ? null : contextHash(stored, task.contextId);
  const values: readonly SqlValue[] = [
    ...[stored.part, stored.hash, indexForm(task.id), context, JSON.stringify(message), JSON.stringify(caller)],
    ...[textOfName(claim.node), claim.leaseMs],
    ...(idempotency === undefined
      ? [null, null, null]
      : [indexForm(idempotency.key), idempotency.ttlMs, idempotency.digest]),
  ];
  try {
    const [row] = await tables.query<{ seq: number; turn: number; epoch: number }>(ACCEPT_IDLE, ...values);
    return row && { kind: 'accepted', turn: row.turn, seq: row.seq, epoch: row.epoch, isReady: false };
  } catch (error) {
    if (error instanceof PostgresError && error.sqlState === DIVISION_BY_ZERO) return undefined;
    throw error;
  }
}

/** Takes any message in, under locks. Runs in a transaction. */
export async function acceptLocked(
  tables: Tables,
  scopes: StoredScopes,
  acceptance: Acceptance,
): Promise<AcceptResult> {
  const { scope, task, claim, idempotency } = acceptance;
  const stored = scopes.of(scope);
  const taskId = 'create' in task ? task.create.id : task.id;
  if (acceptance.again === true) {
    const earlier = await acceptedBefore(tables, stored, { acceptance, taskId });
    if (earlier !== undefined) return earlier;
  }
  if (idempotency === undefined) return await acceptUnkeyed(tables, scopes, acceptance);
  const { key, digest, ttlMs } = idempotency;
  const { standing, first, now } = await lockKey(tables, stored, { key, node: claim?.node });
  if (standing === 'known') return { kind: 'repeated', first };
  if (standing === 'reserved') return { kind: 'reserved' };
  const result = await acceptUnkeyed(tables, scopes, acceptance);
  if (result.kind === 'accepted') {
    const outcome = { taskId: indexForm(taskId), full: fullText(taskId), turn: result.turn };
    await writeKey(tables, stored, key, { expires: now + ttlMs, digest, ...outcome });
  } else {
    await dropUnusedKey(tables, stored, key);
  }
  return result;
}

const ADD_TURN: Sql = {
  name: 'add-turn',
  text: `INSERT INTO parley.execution (task, part, agent, turn, place, attempt, message, caller, lease_end, epoch,
      hand_overs, ready)
    SELECT $1, $2, $3, $4, nextval('parley.number'), $5, $6, $7, 0, 0, 0, false
    WHERE NOT ${isBlocked('$3', '$8', '$9')} RETURNING true AS written`,
};

async function acceptUnkeyed(tables: Tables, scopes: StoredScopes, acceptance: Acceptance): Promise<AcceptResult> {
  const { scope, task: target, claim, waitingLimit, message, caller, pushConfig, pushConfigLimit: limit } = acceptance;
  if ('create' in target) {
    const { idempotency: _, ...unkeyed } = acceptance;
    const created = await createTasks(tables, [newTaskOf(scopes, unkeyed, target.create)]);
    if (created.size === 0) throw new OwnerBlockedError();
    return createdResult(claim);
  }
  const { now, task } = await lockTask(tables, scopes.of(scope), target.id);
  const decision: AcceptDecision = decideAccept(task, { contextId: target.contextId, waitingLimit, claim }, now);
  if (task === undefined) return { kind: 'not-found' };
  if (decision.kind === 'terminal') return { kind: 'terminal', state: task.state };
  if (decision.kind !== 'accepted') return { kind: decision.kind };
  const configId = pushConfig?.id ?? target.id;
  if (pushConfig !== undefined && !(await hasRoom(tables, task, { id: configId, limit }))) {
    return { kind: 'configs-full' };
  }
  const { turn, epoch, holder, attempts, isReady } = decision;
  const { pk, part } = task;
  const texts = [JSON.stringify(message), JSON.stringify(caller)] as const;
  const [agent, tenant, owner] = scopeColumns(scope);
  const added = await tables.query(ADD_TURN, pk, part, agent, turn, attempts, ...texts, tenant, owner);
  if (added.length === 0) throw new OwnerBlockedError();
  const queue = [...task.queue, { turn }];
  await writeQueue(tables, { ...task, epoch, turns: turn, queue, holder });
  if (pushConfig !== undefined) {
    const config = JSON.stringify({ ...pushConfig, id: configId, taskId: target.id });
    await putConfig(tables, task, { id: configId, config, position: task.seq, now });
  }
  return { kind: 'accepted', turn, seq: task.seq, epoch: attempts === 1 ? epoch : undefined, isReady };
}

const SAME_TURN: Sql = {
  name: 'same-turn',
  text: `SELECT max(turn) AS turn FROM parley.execution
    WHERE task = $1 AND part = $2 AND message = $3 AND caller = $4`,
};

/** The answer to a message that was taken in, when its caller missed the answer. */
async function acceptedBefore(
  tables: Tables,
  scope: StoredScope,
  { acceptance, taskId }: { readonly acceptance: Acceptance; readonly taskId: string },
): Promise<AcceptResult | undefined> {
  const { message, caller, claim } = acceptance;
  const { task } = await lockTask(tables, scope, taskId);
  if (task === undefined) return undefined;
  const texts = [JSON.stringify(message), JSON.stringify(caller)] as const;
  const [found] = await tables.query<{ turn: number | null }>(SAME_TURN, task.pk, task.part, ...texts);
  if (found === undefined || found.turn === null) return undefined;
  return repeated(task, found.turn, claim);
}

function repeated(task: LockedTask, found: number, claim: Lease | undefined): AcceptResult {
  const { turn, isClaimed, isReady } = repeatedAccept(task, found, claim);
  return { kind: 'accepted', turn, seq: task.seq, epoch: isClaimed ? task.epoch : undefined, isReady };
}
