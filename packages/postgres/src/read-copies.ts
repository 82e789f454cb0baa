import {
  type CopiedKey,
  type CopiedPushConfig,
  type CopiedTask,
  type CopiedTurn,
  type RecordTexts,
  ShapedTask,
  StorageError,
  stateOfNumber,
  type TransferCounts,
  UnreadableTaskError,
} from 'parley-a2a/storage-engine';
import { readTasksApart } from './read-tasks.js';
import { nameOf, type StoredScopes, storedName } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

type CopiedColumns = Pick<
  CopiedTask,
  | ('statusTime' | 'createdAt' | 'endedAt' | 'seq' | 'floor' | 'epoch' | 'turnCount' | 'lastTurn')
  | ('status' | 'metadata')
>;

interface TaskColumns extends CopiedColumns {
  readonly pk: number;
  readonly part: number;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly full_id: string | null;
  readonly context_id: string | null;
  readonly state: number;
}

const TABLES = `(SELECT count(*) FROM parley.task) AS tasks, (SELECT count(*) FROM parley.task_record) AS records,
  (SELECT count(*) FROM parley.execution) AS turns, (SELECT count(*) FROM parley.push_config) AS configs`;
const KNOWN = "k.lease_end IS NULL AND k.digest <> ''";
const HAS_TASK = 'EXISTS (SELECT FROM parley.task t WHERE t.scope = k.scope AND t.part = k.part)';
const KEY_COUNT = `SELECT count(*) FROM parley.idempotency k WHERE ${KNOWN}`;
const TARGET_COUNTS: Sql = {
  name: 'count-target',
  text: `SELECT ${TABLES}, (${KEY_COUNT}) AS keys`,
  repeatable: true,
};
/** Only tasks store the names of their scope. Keys of a scope without tasks are not copied: they expire in minutes. */
const SOURCE_COUNTS: Sql = {
  name: 'count-source',
  text: `SELECT ${TABLES}, (${KEY_COUNT} AND ${HAS_TASK}) AS keys`,
  repeatable: true,
};
const TASKS: Sql = {
  name: 'copy-tasks',
  text: `SELECT pk, part, agent, tenant, owner, id, full_id, context_id, state,
    status_time AS "statusTime", created AS "createdAt", ended AS "endedAt", seq, floor, epoch, turns AS "turnCount",
    began AS "lastTurn", status, metadata FROM parley.task WHERE pk > $1 ORDER BY pk LIMIT 100`,
  repeatable: true,
};
const RECORDS: Sql = {
  name: 'copy-records',
  text: `SELECT seq, turn, event, history, metadata FROM parley.task_record WHERE task = $1 AND part = $2 ORDER BY seq`,
  repeatable: true,
};
const TURNS: Sql = {
  name: 'copy-turns',
  text: `SELECT turn, attempt, hand_overs AS "handOvers", message, caller, checkpoint, cancel FROM parley.execution
    WHERE task = $1 AND part = $2 ORDER BY turn`,
  repeatable: true,
};
const CONFIGS: Sql = {
  name: 'copy-push-configs',
  text: `SELECT config, position, attempts, due AS "dueAt", last_status AS "lastStatus", parked FROM parley.push_config
    WHERE task = $1 AND part = $2 ORDER BY place`,
  repeatable: true,
};
const KEYS: Sql = {
  name: 'copy-keys',
  text: `SELECT t.agent, t.tenant, t.owner, k.key, k.digest, k.expires, k.task_id, k.full_task_id, k.turn, k.reply
    FROM parley.idempotency k JOIN LATERAL (
      SELECT agent, tenant, owner FROM parley.task t WHERE t.scope = k.scope AND t.part = k.part LIMIT 1
    ) AS t ON true
    WHERE ${KNOWN} ORDER BY k.expires`,
  repeatable: true,
};

/** Counts the rows of a database. */
export async function countCopies(tables: Tables, role: 'source' | 'target'): Promise<TransferCounts> {
  const counts = role === 'source' ? SOURCE_COUNTS : TARGET_COUNTS;
  const [row] = await tables.query<Omit<TransferCounts, 'pushConfigs'> & { readonly configs: number }>(counts);
  const { tasks = 0, records = 0, turns = 0, configs: pushConfigs = 0, keys = 0 } = row ?? {};
  return { tasks, records, turns, pushConfigs, keys };
}

/** Reads all tasks, oldest first. */
export async function* copiedTasks(tables: Tables, scopes: StoredScopes): AsyncGenerator<CopiedTask> {
  for (let last = 0; ; ) {
    const rows = await tables.query<TaskColumns>(TASKS, last);
    for (const row of rows) yield await copiedTask(tables, scopes, row);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.pk;
  }
}

async function copiedTask(tables: Tables, scopes: StoredScopes, row: TaskColumns): Promise<CopiedTask> {
  const { pk, part, agent, tenant, owner, id: short, full_id: full, context_id: context, state, ...members } = row;
  const scope = { agent: nameOf(agent), tenant: nameOf(tenant), owner: owner === null ? null : nameOf(owner) };
  const id = storedName(short, full);
  const [stored] = await readTasksApart(tables, scopes, [{ scope, id }]);
  if (stored instanceof Error) throw new UnreadableTaskError(id, stored);
  if (stored === undefined) throw new StorageError(`Task ${id} was deleted during the copy: stop all servers`);
  const { history, artifacts } = ShapedTask.textsOf(stored.task);
  const configs = await tables.query<Omit<CopiedPushConfig, 'id'>>(CONFIGS, pk, part);
  return {
    scope,
    id,
    contextId: context === null ? null : nameOf(context),
    state: stateOfNumber(state),
    ...members,
    history: history ?? null,
    artifacts: artifacts ?? null,
    records: await tables.query<RecordTexts>(RECORDS, pk, part),
    turns: await tables.query<CopiedTurn>(TURNS, pk, part),
    pushConfigs: configs.map(({ parked, ...config }) => ({
      ...config,
      // The column of the id may contain a hash.
      id: (JSON.parse(config.config) as { readonly id: string }).id,
      parked: parked === null ? null : nameOf(parked),
    })),
  };
}

/** Reads the keys with an outcome, earliest expiry first. */
export async function* copiedKeys(tables: Tables): AsyncGenerator<CopiedKey> {
  interface Row extends Pick<TaskColumns, 'agent' | 'tenant' | 'owner'> {
    readonly key: string;
    readonly digest: string;
    readonly expires: number;
    readonly task_id: string | null;
    readonly full_task_id: string | null;
    readonly turn: number | null;
    readonly reply: string | null;
  }
  for (const row of await tables.query<Row>(KEYS)) {
    const { agent, tenant, owner, key, digest, expires: expiresAt, task_id: taskId, turn, reply } = row;
    yield {
      scope: { agent: nameOf(agent), tenant: nameOf(tenant), owner: owner === null ? null : nameOf(owner) },
      key: nameOf(key),
      digest,
      expiresAt,
      taskId: taskId === null ? null : storedName(taskId, row.full_task_id),
      turn,
      reply,
    };
  }
}
