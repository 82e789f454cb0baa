import { ABANDONED_BYTES, PageBudget, pageOf } from '../engine/pages.js';
import { boundsOf } from '../rules/list-query.js';
import { INTERRUPTED_STATES, stateNumber } from '../state-numbers.js';
import type { ListCursor, TaskQuery } from '../task-storage.js';
import { ALONE } from './contexts.js';
import { isDamage } from './file-fault.js';
import { boundParts, countSql, type ListSource, pageSql, type SqlPart } from './list-sql.js';
import type { ReadTables } from './read-tables.js';
import { wholeTask } from './read-task.js';
import {
  type FinishedRow,
  LEASE_COLUMNS,
  type LeasedRow,
  type RowPage,
  TASK_COLUMNS,
  type TaskRow,
  taskOf,
  textOf,
} from './task-texts.js';
import type { ScopeFields } from './write-requests.js';

/** A row of an abandoned task and its scope. */
export type AbandonedRow = readonly [scope: ScopeFields, task: TaskRow];

/** A task in a list. */
type Listed = readonly [pk: number, time: number, id: string];

/** Reads one page of the tasks of a scope. */
export function readPage(tables: ReadTables, query: TaskQuery): RowPage {
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
    const counts = countsOf(tables, scope, query);
    if (counts.length === 0 || (query.contextId !== undefined && context === undefined)) return { tasks: [], total: 0 };
    const states = counts.map(([state]) => state);
    const source = sourceOf(query, { scope, context, states });
    const total = totalOf(tables, query, { counts, context, source });
    return { ...rowsOfPage(tables, query, readListed(tables, query, source)), total };
  });
}

/** Reads tasks that have waited for their caller since before a time, and have no turn. */
export function readAbandoned(
  tables: ReadTables,
  options: { readonly agents: readonly string[]; readonly before: number; readonly limit: number },
): readonly AbandonedRow[] {
  const { agents, before, limit } = options;
  return tables.together(() => {
    const budget = new PageBudget(ABANDONED_BYTES);
    const tasks: AbandonedRow[] = [];
    for (const [pk] of eachInterrupted(tables, before)) {
      if (tasks.length >= limit) break;
      const row = tables.apart(`row ${pk}`, () => {
        const scope = tables.row<ScopeFields>(IDLE_SCOPE, pk);
        if (scope === undefined || !agents.includes(scope[0])) return undefined;
        const task = readAlone(tables, pk, { wanted: WHOLE, budget });
        if (task === 'no-room' || task === undefined) return task;
        taskOf(task);
        return [scope, task] as const;
      });
      if (row === 'no-room') break;
      if (row !== undefined) tasks.push(row);
    }
    return tasks;
  });
}

/** Reads only the index, in batches, so that a damaged task does not hide the next ones. */
function* eachInterrupted(tables: ReadTables, before: number): Generator<readonly [pk: number, time: number], void> {
  for (let [time, after] = [Number.MIN_SAFE_INTEGER, 0]; ; ) {
    const batch = tables.rows<readonly [pk: number, time: number]>(INTERRUPTED, before, time, after);
    yield* batch;
    const last = batch.at(-1);
    if (last === undefined) return;
    [after, time] = last;
  }
}

const INTERRUPTED = `SELECT pk, status_time AS time FROM task INDEXED BY task_interrupted
  WHERE state IN (${INTERRUPTED_STATES.join(', ')}) AND status_time < ? AND (status_time, pk) > (?, ?) ORDER BY status_time, pk LIMIT 200`;
const IDLE_SCOPE = `SELECT a.name, s.tenant, s.owner FROM task t
  JOIN agent a ON a.pk = t.agent JOIN scope s ON s.pk = t.scope
  WHERE t.pk = ? AND NOT EXISTS (SELECT 1 FROM execution e WHERE e.task = t.pk)`;

/** The large members that the page includes. */
type Wanted = Pick<TaskQuery, 'artifacts' | 'history'>;

const WHOLE: Wanted = { artifacts: true, history: true };

interface Context {
  /** `null` for a context without a row, which has one task. */
  readonly number: number | null;
  readonly tasks: number;
}

function contextOf(tables: ReadTables, scope: number, id: string | undefined): Context | undefined {
  if (id === undefined) return undefined;
  const shared = 'SELECT number, tasks FROM context WHERE scope = ? AND id = ?';
  const alone = `SELECT NULL AS number, 1 AS tasks FROM task INDEXED BY task_alone WHERE ${ALONE}`;
  return tables.get<Context>(shared, scope, id) ?? tables.get<Context>(alone, scope, id);
}

type StateCount = readonly [state: number, tasks: number];

/** Returns the states of the query that have tasks in this scope. */
function countsOf(tables: ReadTables, scope: number, { states = [] }: TaskQuery): readonly StateCount[] {
  const counts = tables.rows<StateCount>('SELECT state, tasks FROM task_count WHERE scope = ? AND tasks > 0', scope);
  if (states.length === 0) return counts;
  const wanted = states.map(stateNumber);
  return counts.filter(([state]) => wanted.includes(state));
}

function sourceOf(
  query: TaskQuery,
  found: { readonly scope: number; readonly context: Context | undefined; readonly states: readonly number[] },
): ListSource {
  const { scope, context, states } = found;
  const rest = boundParts(query);
  if (query.orderBy === 'created' && context === undefined) {
    const inStates =
      (query.states ?? []).length === 0
        ? []
        : [{ sql: `state IN (${states.map(() => '?').join(', ')})`, values: states }];
    return { index: 'task_created', ranges: [{ sql: 'scope = ?', values: [scope] }], rest: [...inStates, ...rest] };
  }
  const { index, part } = partOf(scope, query.contextId, context);
  const ranges = states.map((state) => ({ sql: `${part.sql} AND state = ?`, values: [...part.values, state] }));
  return { index, ranges, rest };
}

/** Returns the index of a scope or of a context, and its condition. */
function partOf(
  scope: number,
  contextId: string | undefined,
  context: Context | undefined,
): { readonly index: string; readonly part: SqlPart } {
  if (contextId === undefined || context === undefined) {
    return { index: 'task_state', part: { sql: 'scope = ?', values: [scope] } };
  }
  if (context.number === null) return { index: 'task_alone', part: { sql: ALONE, values: [scope, contextId] } };
  return { index: 'task_context', part: { sql: 'context = ?', values: [context.number] } };
}

/** Returns the tasks that may be on a page, plus one more. */
function readListed(tables: ReadTables, query: TaskQuery, source: ListSource): readonly Listed[] {
  if (query.limit <= 0) return [];
  const { sql, values } = pageSql(source, query);
  return tables.rows(sql, ...values);
}

/** Returns the page of these tasks within its maximum of bytes. Skips tasks that cannot be read. */
function rowsOfPage(tables: ReadTables, query: TaskQuery, found: readonly Listed[]): Omit<RowPage, 'total'> {
  const budget = new PageBudget(query.maxBytes);
  const small = readSmall(tables, query, found);
  const { found: tasks, ...rest } = pageOf<Listed, TaskRow, ListCursor>(found, {
    limit: query.limit,
    read: ([pk, , id]) => {
      const row = small.get(pk);
      if (row === undefined) return tables.apart(id, () => checkRead(readAlone(tables, pk, { wanted: query, budget })));
      return budget.takes(bytesOf(row)) ? row : 'no-room';
    },
    cursorOf: ([, time, id]) => ({ time, id }),
  });
  return { tasks, ...rest };
}

/** A row; `undefined` if its task is deleted or damaged; `no-room` if the page ends before it. */
type Read = TaskRow | 'no-room' | undefined;

/** Returns the row if it can be parsed. */
function checkRead(read: Read): Read {
  if (typeof read === 'object') taskOf(read);
  return read;
}

/**
 * Reads tasks by row id in one statement, because one statement per task costs three times as much. Skips open tasks,
 * tasks with invalid JSON, and tasks above their share of the page. Returns none if one row is damaged.
 */
function readSmall(tables: ReadTables, query: TaskQuery, found: readonly Listed[]): ReadonlyMap<number, TaskRow> {
  const pks = found.slice(0, query.limit).map(([pk]) => pk);
  const most = Math.floor((query.maxBytes ?? Number.MAX_SAFE_INTEGER) / Math.max(1, pks.length));
  const checked = tables.checked.forPage(`${query.history} ${query.artifacts}`);
  const known = pks.filter((pk) => checked.has(pk));
  const others = known.length === pks.length ? [] : pks.filter((pk) => !checked.has(pk));
  const small = new Map<number, TaskRow>();
  try {
    for (const row of readRows(tables, known, { wanted: query, most })) small.set(row[0], row);
    for (const row of readRows(tables, others, { wanted: query, most, checks: true })) {
      checked.add(row[0]);
      small.set(row[0], row);
    }
    return small;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return new Map();
  }
}

/**
 * Reads rows of finished tasks with at most `most` bytes of large members each. `checks`: skip rows with invalid JSON,
 * which takes as long as the read.
 */
function readRows(
  tables: ReadTables,
  pks: readonly number[],
  { wanted, most, checks = false }: { readonly wanted: Wanted; readonly most: number; readonly checks?: boolean },
): readonly FinishedRow[] {
  return pks.length === 0 ? [] : tables.rows(rowsSql(wanted, checks), JSON.stringify(pks), most);
}

/** The statements of `readRows`. Made for each call, their long text would cost as much as a row. */
const ROWS_SQL = new Map<string, string>();

function rowsSql(wanted: Wanted, checks: boolean): string {
  const key = `${wanted.history} ${wanted.artifacts} ${checks}`;
  const known = ROWS_SQL.get(key);
  if (known !== undefined) return known;
  const history = wanted.history ? 'n.history' : 'NULL';
  const artifacts = wanted.artifacts ? 'n.artifacts' : 'NULL';
  const texts = ['t.status', 't.metadata', history, artifacts].filter((column) => column !== 'NULL');
  const areValid = texts.map((column) => `AND coalesce(json_valid(${column}), 1)`).join(' ');
  const sql = `SELECT ${TASK_COLUMNS}, ${history} AS history, ${artifacts} AS artifacts
    FROM json_each(?) p CROSS JOIN task t ON t.pk = p.value JOIN snapshot n ON n.task = t.pk
    WHERE t.ended IS NOT NULL
    AND ${wanted.history ? HISTORY_BYTES : 0} + ${wanted.artifacts ? ARTIFACTS_BYTES : 0} <= ?
    ${checks ? areValid : ''}`;
  ROWS_SQL.set(key, sql);
  return sql;
}

const HISTORY_BYTES = 'coalesce(octet_length(n.history), 0)';
const ARTIFACTS_BYTES = 'coalesce(octet_length(n.artifacts), 0)';

/** The sizes of a task. `logBytes`: approximate length of its records. */
interface Sizes {
  readonly ended: number | null;
  readonly head: number;
  readonly history: number;
  readonly artifacts: number;
  readonly logBytes: number;
}

const SIZES = `SELECT t.ended, octet_length(t.status) + coalesce(octet_length(t.metadata), 0) AS head,
  ${HISTORY_BYTES} AS history, ${ARTIFACTS_BYTES} AS artifacts, t.bytes AS logBytes
  FROM task t LEFT JOIN snapshot n ON n.task = t.pk WHERE t.pk = ?`;
const HEAD = `SELECT ${TASK_COLUMNS}, NULL AS history, NULL AS artifacts, ${LEASE_COLUMNS} FROM task t WHERE t.pk = ?`;

/** Reads one task of any size, if it fits the budget. */
function readAlone(
  tables: ReadTables,
  pk: number,
  { wanted, budget }: { readonly wanted: Wanted; readonly budget: PageBudget },
): Read {
  const sizes = tables.get<Sizes>(SIZES, pk);
  if (sizes === undefined) return undefined;
  if (!budget.takes(sizeOf(sizes, wanted))) return 'no-room';
  if (sizes.ended !== null) return readRows(tables, [pk], { wanted, most: Number.MAX_SAFE_INTEGER })[0];
  const head = tables.row<LeasedRow>(HEAD, pk);
  if (head === undefined || !(wanted.artifacts || wanted.history)) return head;
  const { history, artifacts } = wholeTask(tables, head);
  const [, ended, id, contextId, seq, epoch, created, status, metadata, , , held, leaseEnd] = head;
  const members = [wanted.history ? textOf(history) : null, wanted.artifacts ? textOf(artifacts) : null] as const;
  return [pk, ended, id, contextId, seq, epoch, created, status, metadata, ...members, held, leaseEnd];
}

/** Approximate bytes of a row before its read. For an open task, all members count, because all are read. */
function sizeOf({ ended, head, history, artifacts, logBytes }: Sizes, wanted: Wanted): number {
  if (!wanted.artifacts && !wanted.history) return head;
  if (ended === null) return head + logBytes + history + artifacts;
  return head + (wanted.history ? history : 0) + (wanted.artifacts ? artifacts : 0);
}

/** Approximate bytes of a row after its read. */
function bytesOf([, , , , , , , status, metadata, history, artifacts]: TaskRow): number {
  return status.length + (metadata?.length ?? 0) + (history?.length ?? 0) + (artifacts?.length ?? 0);
}

function totalOf(
  tables: ReadTables,
  query: TaskQuery,
  found: { readonly counts: readonly StateCount[]; readonly context: Context | undefined; readonly source: ListSource },
): number {
  const { counts, context, source } = found;
  const isTimed = boundsOf(query).length > 0;
  if (!isTimed && context === undefined) return counts.reduce((sum, [, tasks]) => sum + tasks, 0);
  if (!isTimed && context !== undefined && (query.states ?? []).length === 0) return context.tasks;
  let total = 0;
  for (const { sql, values } of countSql(source)) total += tables.get<{ total: number }>(sql, ...values)?.total ?? 0;
  return total;
}
