import {
  cursorOfPlace,
  type ErasedRows,
  eraseShared,
  type ListedScope,
  OPEN_STATES,
  type OwnedKeyPage,
  type OwnedTaskPage,
  type OwnedTaskRange,
  type OwnerQuery,
  type OwnerStorage,
  ownerQueryText,
  PARTITIONS,
  rowPlaceOf,
  type Scope,
  type ScopeRange,
  type SharedOwnedRows,
  type StorageLifetime,
  stateOfNumber,
  type Wakeups,
} from 'parley-a2a/storage-engine';
import {
  type KeyColumns,
  nameOf,
  type StoredScopes,
  storedKey,
  storedName,
  textOfKeyForm,
  textOfName,
} from './stored-names.js';
import type { PostgresTables, Sql, SqlValue, Tables } from './tables.js';

/** The dependencies of the data of users. */
interface PostgresOwnersOptions {
  readonly lifetime: StorageLifetime;
  readonly tables: PostgresTables;
  readonly scopes: StoredScopes;
  readonly wakeups: Wakeups;
}

/** Time limit in ms of statements that read or analyze a whole table. */
const SCAN_MS = 600_000;

/** An owner that is already blocked needs no barrier. */
const BLOCK: Sql = {
  text: `WITH old AS MATERIALIZED (SELECT until FROM parley.owner_block WHERE name = $1),
    b AS (
      INSERT INTO parley.owner_block (name, owner, agent, tenant, until)
      VALUES ($1, $2, $3, $4, parley.now_ms() + $5::bigint)
      ON CONFLICT (name) DO UPDATE SET until = excluded.until
    )
    SELECT EXISTS (SELECT FROM old WHERE until > parley.now_ms()) AS extended`,
};
const UNBLOCK: Sql = { text: 'DELETE FROM parley.owner_block WHERE name = $1 OR until <= parley.now_ms()' };
/**
 * Waits for writers that started before the block. Later ones lock the table first, and then see the block. Each table
 * has its own transaction, to avoid deadlocks with writers.
 */
const BARRIERS: readonly Sql[] = ['idempotency', 'task'].map((table) => ({
  text: `LOCK TABLE parley.${table} IN SHARE MODE`,
}));

const SCOPES: Sql = {
  text: `SELECT DISTINCT agent, tenant FROM (
      SELECT agent, tenant FROM parley.task WHERE owner IS NOT DISTINCT FROM $1
      UNION ALL
      SELECT agent, tenant FROM parley.idempotency WHERE owner IS NOT DISTINCT FROM $1 AND agent IS NOT NULL
    ) s WHERE ($2::text IS NULL OR agent = $2) AND ($3::text IS NULL OR tenant = $3) ORDER BY agent, tenant`,
};

const NO_SCOPE = '00000000-0000-0000-0000-000000000000';
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
// Each step finds the next scope in an index. Its cost does not depend on the number of tasks of a scope.
const NEXT_SCOPE = (after: string) =>
  `SELECT scope, agent, tenant, owner FROM parley.task WHERE scope > ${after} ORDER BY scope LIMIT 1`;
const ALL_SCOPES: Sql = {
  text: `WITH RECURSIVE s AS (
      (${NEXT_SCOPE('$1::uuid')})
      UNION ALL
      SELECT n.* FROM s CROSS JOIN LATERAL (${NEXT_SCOPE('s.scope')}) n
    )
    SELECT * FROM s LIMIT $2`,
  repeatable: true,
};

const OWNED_TASK = `t.pk, t.agent, t.tenant, t.owner, t.id, t.full_id, t.context_id, t.state, t.status_time, t.created, t.seq,
  t.held, coalesce((
    SELECT e.lease_end > parley.now_ms() FROM parley.execution e
    WHERE e.task = t.pk AND e.part = t.part AND e.turn = t.held
  ), false) AS running`;
const IS_OPEN = `IN (${OPEN_STATES.join(', ')})`;
// Each state of a scope is a range of an index. The tables of counts list the states that may have tasks.
const OPEN_TASKS: Sql = {
  name: 'open-tasks',
  text: `SELECT f.time, ${OWNED_TASK} FROM (
      SELECT t.pk, t.part, t.status_time AS time FROM (
        SELECT part, scope, state FROM parley.task_count WHERE state ${IS_OPEN} AND tasks > 0
        UNION
        SELECT part, scope, to_state FROM parley.task_count_change WHERE to_state ${IS_OPEN}
      ) c JOIN parley.task t ON t.part = c.part AND t.scope = c.scope AND t.state = c.state
      WHERE t.status_time >= $1::bigint AND (t.status_time, t.pk) > ($1::bigint, $2::bigint)
      ORDER BY t.status_time, t.pk LIMIT $3
    ) f JOIN parley.task t ON t.pk = f.pk AND t.part = f.part ORDER BY f.time, f.pk`,
  repeatable: true,
};
const ENDED_TASKS: Sql = {
  name: 'ended-tasks',
  text: `SELECT t.ended AS time, ${OWNED_TASK} FROM parley.task t
    WHERE t.ended IS NOT NULL AND t.ended <= $1::bigint AND (t.ended, t.pk) < ($1::bigint, $2::bigint)
    ORDER BY t.ended DESC, t.pk DESC LIMIT $3`,
  repeatable: true,
};

const KEYS: Sql = {
  name: 'keys-of-scope',
  text: `SELECT key, expires, task_id, full_task_id, turn, reply FROM parley.idempotency
    WHERE part = $1 AND scope = $2 AND key > $3 ORDER BY key LIMIT $4`,
  repeatable: true,
};

// A separate statement, because a statement does not see records that were written while it waited for a lock.
const LOCK_TASKS: Sql = {
  name: 'lock-tasks-of-scope',
  text: `SELECT pk, id, full_id FROM parley.task WHERE part = $1 AND scope = $2 LIMIT $3 FOR UPDATE`,
};
const ERASE_TASKS: Sql = {
  name: 'erase-tasks',
  text: `WITH t AS (DELETE FROM parley.task WHERE part = $1 AND pk = ANY ($2::bigint[]) RETURNING scope, state, part),
    r AS (DELETE FROM parley.task_record WHERE part = $1 AND task = ANY ($2::bigint[])),
    e AS (DELETE FROM parley.execution WHERE part = $1 AND task = ANY ($2::bigint[])),
    p AS (DELETE FROM parley.push_config WHERE part = $1 AND task = ANY ($2::bigint[]))
    INSERT INTO parley.task_count_change (scope, tasks, from_state, to_state, part)
    SELECT scope, count(*), state, NULL, part FROM t GROUP BY scope, state, part`,
};
const ERASE_KEYS: Sql = {
  name: 'erase-keys',
  text: `WITH d AS (
      DELETE FROM parley.idempotency WHERE part = $1 AND scope = $2 AND key IN (
        SELECT key FROM parley.idempotency WHERE part = $1 AND scope = $2 LIMIT $3
      ) RETURNING 1
    )
    SELECT count(*) AS keys FROM d`,
};
const ERASE_COUNTS: readonly Sql[] = ['task_count', 'task_count_change'].map((table) => ({
  name: `erase-${table}`,
  text: `DELETE FROM parley.${table} WHERE part = $1 AND scope = $2`,
}));

/**
 * The statistics of the planner contain ids and keys of deleted rows. An empty table would keep its statistics, so each
 * partition gets a temporary row within the transaction.
 */
const REFRESHED = [
  {
    table: 'task',
    key: 'id',
    columns: `id, pk, part, scope, agent, tenant, status, bytes, status_time, created, seq, floor, epoch, held, turns,
      queued, began, snapshot_seq, state, earlier_state, pushes`,
    values: `'', -part, part, '${NO_SCOPE}', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false`,
  },
  {
    table: 'push_config',
    key: 'id',
    columns: 'id, task, part, place, epoch, position, attempts, agent, config',
    values: `'', -part, part, 0, 0, 0, 0, '', ''`,
  },
  {
    table: 'idempotency',
    key: 'key',
    columns: 'key, scope, part, expires, digest',
    values: `'', '${NO_SCOPE}', part, 0, ''`,
  },
] as const;

/** The data of users in a database. */
export class PostgresOwners implements OwnerStorage {
  readonly #lifetime: StorageLifetime;
  readonly #tables: PostgresTables;
  readonly #scopes: StoredScopes;
  readonly #wakeups: Wakeups;

  constructor({ lifetime, tables, scopes, wakeups }: PostgresOwnersOptions) {
    this.#lifetime = lifetime;
    this.#tables = tables;
    this.#scopes = scopes;
    this.#wakeups = wakeups;
  }

  async block(owner: OwnerQuery, forMs: number): Promise<void> {
    this.#lifetime.check();
    const name = textOfName(ownerQueryText(owner));
    if (forMs <= 0) {
      await this.#tables.query(UNBLOCK, name);
      return;
    }
    const [row] = await this.#tables.query<{ readonly extended: boolean }>(BLOCK, name, ...columnsOf(owner), forMs);
    if (row?.extended === true) return;
    for (const barrier of BARRIERS) await this.#tables.transaction((tables) => tables.query(barrier));
  }

  async scopes(owner: OwnerQuery): Promise<readonly Scope[]> {
    this.#lifetime.check();
    const read = (tables: Tables) =>
      tables.query<{ readonly agent: string; readonly tenant: string }>(SCOPES, ...columnsOf(owner));
    const rows = await this.#tables.transaction(read, SCAN_MS);
    return rows.map(({ agent, tenant }) => ({ agent: nameOf(agent), tenant: nameOf(tenant), owner: owner.owner }));
  }

  async listScopes({ cursor = '', limit }: ScopeRange): Promise<readonly ListedScope[]> {
    this.#lifetime.check();
    const rows = await this.#tables.query<ScopeRow>(ALL_SCOPES, UUID.test(cursor) ? cursor : NO_SCOPE, limit);
    return rows.map(({ scope, agent, tenant, owner }) => ({
      scope: { agent: nameOf(agent), tenant: nameOf(tenant), owner: owner === null ? null : nameOf(owner) },
      cursor: scope,
    }));
  }

  async allTasks(range: OwnedTaskRange): Promise<OwnedTaskPage> {
    this.#lifetime.check();
    const { time, pk } = rowPlaceOf(range);
    const sql = range.hasEnded ? ENDED_TASKS : OPEN_TASKS;
    const rows = await this.#tables.query<OwnedTaskRow>(sql, time, pk, range.limit);
    const tasks = rows.map((row) => ({
      key: storedKey(row),
      contextId: row.context_id === null ? null : nameOf(row.context_id),
      state: stateOfNumber(row.state),
      ...{ statusTime: row.status_time, createdAt: row.created, seq: row.seq },
      ...{ running: row.running, heldTurn: row.held },
      cursor: cursorOfPlace({ time: row.time, tie: String(row.pk) }),
    }));
    return { tasks, isLast: rows.length < range.limit };
  }

  async keys(
    scope: Scope,
    { cursor = '', limit }: { readonly cursor?: string; readonly limit: number },
  ): Promise<OwnedKeyPage> {
    this.#lifetime.check();
    const { part, hash } = this.#scopes.of(scope);
    const rows = await this.#tables.query<KeyRow>(KEYS, part, hash, cursor, limit);
    const last = rows.at(-1);
    const keys = rows.map(({ key, expires, task_id: id, full_task_id: full, turn, reply }) => ({
      key: textOfKeyForm(key),
      expiresAt: expires,
      taskId: id === null ? null : storedName(id, full),
      turn,
      reply,
    }));
    return rows.length < limit || last === undefined ? { keys } : { keys, next: last.key };
  }

  async erase(scope: Scope, limit: number): Promise<ErasedRows> {
    this.#lifetime.check();
    const { part, hash } = this.#scopes.of(scope);
    const rowsIn = (tables: Tables): SharedOwnedRows => ({
      tasks: async (most) => {
        const rows = await tables.query<TaskRow>(LOCK_TASKS, part, hash, most);
        const pks = rows.map(({ pk }) => String(pk));
        if (rows.length > 0) await tables.query(ERASE_TASKS, part, pks);
        return { found: rows.length, ids: rows.map(({ id, full_id: full }) => storedName(id, full)) };
      },
      keys: async (most) => {
        const [gone] = await tables.query<{ readonly keys: number }>(ERASE_KEYS, part, hash, most);
        return gone?.keys ?? 0;
      },
      rest: async () => {
        for (const counts of ERASE_COUNTS) await tables.query(counts, part, hash);
        return 0;
      },
    });
    const { ids, ...erased } = await this.#tables.transaction((tables) => eraseShared(rowsIn(tables), limit));
    for (const id of ids) this.#wakeups.taskChanged({ scope, id });
    return erased;
  }

  async scrub(): Promise<void> {
    this.#lifetime.check();
    for (const { table, key, columns, values } of REFRESHED) {
      const rows = `SELECT ${values} FROM generate_series(0, ${PARTITIONS - 1}) part`;
      await this.#tables.transaction(async (tables) => {
        await tables.query({ text: `INSERT INTO parley.${table} (${columns}) ${rows}` });
        await tables.query({ text: `ANALYZE parley.${table}` });
        await tables.query({ text: `DELETE FROM parley.${table} WHERE ${key} = ''` });
      }, SCAN_MS);
    }
  }
}

interface ScopeRow extends Scope {
  /** The hash of the scope. */
  readonly scope: string;
}

interface OwnedTaskRow extends KeyColumns {
  readonly time: number;
  readonly pk: number;
  readonly context_id: string | null;
  readonly state: number;
  readonly status_time: number;
  readonly created: number;
  readonly seq: number;
  readonly held: number;
  readonly running: boolean;
}

interface KeyRow {
  readonly key: string;
  readonly expires: number;
  readonly task_id: string | null;
  readonly full_task_id: string | null;
  readonly turn: number | null;
  readonly reply: string | null;
}

interface TaskRow {
  readonly pk: number;
  readonly id: string;
  readonly full_id: string | null;
}

function columnsOf({ owner, agent, tenant }: OwnerQuery): readonly SqlValue[] {
  return [owner, agent ?? null, tenant ?? null].map((name) => (name === null ? null : textOfName(name)));
}
