import type { SQLInputValue } from 'node:sqlite';
import { TASK_STATES } from '../../model/task-state.js';
import { PageBudget } from '../page-budget.js';
import type { ListCursor, TaskPage, TaskQuery } from '../task-storage.js';
import type { ReadTables } from './read-tables.js';
import { TASK_COLUMNS, type TaskRow, wholeTask } from './read-task.js';
import { stateNumber } from './state-numbers.js';
import { parseTask, type TaskTexts, textOf } from './task-texts.js';

/** A page of a list, as texts. */
export interface TextPage extends Omit<TaskPage, 'tasks'> {
  readonly tasks: readonly TaskTexts[];
}

/** A task in the order of a list. */
interface Listed extends ListCursor {
  readonly pk: number;
}

/** Tasks that wait for their caller are read until their JSON is this long. */
const ABANDONED_BYTES = 8_388_608;

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
    const total = totalOf(tables, query, { scope, context, source });
    return { ...pageOf(tables, query, listed(tables, query, source)), total };
  });
}

/** Tasks that have waited for their caller since before a time, and that nobody has written to. */
export function readAbandoned(
  tables: ReadTables,
  options: { readonly agents: readonly string[]; readonly before: number; readonly limit: number },
): readonly TaskTexts[] {
  const { agents, before, limit } = options;
  return tables.together(() => {
    const budget = new PageBudget(ABANDONED_BYTES);
    const tasks: TaskTexts[] = [];
    for (const { pk } of interrupted(tables, before)) {
      if (tasks.length >= limit) break;
      const isOver = tables.apart(`row ${pk}`, () => {
        const row = tables.get<SizedRow>(`${SIZED} WHERE t.pk = ? AND NOT EXISTS (${EXECUTIONS})`, pk);
        if (row === undefined || !agents.includes(row.agent)) return false;
        if (!budget.takes(sizeOf(row, WHOLE))) return true;
        const texts = textsOf(tables, row, WHOLE);
        parseTask(texts);
        tasks.push(texts);
        return false;
      });
      if (isOver === true) break;
    }
    return tasks;
  });
}

/** Read from the index alone, in stretches, so that no damaged task hides the next. */
function* interrupted(tables: ReadTables, before: number): Generator<{ readonly pk: number }, void> {
  for (let [time, after] = [Number.MIN_SAFE_INTEGER, 0]; ; ) {
    const stretch = tables.all<{ pk: number; time: number }>(INTERRUPTED, before, time, after);
    yield* stretch;
    const last = stretch.at(-1);
    if (last === undefined) return;
    [time, after] = [last.time, last.pk];
  }
}

const INTERRUPTED = `SELECT pk, status_time AS time FROM task INDEXED BY task_interrupted
  WHERE state IN (6, 8) AND status_time < ? AND (status_time, pk) > (?, ?) ORDER BY status_time, pk LIMIT 200`;
const EXECUTIONS = 'SELECT 1 FROM execution e WHERE e.task = t.pk';

/** A task without its large members, and about how long their JSON is. */
interface SizedRow extends Omit<TaskRow, 'history' | 'artifacts'> {
  readonly historyBytes: number | null;
  readonly artifactsBytes: number | null;
  /** Of the records of a task that goes on. */
  readonly logBytes: number;
}

const SIZED = `SELECT ${TASK_COLUMNS}, a.name AS agent, s.tenant, s.owner, octet_length(n.history) AS historyBytes,
  octet_length(n.artifacts) AS artifactsBytes, t.bytes AS logBytes
  FROM task t JOIN agent a ON a.pk = t.agent JOIN scope s ON s.pk = t.scope LEFT JOIN snapshot n ON n.task = t.pk`;
const MEMBERS = 'SELECT history, artifacts FROM snapshot WHERE task = ?';
const WHOLE = { artifacts: true, history: true };

/** The members of each task that a reader wants. */
type Wanted = Pick<TaskQuery, 'artifacts' | 'history'>;

function sizeOf(row: SizedRow, { artifacts, history }: Wanted): number {
  const head = row.status.length + (row.metadata?.length ?? 0);
  if (!artifacts && !history) return head;
  if (row.ended === null) return head + row.logBytes + (row.historyBytes ?? 0) + (row.artifactsBytes ?? 0);
  return head + (history ? (row.historyBytes ?? 0) : 0) + (artifacts ? (row.artifactsBytes ?? 0) : 0);
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

/** The tasks that a page may show, and one more if there is one. Read from the index alone. */
function listed(tables: ReadTables, query: TaskQuery, source: Source): readonly Listed[] {
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
      values: [...where.flatMap(({ values }) => values), offset + limit + 1],
    };
  });
  const found = `${parts.map((part) => part.sql).join(' UNION ALL ')} ${order} LIMIT ? OFFSET ?`;
  const values = [...parts.flatMap((part) => part.values), limit + 1, offset];
  return tables.all(`SELECT pk, ${column} AS time, id FROM (${found})`, ...values);
}

/** The page of these tasks, as far as its bytes allow. Tasks that cannot be read are left out. */
function pageOf(tables: ReadTables, query: TaskQuery, found: readonly Listed[]): Omit<TextPage, 'total'> {
  const budget = new PageBudget(query.maxBytes);
  const tasks: TaskTexts[] = [];
  let last: Listed | undefined;
  for (const [at, task] of found.entries()) {
    const isOver =
      at === query.limit ||
      tables.apart(task.id, () => {
        const row = tables.get<SizedRow>(`${SIZED} WHERE t.pk = ?`, task.pk);
        if (row === undefined) return false;
        if (!budget.takes(sizeOf(row, query))) return true;
        tasks.push(textsOf(tables, row, query));
        return false;
      });
    if (isOver === true) return { tasks, ...(last && { next: { time: last.time, id: last.id } }) };
    last = task;
  }
  return { tasks };
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

function textsOf(tables: ReadTables, row: SizedRow, wanted: Wanted): TaskTexts {
  const bare = { ...row, history: null, artifacts: null };
  if (!wanted.artifacts && !wanted.history) return bare;
  if (row.ended !== null) {
    const members = tables.get<Pick<TaskTexts, 'history' | 'artifacts'>>(MEMBERS, row.pk);
    return {
      ...bare,
      history: wanted.history ? (members?.history ?? null) : null,
      artifacts: wanted.artifacts ? (members?.artifacts ?? null) : null,
    };
  }
  const { history, artifacts } = wholeTask(tables, bare);
  return {
    ...bare,
    history: wanted.history ? textOf(history) : null,
    artifacts: wanted.artifacts ? textOf(artifacts) : null,
  };
}
