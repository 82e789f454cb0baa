import type { Holder, LocalHead, Scope, TaskKey } from 'parley-a2a/storage-engine';
import type { ObjectSql } from './object-context.js';

/** A waiting or running turn, and its place among all turns. */
export interface QueuedTurn {
  readonly turn: number;
  readonly place: number;
}

/** The row of a task, as read by a call. Writes of the call change it as well. */
export interface TaskRow extends LocalHead {
  readonly pk: number;
  readonly scopePk: number;
  readonly key: TaskKey;
  state: LocalHead['state'];
  hasEnded: boolean;
  seq: number;
  /** The lowest sequence number still stored. */
  floor: number;
  epoch: number;
  turns: number;
  began: number;
  queue: readonly QueuedTurn[];
  holder: Holder | undefined;
  /** Approximate bytes of its records. */
  bytes: number;
}

interface Columns extends Scope {
  readonly pk: number;
  readonly scope: number;
  readonly id: string;
  readonly context_id: string | null;
  readonly state: LocalHead['state'];
  readonly created: number;
  readonly ended: number | null;
  readonly seq: number;
  readonly floor: number;
  readonly log_bytes: number;
  readonly epoch: number;
  readonly turns: number;
  readonly began: number;
  readonly first_place: number | null;
  readonly held_turn: number | null;
  readonly held_node: string | null;
  readonly lease_end: number | null;
}

const SELECT = `SELECT t.pk, t.scope, s.agent, s.tenant, s.owner, t.id, t.context_id, t.state, t.created, t.ended, t.seq,
  t.floor, t.log_bytes, t.epoch, t.turns, t.began, t.first_place, t.held_turn, t.held_node, t.lease_end`;
const BY_KEY = `${SELECT} FROM scope s JOIN task t ON t.scope = s.pk
  WHERE s.agent = ? AND s.tenant = ? AND s.owner IS ? AND t.id = ?`;
const BY_PK = `${SELECT} FROM task t JOIN scope s ON s.pk = t.scope WHERE t.pk = ?`;
const SCOPE = 'SELECT pk FROM scope WHERE agent = ? AND tenant = ? AND owner IS ?';

/** Finds tasks and scopes. */
export class TaskRows {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  find({ scope: { agent, tenant, owner }, id }: TaskKey): TaskRow | undefined {
    return this.#rowOf(this.#sql.get<Columns>(BY_KEY, agent, tenant, owner, id));
  }

  get(pk: number): TaskRow | undefined {
    return this.#rowOf(this.#sql.get<Columns>(BY_PK, pk));
  }

  /** The tasks of a list of row ids. Deleted ones are skipped. */
  *each(pks: Iterable<number>): Generator<TaskRow, void> {
    for (const pk of pks) {
      const row = this.get(pk);
      if (row !== undefined) yield row;
    }
  }

  /** Returns the id of an existing scope. */
  scope({ agent, tenant, owner }: Scope): number | undefined {
    return this.#sql.get<{ pk: number }>(SCOPE, agent, tenant, owner)?.pk;
  }

  /** Returns the id of a scope, and inserts the scope if it is missing. */
  scopeOf(scope: Scope): number {
    const known = this.scope(scope);
    if (known !== undefined) return known;
    const { agent, tenant, owner } = scope;
    const insert = 'INSERT INTO scope (agent, tenant, owner) VALUES (?, ?, ?) RETURNING pk';
    return this.#sql.get<{ pk: number }>(insert, agent, tenant, owner)?.pk ?? 0;
  }

  #rowOf(columns: Columns | undefined): TaskRow | undefined {
    if (columns === undefined) return undefined;
    const { pk, agent, tenant, owner, held_turn: turn } = columns;
    const queued = 'SELECT turn, place FROM turn WHERE task = ? ORDER BY turn';
    const holder = { turn: turn ?? 0, node: columns.held_node ?? '', leaseEnd: columns.lease_end ?? 0 };
    return {
      pk,
      scopePk: columns.scope,
      key: { scope: { agent, tenant, owner }, id: columns.id },
      contextId: columns.context_id,
      state: columns.state,
      createdAt: columns.created,
      hasEnded: columns.ended !== null,
      seq: columns.seq,
      floor: columns.floor,
      bytes: columns.log_bytes,
      epoch: columns.epoch,
      turns: columns.turns,
      began: columns.began,
      queue: columns.first_place === null ? [] : this.#sql.all<QueuedTurn>(queued, pk),
      holder: turn === null ? undefined : holder,
      // The values that claims compare.
      get head() {
        return this;
      },
    };
  }
}
