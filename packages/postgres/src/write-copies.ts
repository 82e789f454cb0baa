import { type CopiedKey, type CopiedTask, recordBytes, stateNumber } from 'parley-a2a/storage-engine';
import { contextHash, fullText, indexForm, type StoredScopes, scopeColumns, textOfName } from './stored-names.js';
import type { Sql } from './tables.js';

/**
 * Inserts tasks with everything that belongs to them. Skips a task whose id exists in its scope. Returns the number of
 * inserted tasks.
 */
export const PUT_TASKS: Sql = {
  name: 'put-tasks',
  text: `WITH i AS MATERIALIZED (
      SELECT * FROM json_to_recordset($1::json) AS i(n integer, part smallint, scope uuid, id text, full_id text,
        agent text, tenant text, owner text, context uuid, context_id text, state smallint, status_time bigint,
        created bigint, ended bigint, seq integer, floor integer, epoch integer, turn_count integer, last_turn integer,
        status text, metadata text, history text, artifacts text, bytes bigint, records json, turns json, configs json)
    ),
    t AS (
      INSERT INTO parley.task (pk, bytes, status_time, created, ended, scope, context, seq, floor, epoch, held, turns,
        queued, began, snapshot_seq, part, state, earlier_state, pushes, agent, tenant, owner, id, full_id, context_id,
        status, snapshot_status, metadata, history, artifacts)
      SELECT nextval('parley.number'), bytes, status_time, created, ended, scope, context, seq, floor, epoch, 0,
        turn_count, json_array_length(turns), last_turn, seq, part, state, state, json_array_length(configs) > 0, agent,
        tenant, owner, id, full_id, context_id, status, status, metadata, history, artifacts
      FROM (SELECT * FROM i ORDER BY n) AS i
      ON CONFLICT (scope, id, part) DO NOTHING
      RETURNING pk, part, scope, id
    ),
    c AS (SELECT t.pk, i.* FROM t JOIN i ON i.scope = t.scope AND i.id = t.id),
    r AS (
      INSERT INTO parley.task_record (task, seq, turn, part, event, history, metadata)
      SELECT c.pk, r.seq, r.turn, c.part, r.event, r.history, r.metadata FROM c, json_to_recordset(c.records)
        AS r(seq integer, turn integer, event text, history text, metadata text)
    ),
    e AS (
      INSERT INTO parley.execution (task, place, lease_end, turn, epoch, attempt, hand_overs, part, ready, agent, node,
        message, caller, checkpoint, cancel)
      SELECT pk, nextval('parley.number'), 0, turn, epoch, attempt, "handOvers", part, ready, agent, NULL, message,
        caller, checkpoint, cancel
      FROM (
        SELECT c.pk, c.epoch, c.part, c.agent, e.* FROM c, json_to_recordset(c.turns) AS e(turn integer,
          attempt integer, "handOvers" integer, ready boolean, message text, caller text, checkpoint text, cancel text)
        ORDER BY c.n, e.turn
      ) AS e
    ),
    p AS (
      INSERT INTO parley.push_config (task, place, due, epoch, lease_end, position, attempts, last_status, part, agent,
        id, node, parked, config)
      SELECT pk, nextval('parley.number'), "dueAt", 0, NULL, position, attempts, "lastStatus", part, agent, id, NULL,
        parked, config
      FROM (
        SELECT c.pk, c.part, c.agent, p.* FROM c, json_to_recordset(c.configs) AS p(id text, config text,
          position integer, attempts integer, "dueAt" bigint, "lastStatus" integer, parked text)
        ORDER BY c.n
      ) AS p
    ),
    s AS (
      INSERT INTO parley.task_count_change (scope, tasks, from_state, to_state, part)
      SELECT scope, count(*), NULL, state, part FROM c GROUP BY scope, state, part
    )
    SELECT count(*) AS tasks FROM c`,
};

/** Inserts keys with their outcomes. Skips existing keys. */
export const PUT_KEYS: Sql = {
  name: 'put-keys',
  text: `INSERT INTO parley.idempotency (scope, expires, turn, part, key, digest, task_id, full_task_id, reply, agent,
      tenant, owner)
    SELECT scope, expires, turn, part, key, digest, task_id, full_task_id, reply, agent, tenant, owner
    FROM json_to_recordset($1::json) AS i(scope uuid, expires bigint, turn integer, part smallint, key text,
      digest text, task_id text, full_task_id text, reply text, agent text, tenant text, owner text)
    ON CONFLICT (scope, key, part) DO NOTHING`,
};

/** Returns the row of a task for `PUT_TASKS`. `n` keeps the order of the tasks. */
export function taskRow(scopes: StoredScopes, copy: CopiedTask, n: number): object {
  const { hash, part } = scopes.of(copy.scope);
  const { agent, tenant, owner } = copy.scope;
  const { contextId, records } = copy;
  return {
    n,
    part,
    scope: hash,
    id: indexForm(copy.id),
    full_id: fullText(copy.id),
    agent: textOfName(agent),
    tenant: textOfName(tenant),
    owner: owner === null ? null : textOfName(owner),
    context: contextId === null ? null : contextHash(scopes.of(copy.scope), contextId),
    context_id: contextId === null ? null : textOfName(contextId),
    state: stateNumber(copy.state),
    status_time: copy.statusTime,
    created: copy.createdAt,
    ended: copy.endedAt,
    seq: copy.seq,
    floor: copy.floor,
    epoch: copy.epoch,
    turn_count: copy.turnCount,
    last_turn: copy.lastTurn,
    status: copy.status,
    metadata: copy.metadata,
    history: copy.history,
    artifacts: copy.artifacts,
    bytes: recordBytes(records),
    records,
    turns: copy.turns.map((turn, at) => ({ ...turn, ready: at === 0 })),
    configs: copy.pushConfigs.map(({ id, parked, ...config }) => ({
      ...config,
      id: indexForm(id),
      parked: parked === null ? null : textOfName(parked),
    })),
  };
}

/** Returns the row of a key for `PUT_KEYS`. */
export function keyRow(scopes: StoredScopes, { scope, key, taskId, expiresAt, ...outcome }: CopiedKey): object {
  const { hash, part } = scopes.of(scope);
  const [agent, tenant, owner] = scopeColumns(scope);
  return {
    ...outcome,
    agent,
    tenant,
    owner,
    scope: hash,
    part,
    key: indexForm(key),
    expires: expiresAt,
    task_id: taskId === null ? null : indexForm(taskId),
    full_task_id: taskId === null ? null : fullText(taskId),
  };
}
