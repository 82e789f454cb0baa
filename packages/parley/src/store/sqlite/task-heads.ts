import type { SQLInputValue } from 'node:sqlite';
import type { Holder, TaskHead } from '../rules/task-head.js';
import type { Statements } from './statements.js';
import type { ScopeFields } from './write-requests.js';

/** A waiting or running turn. `ready`: it is the first turn of a task without a holder, and in the index of claims. */
export interface QueuedTurn {
  readonly turn: number;
  ready: boolean;
}

/** The row of a task as of the current transaction. */
export interface HeadRow extends TaskHead {
  readonly pk: number;
  readonly scope: number;
  readonly contextId: string | null;
  state: number;
  statusTime: number;
  hasEnded: boolean;
  seq: number;
  epoch: number;
  turns: number;
  began: number;
  queue: QueuedTurn[];
  holder: Holder | undefined;
  /** JSON of the status and the metadata after the last record. */
  status: string;
  metadata: string | null;
  /** Approximate bytes of its records. */
  bytes: number;
  /** True if the task has a push configuration. */
  hasDeliveries: boolean;
}

type Row = Readonly<Record<string, SQLInputValue>>;

/** Maximum entries of each cache. */
const CACHED = 5_000;
/** Tasks with longer texts, in characters, are not cached. */
const LARGE = 8_192;

const HEAD_COLUMNS = `pk, scope, context_id, state, status_time, seq, epoch, turns, held, node, lease_end, began,
  ended, status, metadata, bytes, EXISTS (SELECT 1 FROM push_delivery d WHERE d.task = task.pk) AS has_deliveries`;

/** Caches the most recently used rows of tasks, and the numbers of agents and scopes. Avoids most reads. */
export class TaskHeads {
  readonly #sql: Statements;
  readonly #agents = new Map<string, number>();
  readonly #scopes = new Map<string, number>();
  readonly #heads = new Map<string, HeadRow>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Clears the caches after a rollback. */
  clear(): void {
    this.#heads.clear();
    this.#agents.clear();
    this.#scopes.clear();
  }

  agent(name: string): number | undefined {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const row = this.#sql.get<{ pk: number }>('SELECT pk FROM agent WHERE name = ?', name);
    if (row !== undefined) remember(this.#agents, name, row.pk);
    return row?.pk;
  }

  /** Returns the number of an agent, and creates it if it is missing. */
  agentOf(name: string): number {
    const known = this.agent(name);
    if (known !== undefined) return known;
    this.#sql.run('INSERT INTO agent (name) VALUES (?)', name);
    return this.agentOf(name);
  }

  scope([agent, tenant, owner]: ScopeFields): number | undefined {
    const agentPk = this.agent(agent);
    if (agentPk === undefined) return undefined;
    const key = scopeKey(agentPk, tenant, owner);
    const known = this.#scopes.get(key);
    if (known !== undefined) return known;
    const row = this.#sql.get<{ pk: number }>(
      'SELECT pk FROM scope WHERE agent = ? AND tenant = ? AND owner IS ?',
      agentPk,
      tenant,
      owner,
    );
    if (row !== undefined) remember(this.#scopes, key, row.pk);
    return row?.pk;
  }

  /** Returns the number of a scope, and creates it if it is missing. */
  scopeOf(fields: ScopeFields): number {
    const known = this.scope(fields);
    if (known !== undefined) return known;
    const [agent, tenant, owner] = fields;
    this.#sql.run('INSERT INTO scope (agent, tenant, owner) VALUES (?, ?, ?)', this.agentOf(agent), tenant, owner);
    return this.scopeOf(fields);
  }

  /** Removes a deleted scope from the cache. */
  forgetScope([agent, tenant, owner]: ScopeFields): void {
    const agentPk = this.agent(agent);
    if (agentPk !== undefined) this.#scopes.delete(scopeKey(agentPk, tenant, owner));
  }

  /** Returns a task by its scope and id. */
  find(fields: ScopeFields, id: string): HeadRow | undefined {
    const scope = this.scope(fields);
    if (scope === undefined) return undefined;
    const key = `${scope} ${id}`;
    const known = this.#heads.get(key);
    if (known !== undefined) return known;
    const row = this.#sql.get<Row>(`SELECT ${HEAD_COLUMNS} FROM task WHERE id = ? AND scope = ?`, id, scope);
    if (row === undefined) return undefined;
    const head = headOf(row);
    if (!head.hasEnded) {
      const queued = this.#sql.all<{ turn: number; ready: number }>(
        'SELECT turn, ready FROM execution WHERE task = ? ORDER BY turn',
        head.pk,
      );
      head.queue = queued.map(({ turn, ready }) => ({ turn, ready: ready === 1 }));
      this.keep(id, head);
    }
    return head;
  }

  /** Caches the row of an open task without large texts. */
  keep(id: string, head: HeadRow): void {
    const key = `${head.scope} ${id}`;
    if (head.hasEnded || head.status.length + (head.metadata?.length ?? 0) > LARGE) this.#heads.delete(key);
    else if (!this.#heads.has(key)) remember(this.#heads, key, head);
  }

  /** Removes a deleted task from the cache. */
  forget(scope: number, id: string): void {
    this.#heads.delete(`${scope} ${id}`);
  }
}

function scopeKey(agentPk: number, tenant: string, owner: string | null): string {
  return `${agentPk} ${tenant.length} ${tenant}${owner === null ? '' : ` ${owner}`}`;
}

function headOf(row: Row): HeadRow {
  const turn = row.held as number | null;
  return {
    pk: row.pk as number,
    scope: row.scope as number,
    contextId: row.context_id as string | null,
    state: row.state as number,
    statusTime: row.status_time as number,
    hasEnded: row.ended !== null,
    seq: row.seq as number,
    epoch: row.epoch as number,
    turns: row.turns as number,
    began: row.began as number,
    queue: [],
    holder: turn === null ? undefined : { turn, node: row.node as string, leaseEnd: row.lease_end as number },
    status: row.status as string,
    metadata: row.metadata as string | null,
    bytes: row.bytes as number,
    hasDeliveries: row.has_deliveries === 1,
  };
}

/** Adds an entry to a cache. Evicts the oldest above the maximum. */
function remember<V>(cache: Map<string, V>, key: string, value: V): void {
  cache.set(key, value);
  if (cache.size <= CACHED) return;
  for (const oldest of cache.keys()) {
    cache.delete(oldest);
    return;
  }
}
