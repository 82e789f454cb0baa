import {
  type HeadChange,
  isTerminal,
  LogRecord,
  ShapedTask,
  stateNumber,
  statusTime,
  type Task,
} from 'parley-a2a/storage-engine';
import type { PostgresHead } from './load-rows.js';
import { KEY_VERSION } from './message-keys.js';
import { contextHash, fullText, indexForm, isBlocked, type StoredScopes, textOfName } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** A new task for the statement, with its first turn if a message created it. */
export interface NewTask {
  /** Its index in the batch. */
  n: number;
  readonly part: number;
  readonly scope: string;
  readonly id: string;
  readonly context: string | null;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly full_id: string | null;
  readonly context_id: string | null;
  readonly state: number;
  readonly status_time: number;
  readonly ended: boolean;
  readonly status: string;
  readonly metadata: string | null;
  readonly history: string | null;
  readonly artifacts: string | null;
  readonly event: string;
  readonly message: string | undefined;
  readonly caller: string | undefined;
  readonly node: string | undefined;
  readonly lease_ms: number | undefined;
  readonly config_id: string | undefined;
  readonly config: string | undefined;
  readonly key: string | undefined;
  readonly ttl_ms: number | undefined;
  readonly digest: string | undefined;
  /** The expected version of the key. Absent: the key must not exist. */
  readonly key_version: string | undefined;
}

const FIELDS = `n integer, part smallint, scope uuid, id text, context uuid, agent text, tenant text, owner text,
  full_id text, context_id text, state smallint, status_time bigint, ended boolean, status text, metadata text,
  history text, artifacts text, event text, message text, caller text, node text, lease_ms bigint, config_id text,
  config text, key text, ttl_ms bigint, digest text, key_version text`;

/**
 * Creates tasks, each with its first record, turn, push configuration and key. Skips a task whose key has another
 * version than expected, and one whose owner is blocked. Fails if the id of a task exists.
 */
const CREATE: Sql = {
  name: 'create-tasks',
  text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now),
    i AS MATERIALIZED (
      SELECT * FROM json_to_recordset($1::json) AS i(${FIELDS}) WHERE NOT ${isBlocked('i.agent', 'i.tenant', 'i.owner')}
    ),
    k AS (
      INSERT INTO parley.idempotency AS k (scope, key, part, expires, digest, task_id, full_task_id, turn, node,
        agent, tenant, owner)
      SELECT scope, key, part, now + ttl_ms, digest, id, full_id, 1, node, agent, tenant, owner FROM i, clock
      WHERE key IS NOT NULL
      ON CONFLICT (scope, key, part) DO UPDATE SET expires = excluded.expires, digest = excluded.digest,
        task_id = excluded.task_id, full_task_id = excluded.full_task_id, turn = 1, reply = NULL, node = excluded.node,
        lease_end = NULL, agent = excluded.agent, tenant = excluded.tenant, owner = excluded.owner
      WHERE ${KEY_VERSION} = (
        SELECT i.key_version FROM i WHERE i.scope = k.scope AND i.key = k.key AND i.part = k.part LIMIT 1
      )
      RETURNING scope, key
    ),
    c AS MATERIALIZED (
      SELECT nextval('parley.number') AS pk, now, i.* FROM i, clock
      WHERE key IS NULL OR (scope, key) IN (SELECT scope, key FROM k)
    ),
    t AS (
      INSERT INTO parley.task (pk, bytes, status_time, created, ended, scope, context, seq, floor, epoch, held, turns,
        queued, began, snapshot_seq, part, state, earlier_state, pushes, agent, tenant, owner, id, full_id, context_id,
        status, metadata, history, artifacts)
      SELECT pk, length(event), status_time, now, CASE WHEN ended THEN now END, scope, context, 1, 1,
        (node IS NOT NULL)::int, (node IS NOT NULL)::int, (message IS NOT NULL)::int, (message IS NOT NULL)::int, 0,
        ended::int, part, state, state, config IS NOT NULL, agent, tenant, owner, id, full_id, context_id, status,
        metadata, history, artifacts
      FROM c
    ),
    r AS (INSERT INTO parley.task_record SELECT pk, 1, 0, part, event, NULL, NULL FROM c),
    e AS (
      INSERT INTO parley.execution
      SELECT pk, nextval('parley.number'), coalesce(now + lease_ms, 0), 1, (node IS NOT NULL)::int,
        (node IS NOT NULL)::int, 0, part, node IS NULL, agent, node, message, caller, NULL, NULL
      FROM c WHERE message IS NOT NULL
    ),
    p AS (
      INSERT INTO parley.push_config
      SELECT pk, nextval('parley.number'), now, now + 1, NULL, 0, 0, NULL, part, agent, config_id, NULL, NULL, config
      FROM c WHERE config IS NOT NULL
    ),
    s AS (
      INSERT INTO parley.task_count_change
      SELECT scope, count(*), NULL, state, part FROM c GROUP BY scope, state, part
    )
    SELECT n, pk, now FROM c`,
};

/** The index of a new task in the batch, and the time of its creation. */
export interface Created {
  readonly pk: number;
  readonly now: number;
}

/** Creates tasks in one statement. Returns the created ones by index. */
export async function createTasks(tables: Tables, tasks: readonly NewTask[]): Promise<ReadonlyMap<number, Created>> {
  for (const [n, task] of tasks.entries()) task.n = n;
  const rows = await tables.query<Created & { readonly n: number }>(CREATE, JSON.stringify(tasks));
  return new Map(rows.map(({ n, pk, now }) => [n, { pk, now }]));
}

/** The order in which statements create tasks. */
export function byKey(one: NewTask, other: NewTask): number {
  return one.part - other.part || compare(one.scope, other.scope) || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Returns the fields of a change that creates a task, for `createTasks`. */
export function newTaskOf(scopes: StoredScopes, change: HeadChange<PostgresHead>, task: Task): NewTask {
  const { adds, lease, config, key } = change;
  const { scope } = change.task;
  const stored = scopes.of(scope);
  const { contextId, status } = task;
  const isEnd = isTerminal(status.state);
  const texts = ShapedTask.textsOf(task);
  return {
    n: 0,
    part: stored.part,
    scope: stored.hash,
    id: indexForm(task.id),
    context: contextId === undefined ? null : contextHash(stored, contextId),
    agent: textOfName(scope.agent),
    tenant: textOfName(scope.tenant),
    owner: scope.owner === null ? null : textOfName(scope.owner),
    full_id: fullText(task.id),
    context_id: contextId === undefined ? null : textOfName(contextId),
    state: stateNumber(status.state),
    status_time: statusTime(status),
    ended: isEnd,
    status: texts.status,
    metadata: texts.metadata ?? null,
    history: isEnd ? (texts.history ?? null) : null,
    artifacts: isEnd ? (texts.artifacts ?? null) : null,
    event: new LogRecord(1, 0, { task }).text,
    message: adds && JSON.stringify(adds.message),
    caller: adds && JSON.stringify(adds.caller),
    node: lease ? textOfName(lease.node) : undefined,
    lease_ms: lease?.leaseMs,
    config_id: config && indexForm(config.config.id),
    config: config && JSON.stringify(config.config),
    key: key && indexForm(key.key.key),
    ttl_ms: key?.key.ttlMs,
    digest: key?.key.digest,
    key_version: key?.before?.version,
  };
}
