import {
  andSql,
  boundParts,
  countSql,
  type ListSource,
  type LocalPage,
  PageBudget,
  pageOf,
  pageSql,
  type ReadRow,
  type SqlPart,
  type Task,
  type TaskQuery,
  type TaskStatus,
  taskOfPage,
} from 'parley-a2a/storage-engine';
import type { ObjectSql } from './object-context.js';
import { IS_INTERRUPTED } from './schema.js';
import type { TaskLog } from './task-log.js';
import type { TaskRow, TaskRows } from './task-rows.js';

interface Listed {
  readonly pk: number;
  readonly time: number;
  readonly id: string;
}

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
    const source = { ...sourceOf(query, scope), rest: boundParts(query) };
    const total = this.#total(source);
    const listed = query.limit > 0 ? this.#list(query, source) : [];
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

  #list(query: TaskQuery, source: ListSource): readonly Listed[] {
    const { sql, values } = pageSql(source, query);
    return this.#sql.all<Listed>(sql, ...values);
  }

  #total(source: ListSource): number {
    let total = 0;
    for (const { sql, values } of countSql(source))
      total += this.#sql.get<{ total: number }>(sql, ...values)?.total ?? 0;
    return total;
  }

  /** Reads a task without the members that the page omits. */
  #read(head: TaskRow, query: TaskQuery): Task {
    if (query.artifacts || query.history) return taskOfPage(this.#log.read(head), query);
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

function sourceOf(query: TaskQuery, scope: number): Omit<ListSource, 'rest'> {
  const { contextId, states = [], orderBy } = query;
  const distinct = [...new Set(states)];
  const inStates: readonly SqlPart[] =
    distinct.length === 0 ? [] : [{ sql: `state IN (${distinct.map(() => '?').join(', ')})`, values: distinct }];
  const one = (index: string, part: SqlPart) => ({ index, ranges: [andSql([part, ...inStates])] });
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
