import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { DamagedRowError } from './damaged-row-error.js';
import { isDamage } from './file-fault.js';
import type { ScopeFields } from './operations.js';
import { REMEMBERED } from './remembered-keys.js';

/** A turn that waits or runs. */
export interface Queued {
  readonly turn: number;
  ready: boolean;
}

/** The row of a task without its texts, as the transaction that is under way sees it. */
export interface TaskHead {
  readonly pk: number;
  readonly scope: number;
  readonly context: number | null;
  readonly contextId: string | null;
  state: number;
  statusTime: number;
  seq: number;
  epoch: number;
  turns: number;
  /** The turn that a node holds, that node, and until when. */
  held: number | null;
  node: string | null;
  leaseEnd: number | null;
  /** The last turn that has written a record. */
  began: number;
  ended: boolean;
  status: string;
  metadata: string | null;
  /** About what its records take. */
  bytes: number;
  /** In order of their turns; only the first one can be held. */
  queue: Queued[];
}

/** How much of the logs is kept. */
export interface LogLimits {
  /** Of all finished tasks together; beyond it the oldest go before their time. */
  readonly tailBytes: number;
  /** Of one task that goes on; beyond it the older half goes. */
  readonly logBytes: number;
}

/** Count of idempotency keys, and about the bytes that they take. */
interface RememberedSize {
  readonly keys: number;
  readonly bytes: number;
}

const NO_KEYS: RememberedSize = { keys: 0, bytes: 0 };

type Row = Readonly<Record<string, SQLInputValue>>;

/** Entries kept in each of the caches. */
const CACHED = 5_000;
const LARGE = 8_192;

/** The tables as the one writer sees them: its statements, and what it remembers to spare itself most reads. */
export class WriteTables {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #agents = new Map<string, number>();
  readonly #scopes = new Map<string, number>();
  readonly #heads = new Map<string, TaskHead>();
  /** Changes to the counters that are still to be written, by `scope state`. */
  readonly #counts = new Map<string, number>();
  readonly #onAside: (row: string, reason: string) => void;
  /** Tasks that cannot be read or written. They are skipped until the file is opened again. */
  readonly #aside = new Set<number | string>();
  /** About what the records of all finished tasks take, and how that changes with this transaction. */
  #tailBytes: number;
  #tailChange = 0;
  /** The idempotency keys, and how that changes with this transaction. */
  #remembered: RememberedSize;
  #rememberedChange: RememberedSize = NO_KEYS;
  #lastTask: number;
  #lastContext: number;
  #lastPlace: number;
  #lastEnded: number;
  /** No lease ends before this. */
  nextLeaseEnd = 0;
  /** Whether the transaction that is under way or was the last has changed anything. */
  wrote = false;

  readonly limits: LogLimits;

  constructor(
    db: DatabaseSync,
    options: { readonly limits: LogLimits; readonly onAside: (row: string, reason: string) => void },
  ) {
    this.#db = db;
    this.limits = options.limits;
    this.#onAside = options.onAside;
    const last = (column: string, table: string) =>
      this.get<{ last: number | null }>(`SELECT max(${column}) AS last FROM ${table}`)?.last ?? 0;
    this.#lastTask = last('pk', 'task');
    this.#lastContext = last('context', 'task WHERE context IS NOT NULL');
    this.#lastPlace = last('place', 'execution');
    this.#lastEnded = Math.max(last('ended', 'task WHERE ended IS NOT NULL'), this.sweptUntil());
    const tails = 'SELECT sum(bytes) AS sum FROM task WHERE ended IS NOT NULL AND ended >= ?';
    this.#tailBytes = this.get<{ sum: number | null }>(tails, this.sweptUntil())?.sum ?? 0;
    this.#remembered = this.#countRemembered();
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    const changes = Number(this.#statement(sql).run(...values).changes);
    if (changes > 0) this.wrote = true;
    return changes;
  }

  get<R>(sql: string, ...values: SQLInputValue[]): R | undefined {
    return this.#statement(sql).get(...values) as R | undefined;
  }

  all<R>(sql: string, ...values: SQLInputValue[]): R[] {
    return this.#statement(sql).all(...values) as R[];
  }

  /** Rows one by one, as far as they are asked for. */
  each<R>(sql: string, ...values: SQLInputValue[]): IterableIterator<R> {
    return this.#statement(sql).iterate(...values) as IterableIterator<R>;
  }

  begin(): void {
    this.wrote = false;
    this.run('BEGIN IMMEDIATE');
  }

  /** Writes the counters and makes everything durable. */
  commit(): void {
    for (const [key, tasks] of this.#counts) {
      if (tasks === 0) continue;
      const [scope = 0, state = 0] = key.split(' ').map(Number);
      this.run(
        'INSERT INTO task_count VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks',
        scope,
        state,
        tasks,
      );
    }
    this.run('COMMIT');
    this.#counts.clear();
    this.#tailBytes += this.#tailChange;
    this.#tailChange = 0;
    this.#remembered = this.remembered;
    this.#rememberedChange = NO_KEYS;
  }

  /** Undoes the transaction, and forgets what was remembered in it. */
  rollback(): void {
    this.#counts.clear();
    this.#tailChange = 0;
    this.#rememberedChange = NO_KEYS;
    this.#heads.clear();
    this.#agents.clear();
    this.#scopes.clear();
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
  }

  /**
   * Works on one row of several; `row` is the number of a task, or a name. A row that is set aside is skipped:
   * `undefined`. A damaged row is set aside, and the transaction begins anew without it: SQLite can write nothing more
   * in a transaction that met a damaged page.
   * @throws DamagedRowError
   */
  apart<R>(row: number | string, work: () => R): R | undefined {
    if (this.#aside.has(row)) return undefined;
    try {
      return work();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.setAside(row, String(error));
      throw new DamagedRowError();
    }
  }

  /** Skips a row from now on. */
  setAside(row: number | string, reason: string): void {
    this.#aside.add(row);
    this.#onAside(typeof row === 'string' ? row : (this.#idOf(row) ?? `row ${row}`), reason);
  }

  isAside(row: number | string): boolean {
    return this.#aside.has(row);
  }

  nextTask(): number {
    this.#lastTask += 1;
    return this.#lastTask;
  }

  nextContext(): number {
    this.#lastContext += 1;
    return this.#lastContext;
  }

  nextPlace(): number {
    this.#lastPlace += 1;
    return this.#lastPlace;
  }

  /** The time at which a task that ends now has ended: never before one that ended earlier. */
  endTime(now: number): number {
    this.#lastEnded = Math.max(this.#lastEnded, now);
    return this.#lastEnded;
  }

  count(scope: number, state: number, by: 1 | -1): void {
    const key = `${scope} ${state}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by);
  }

  /** About what the records of all finished tasks take. */
  get tailBytes(): number {
    return this.#tailBytes + this.#tailChange;
  }

  /** The records of a finished task have come to this, or have gone. */
  changeTails(bytes: number): void {
    this.#tailChange += bytes;
  }

  /** Count of idempotency keys, and about the bytes that they take. */
  get remembered(): RememberedSize {
    const { keys, bytes } = this.#rememberedChange;
    return { keys: this.#remembered.keys + keys, bytes: this.#remembered.bytes + bytes };
  }

  /** A key was added, or has gone. */
  changeRemembered(by: 1 | -1, bytes: number): void {
    this.wrote = true;
    const change = this.#rememberedChange;
    this.#rememberedChange = { keys: change.keys + by, bytes: change.bytes + bytes };
  }

  /** No task has ended later than now: what a clock that was ahead has written is put right. */
  setClockBack(now: number): void {
    if (this.#lastEnded <= now) return;
    this.run('UPDATE task SET ended = ? WHERE ended > ?', now, now);
    if (this.sweptUntil() > now) this.setSweptUntil(now);
    this.#lastEnded = now;
  }

  /** The logs of all tasks that ended before this are gone. */
  sweptUntil(): number {
    return Number(this.get<{ value: string }>("SELECT value FROM meta WHERE name = 'swept'")?.value ?? 0);
  }

  setSweptUntil(time: number): void {
    this.#lastEnded = Math.max(this.#lastEnded, time);
    this.run("INSERT OR REPLACE INTO meta VALUES ('swept', ?)", String(time));
  }

  agent(name: string): number | undefined {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const row = this.get<{ pk: number }>('SELECT pk FROM agent WHERE name = ?', name);
    if (row !== undefined) remember(this.#agents, name, row.pk);
    return row?.pk;
  }

  /** The number of an agent, which gets one if it has none. */
  agentOf(name: string): number {
    const known = this.agent(name);
    if (known !== undefined) return known;
    this.run('INSERT INTO agent (name) VALUES (?)', name);
    return this.agentOf(name);
  }

  scope([agent, tenant, owner]: ScopeFields): number | undefined {
    const agentPk = this.agent(agent);
    if (agentPk === undefined) return undefined;
    const key = `${agentPk} ${tenant.length} ${tenant}${owner === null ? '' : ` ${owner}`}`;
    const known = this.#scopes.get(key);
    if (known !== undefined) return known;
    const row = this.get<{ pk: number }>(
      'SELECT pk FROM scope WHERE agent = ? AND tenant = ? AND owner IS ?',
      agentPk,
      tenant,
      owner,
    );
    if (row !== undefined) remember(this.#scopes, key, row.pk);
    return row?.pk;
  }

  /** The number of a scope, which gets one if it has none. */
  scopeOf(fields: ScopeFields): number {
    const known = this.scope(fields);
    if (known !== undefined) return known;
    const [agent, tenant, owner] = fields;
    this.run('INSERT INTO scope (agent, tenant, owner) VALUES (?, ?, ?)', this.agentOf(agent), tenant, owner);
    return this.scopeOf(fields);
  }

  /** A task by its scope and id. */
  head(fields: ScopeFields, id: string): TaskHead | undefined {
    const scope = this.scope(fields);
    if (scope === undefined) return undefined;
    const key = `${scope} ${id}`;
    const known = this.#heads.get(key);
    if (known !== undefined) return known;
    const row = this.get<Row>(`SELECT ${HEAD_COLUMNS} FROM task WHERE id = ? AND scope = ?`, id, scope);
    if (row === undefined) return undefined;
    const head = headOf(row);
    if (!head.ended) {
      const queued = this.all<{ turn: number; ready: number }>(
        'SELECT turn, ready FROM execution WHERE task = ? ORDER BY turn',
        head.pk,
      );
      head.queue = queued.map(({ turn, ready }) => ({ turn, ready: ready === 1 }));
      if (!isLarge(head)) remember(this.#heads, key, head);
    }
    return head;
  }

  /** Keeps the head of a task that was just made. */
  keep(id: string, head: TaskHead): void {
    if (!isLarge(head)) remember(this.#heads, `${head.scope} ${id}`, head);
  }

  /** Forgets a task that has ended or was deleted. */
  forget(scope: number, id: string): void {
    this.#heads.delete(`${scope} ${id}`);
  }

  #idOf(pk: number): string | undefined {
    try {
      return this.get<{ id: string }>('SELECT id FROM task WHERE pk = ?', pk)?.id;
    } catch {
      return undefined;
    }
  }

  /** A damaged table has no size: what can be read of it is still good. */
  #countRemembered(): RememberedSize {
    try {
      return this.get<RememberedSize>(REMEMBERED) ?? NO_KEYS;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return NO_KEYS;
    }
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const HEAD_COLUMNS =
  'pk, scope, context, context_id, state, status_time, seq, epoch, turns, held, node, lease_end, began, ended, status, metadata, bytes';

function headOf(row: Row): TaskHead {
  return {
    pk: row.pk as number,
    scope: row.scope as number,
    context: row.context as number | null,
    contextId: row.context_id as string | null,
    state: row.state as number,
    statusTime: row.status_time as number,
    seq: row.seq as number,
    epoch: row.epoch as number,
    turns: row.turns as number,
    held: row.held as number | null,
    node: row.node as string | null,
    leaseEnd: row.lease_end as number | null,
    began: row.began as number,
    ended: row.ended !== null,
    status: row.status as string,
    metadata: row.metadata as string | null,
    bytes: row.bytes as number,
    queue: [],
  };
}

/** Whether the texts of a task are too large to be remembered for thousands of tasks. */
export function isLarge({ status, metadata }: TaskHead): boolean {
  return status.length + (metadata?.length ?? 0) > LARGE;
}

/** Keeps a bounded number: the oldest goes when one more comes. */
function remember<V>(cache: Map<string, V>, key: string, value: V): void {
  cache.set(key, value);
  if (cache.size <= CACHED) return;
  for (const oldest of cache.keys()) {
    cache.delete(oldest);
    return;
  }
}
