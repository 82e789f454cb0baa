import type { SQLInputValue } from 'node:sqlite';
import { TASK_STATES } from '../../model/task-state.js';
import type { Scope, TaskQuery } from '../storage.js';
import type { ReadTables } from './read-tables.js';
import { memberColumns, TASK_COLUMNS, type TaskRow, wholeTask } from './read-task.js';
import { stateNumber } from './state-numbers.js';
import { type TaskTexts, textOf } from './task-texts.js';

/** A page of a list, as texts. */
export interface TextPage {
  readonly tasks: readonly TaskTexts[];
  readonly total: number;
}

/** A condition of a query with its values. */
interface Filter {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** Where a query looks: one stretch of an index for each state, or one for all. */
interface Source {
  readonly index: string;
  readonly stretches: readonly Filter[];
  /** What is left to check. */
  readonly rest: readonly Filter[];
}

const ALL_STATES = TASK_STATES.map((_, number) => number);

/** One page of the tasks of a scope. */
export function readPage(tables: ReadTables, query: TaskQuery): TextPage {
  return tables.together(() => {
    const { agent, tenant, owner } = query.scope;
    const scope = tables.get<{ pk: number }>(
      'SELECT s.pk FROM scope s JOIN agent a ON a.pk = s.agent WHERE a.name = ? AND s.tenant = ? AND s.owner IS ?',
      agent,
      tenant,
      owner,
    )?.pk;
    if (scope === undefined) return { tasks: [], total: 0 };
    const context = contextOf(tables, scope, query.contextId);
    if (query.contextId !== undefined && context === undefined) return { tasks: [], total: 0 };
    const source = sourceOf(query, scope, context?.number);
    return {
      tasks: pageRows(tables, query, source).map((row) => textsOf(tables, { ...row, ...query.scope }, query)),
      total: totalOf(tables, query, { scope, context, source }),
    };
  });
}

/** Tasks that have waited for their caller since before a time, and that nobody has written to. */
export function readAbandoned(
  tables: ReadTables,
  options: { readonly agents: readonly string[]; readonly before: number; readonly limit: number },
): readonly TaskTexts[] {
  const { agents, before, limit } = options;
  return tables.together(() => {
    const rows = tables.all<TaskRow>(
      `SELECT ${TASK_COLUMNS}, a.name AS agent, s.tenant, s.owner, NULL AS history, NULL AS artifacts
        FROM task t INDEXED BY task_interrupted JOIN agent a ON a.pk = t.agent JOIN scope s ON s.pk = t.scope
        WHERE t.state IN (6, 8) AND t.status_time < ? AND a.name IN (SELECT value FROM json_each(?))
        AND NOT EXISTS (SELECT 1 FROM execution e WHERE e.task = t.pk) ORDER BY t.status_time, t.pk LIMIT ?`,
      before,
      JSON.stringify(agents),
      Math.max(0, limit),
    );
    return rows.map((row) => textsOf(tables, row, { artifacts: true, history: true }));
  });
}

interface Context {
  readonly number: number;
  readonly tasks: number;
}

function contextOf(tables: ReadTables, scope: number, id: string | undefined): Context | undefined {
  if (id === undefined) return undefined;
  return tables.get<Context>('SELECT number, tasks FROM context WHERE scope = ? AND id = ?', scope, id);
}

function statesOf(query: TaskQuery): readonly number[] {
  const { states = [] } = query;
  return states.length === 0 ? ALL_STATES : [...new Set(states.map(stateNumber))];
}

function sourceOf(query: TaskQuery, scope: number, context: number | undefined): Source {
  const { statusAfter, createdAfter, createdBefore } = query;
  const statusTime: Filter[] = statusAfter === undefined ? [] : [{ sql: 'status_time >= ?', values: [statusAfter] }];
  const created: Filter[] = [
    ...(createdAfter === undefined ? [] : [{ sql: 'created > ?', values: [createdAfter] }]),
    ...(createdBefore === undefined ? [] : [{ sql: 'created < ?', values: [createdBefore] }]),
  ];
  const rest = [...statusTime, ...created];
  if (query.orderBy === 'created' && context === undefined) {
    const states = statesOf(query);
    const inStates =
      states.length === ALL_STATES.length
        ? []
        : [{ sql: `state IN (${states.map(() => '?').join(', ')})`, values: states }];
    return { index: 'task_created', stretches: [{ sql: 'scope = ?', values: [scope] }], rest: [...inStates, ...rest] };
  }
  const stretches = statesOf(query).map((state) =>
    context === undefined
      ? { sql: 'scope = ? AND state = ?', values: [scope, state] }
      : { sql: 'context = ? AND state = ?', values: [context, state] },
  );
  return { index: context === undefined ? 'task_state' : 'task_context', stretches, rest };
}

function pageRows(tables: ReadTables, query: TaskQuery, source: Source): readonly Omit<TaskRow, keyof Scope>[] {
  const { cursor, offset = 0, limit } = query;
  if (limit <= 0) return [];
  const column = query.orderBy === 'status' ? 'status_time' : 'created';
  const order = `ORDER BY ${column} DESC, id DESC`;
  const behind: Filter[] =
    cursor === undefined ? [] : [{ sql: `(${column}, id) < (?, ?)`, values: [cursor.time, cursor.id] }];
  const parts = source.stretches.map((stretch) => {
    const where = [stretch, ...behind, ...source.rest];
    return {
      sql: `SELECT * FROM (SELECT pk, ${column}, id FROM task INDEXED BY ${source.index}
        WHERE ${where.map(({ sql }) => sql).join(' AND ')} ${order} LIMIT ?)`,
      values: [...where.flatMap(({ values }) => values), offset + limit],
    };
  });
  const found = `${parts.map((part) => part.sql).join(' UNION ALL ')} ${order} LIMIT ? OFFSET ?`;
  const values = [...parts.flatMap((part) => part.values), limit, offset];
  const { columns, join } = memberColumns(query);
  return tables.all(
    `SELECT ${TASK_COLUMNS}, ${columns} FROM (${found}) f JOIN task t ON t.pk = f.pk ${join} ORDER BY f.${column} DESC, f.id DESC`,
    ...values,
  );
}

function totalOf(
  tables: ReadTables,
  query: TaskQuery,
  found: { readonly scope: number; readonly context: Context | undefined; readonly source: Source },
): number {
  const { scope, context, source } = found;
  const isTimed = [query.statusAfter, query.createdAfter, query.createdBefore].some((time) => time !== undefined);
  const states = statesOf(query);
  if (!isTimed && context === undefined) {
    const sql = `SELECT sum(tasks) AS total FROM task_count WHERE scope = ? AND state IN (${states.map(() => '?').join(', ')})`;
    return tables.get<{ total: number | null }>(sql, scope, ...states)?.total ?? 0;
  }
  if (!isTimed && context !== undefined && states.length === ALL_STATES.length) return context.tasks;
  let total = 0;
  for (const stretch of source.stretches) {
    const where = [stretch, ...source.rest];
    const sql = `SELECT count(*) AS total FROM task INDEXED BY ${source.index} WHERE ${where.map((f) => f.sql).join(' AND ')}`;
    total += tables.get<{ total: number }>(sql, ...where.flatMap(({ values }) => values))?.total ?? 0;
  }
  return total;
}

function textsOf(
  tables: ReadTables,
  row: TaskRow,
  wanted: { readonly artifacts: boolean; readonly history: boolean },
): TaskTexts {
  if (row.ended !== null || !(wanted.artifacts || wanted.history)) return row;
  const { history, artifacts } = wholeTask(tables, row);
  return {
    ...row,
    history: wanted.history ? textOf(history) : null,
    artifacts: wanted.artifacts ? textOf(artifacts) : null,
  };
}
