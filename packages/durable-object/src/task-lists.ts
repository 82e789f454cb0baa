import {
  boundsOf,
  type LocalPage,
  PageBudget,
  pageOf,
  type ReadRow,
  shownTask,
  type Task,
  type TaskQuery,
  type TaskStatus,
} from 'parley-a2a/storage-engine';
import type { ObjectSql, SqlValue } from './object-context.js';
import { IS_INTERRUPTED } from './schema.js';
import type { TaskLog } from './task-log.js';
import type { TaskRow, TaskRows } from './task-rows.js';

interface Listed {
  readonly pk: number;
  readonly time: number;
  readonly id: string;
}

/** A condition with its values. */
interface Filter {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The part of an index that a query reads: a range for each state, or one for all. */
interface Source {
  readonly index: string;
  readonly ranges: readonly Filter[];
}

const COLUMNS = { status: 'status_time', created: 'created' } as const;
const ABANDONED = `SELECT t.pk FROM task t INDEXED BY task_interrupted JOIN scope s ON s.pk = t.scope
  WHERE t.${IS_INTERRUPTED} AND t.status_time < ? AND t.first_place IS NULL
  AND s.agent IN (SELECT value FROM json_each(?)) ORDER BY t.status_time, t.pk LIMIT ?`;

/** Lists of tasks. */
export class TaskLists {
  readonly #sql: ObjectSql;
  readonly #rows: TaskRows;
  readonly #log: TaskLog;

  constructor(sql: ObjectSql, rows: TaskRows, log: TaskLog) {
    this.#sql = sql;
    this.#rows = rows;
    this.#log = log;
  }

  page(query: TaskQuery, readRow: ReadRow): LocalPage<TaskRow> {
    const scope = this.#rows.scope(query.scope);
    if (scope === undefined) return { found: [], total: 0 };
    const source = sourceOf(query, scope);
    const filters = boundsOf(query).map(({ time, operator, value }) => ({
      sql: `${COLUMNS[time]} ${operator} ?`,
      values: [value],
    }));
    const total = this.#total(source, filters);
    const listed = query.limit > 0 ? this.#listed(query, source, filters) : [];
    const budget = new PageBudget(query.maxBytes);
    const page = pageOf(listed, {
      limit: query.limit,
      read: ({ pk }) => {
        const head = this.#rows.get(pk);
        if (head === undefined) return undefined;
        const task = readRow(head.key, () => this.#read(head, query));
        if (task === undefined) return undefined;
        const bytes = query.maxBytes === undefined ? 0 : JSON.stringify(task).length;
        return budget.takes(bytes) ? { head, task } : 'no-room';
      },
      cursorOf: ({ time, id }) => ({ time, id }),
    });
    return { ...page, total };
  }

  abandoned(agents: readonly string[], before: number, limit: number): readonly TaskRow[] {
    const found = this.#sql.all<{ pk: number }>(ABANDONED, before, JSON.stringify(agents), limit);
    return [...this.#rows.each(found.map(({ pk }) => pk))];
  }

  /** The tasks that a page may show, and the one behind them. Reads the index alone. */
  #listed(query: TaskQuery, { index, ranges }: Source, filters: readonly Filter[]): readonly Listed[] {
    const { cursor, offset = 0, limit } = query;
    const column = COLUMNS[query.orderBy];
    const order = 'ORDER BY time DESC, id DESC';
    const behind = cursor && { sql: `(${column}, id) < (?, ?)`, values: [cursor.time, cursor.id] };
    const parts = ranges.map((range) => {
      const { sql, values } = allOf([range, ...filters, ...(behind ? [behind] : [])]);
      const select = `SELECT pk, ${column} AS time, id FROM task INDEXED BY ${index} WHERE ${sql} ${order} LIMIT ?`;
      return { sql: `SELECT * FROM (${select})`, values: [...values, offset + limit + 1] };
    });
    const all = `${parts.map(({ sql }) => sql).join(' UNION ALL ')} ${order} LIMIT ? OFFSET ?`;
    return this.#sql.all<Listed>(all, ...parts.flatMap(({ values }) => values), limit + 1, offset);
  }

  #total({ index, ranges }: Source, filters: readonly Filter[]): number {
    let total = 0;
    for (const range of ranges) {
      const { sql, values } = allOf([range, ...filters]);
      const count = `SELECT count(*) AS total FROM task INDEXED BY ${index} WHERE ${sql}`;
      total += this.#sql.get<{ total: number }>(count, ...values)?.total ?? 0;
    }
    return total;
  }

  /** A task without the members that the page does not show. */
  #read(head: TaskRow, query: TaskQuery): Task {
    if (query.artifacts || query.history) return shownTask(this.#log.read(head), query);
    const columns = 'SELECT status, metadata FROM task WHERE pk = ?';
    const row = this.#sql.get<{ status: string; metadata: string | null }>(columns, head.pk);
    const { key, contextId } = head;
    return {
      id: key.id,
      ...(typeof contextId === 'string' && { contextId }),
      status: this.#sql.parse<TaskStatus>(row?.status ?? '{}'),
      ...(row?.metadata && { metadata: this.#sql.parse<NonNullable<Task['metadata']>>(row.metadata) }),
    };
  }
}

function sourceOf(query: TaskQuery, scope: number): Source {
  const { contextId, states = [], orderBy } = query;
  const distinct = [...new Set(states)];
  const inStates: readonly Filter[] =
    distinct.length === 0 ? [] : [{ sql: `state IN (${distinct.map(() => '?').join(', ')})`, values: distinct }];
  const one = (index: string, filter: Filter): Source => ({ index, ranges: [allOf([filter, ...inStates])] });
  if (contextId !== undefined) {
    return one('task_context', { sql: 'scope = ? AND context_id = ?', values: [scope, contextId] });
  }
  const all = { sql: 'scope = ?', values: [scope] };
  if (orderBy === 'created') return one('task_created', all);
  if (distinct.length === 0) return one('task_status', all);
  return {
    index: 'task_state',
    ranges: distinct.map((state) => ({ sql: 'scope = ? AND state = ?', values: [scope, state] })),
  };
}

function allOf(filters: readonly Filter[]): Filter {
  return { sql: filters.map(({ sql }) => sql).join(' AND '), values: filters.flatMap(({ values }) => values) };
}
