import {
  boundsOf,
  LIST_BOUNDS,
  PageBudget,
  pageOf,
  ShapedTask,
  type StoredTask,
  stateNumber,
  TASK_STATES,
  type TaskPage,
  type TaskQuery,
  taskOfPage,
} from 'parley-a2a/storage-engine';
import { type ReadSources, readTasksApart } from './read-tasks.js';
import { contextHash, indexForm, nameOf, type StoredScope, storedName } from './stored-names.js';
import type { Sql, SqlValue, Tables } from './tables.js';

/** A task of a page. Its large members are included only if the task has ended and they are small. */
interface ListedRow {
  readonly time: number;
  readonly id: string;
  readonly full_id: string | null;
  readonly context_id: string | null;
  readonly seq: number;
  readonly epoch: number;
  readonly held: number;
  readonly created: number;
  readonly running: boolean;
  readonly status: string;
  readonly metadata: string | null;
  /** True if the row contains all members for the page. */
  readonly whole: boolean;
  readonly size: number;
  readonly history: string | null;
  readonly artifacts: string | null;
}

/** The index that a list reads. A list is ordered by a time, then by id. */
type Source = 'context' | 'created' | 'states';

const COLUMNS = { status: 'status_time', created: 'created' } as const;

/** Returns the conditions for the time filters of a query. Their values begin with `$4`. */
function conditionsOf(query: TaskQuery): string {
  return LIST_BOUNDS.map(({ name, time, operator }, at) => {
    const value = `$${4 + at}::bigint`;
    return query[name] === undefined ? `${value} IS NULL` : `t.${COLUMNS[time]} ${operator} ${value}`;
  }).join(' AND ');
}

/**
 * Returns a name for the time filters of a query, as a part of the statement name. Each combination has its own plan.
 */
function nameOfBounds(query: TaskQuery): string {
  return LIST_BOUNDS.map(({ name }) => Number(query[name] !== undefined)).join('');
}
const OF_CALLER = 't.part = $1 AND t.scope = $2';

/** The conditions for each index. `$7` is the context. */
const SOURCES: Readonly<Record<Source, { readonly states: string; readonly where: string }>> = {
  context: { states: '(SELECT) s', where: `t.context = $7::uuid AND t.state = ANY ($3::smallint[])` },
  created: { states: '(SELECT) s', where: `$7::uuid IS NULL AND t.state = ANY ($3::smallint[])` },
  // One range of the index per state.
  states: { states: 'unnest($3::smallint[]) s(state)', where: '$7::uuid IS NULL AND t.state = s.state' },
};

const SHOWN = `CASE WHEN $12::boolean THEN coalesce(octet_length(t.history), 0) ELSE 0 END
  + CASE WHEN $13::boolean THEN coalesce(octet_length(t.artifacts), 0) ELSE 0 END`;

function listOf(query: TaskQuery): Sql {
  const { orderBy, cursor } = query;
  const source = sourceOf(query);
  const time = COLUMNS[orderBy];
  const { states, where } = SOURCES[source];
  const behind =
    cursor === undefined
      ? '$8::bigint IS NULL AND $9::text IS NULL'
      : `t.${time} <= $8::bigint AND (t.${time} < $8 OR t.id < $9::text)`;
  return once(`list-${source}-by-${orderBy}-${nameOfBounds(query)}${cursor === undefined ? 0 : 1}`, () => ({
    text: `WITH f AS MATERIALIZED (
        SELECT f.* FROM ${states} CROSS JOIN LATERAL (
          SELECT t.pk, t.${time} AS time, t.id FROM parley.task t WHERE ${OF_CALLER} AND ${where}
            AND ${conditionsOf(query)} AND ${behind}
          ORDER BY t.${time} DESC, t.id DESC LIMIT $10::bigint + $11::bigint
        ) f
        ORDER BY time DESC, id DESC LIMIT $10 OFFSET $11
      ),
      g AS (
        SELECT f.time, t.*, coalesce(e.lease_end > parley.now_ms(), false) AS running, ${SHOWN} AS shown
        FROM f JOIN parley.task t ON t.pk = f.pk AND t.part = $1
        LEFT JOIN parley.execution e ON e.task = t.pk AND e.part = t.part AND e.turn = t.held
      ),
      h AS (SELECT *, NOT ($12::boolean OR $13::boolean) OR ended IS NOT NULL AND shown <= $14::bigint AS whole FROM g)
      SELECT time, id, full_id, context_id, seq, epoch, held, created, running, status, metadata, whole,
        octet_length(status) + coalesce(octet_length(metadata), 0) + CASE
          WHEN NOT ($12::boolean OR $13::boolean) THEN 0
          WHEN ended IS NOT NULL THEN shown
          ELSE bytes + coalesce(octet_length(history), 0) + coalesce(octet_length(artifacts), 0)
        END AS size,
        CASE WHEN whole AND $12::boolean THEN history END AS history, CASE WHEN whole AND $13::boolean THEN artifacts END AS artifacts
      FROM h ORDER BY time DESC, id DESC`,
    repeatable: true,
  }));
}

function countOf(query: TaskQuery): Sql {
  const source = query.contextId === undefined ? 'states' : 'context';
  const { states, where } = SOURCES[source];
  return once(`count-${source}-${nameOfBounds(query)}`, () => ({
    text: `SELECT count(*) AS total FROM ${states} CROSS JOIN parley.task t WHERE ${OF_CALLER} AND ${where}
      AND ${conditionsOf(query)}`,
    repeatable: true,
  }));
}

/** Cache of the statements. */
const made = new Map<string, Sql>();

function once(name: string, make: () => Sql): Sql {
  const sql = made.get(name) ?? { name, ...make() };
  made.set(name, sql);
  return sql;
}

function sourceOf({ contextId, orderBy }: TaskQuery): Source {
  if (contextId !== undefined) return 'context';
  return orderBy === 'created' ? 'created' : 'states';
}

/** The sums, and later changes. One statement reads both, so that each change is counted once. */
const TOTAL: Sql = {
  name: 'total',
  text: `SELECT (
      SELECT coalesce(sum(tasks), 0) FROM parley.task_count
      WHERE part = $1 AND scope = $2 AND state = ANY ($3::smallint[])
    ) + (
      SELECT coalesce(sum(CASE WHEN to_state = ANY ($3) THEN tasks ELSE 0 END
        - CASE WHEN from_state = ANY ($3) THEN tasks ELSE 0 END), 0)
      FROM parley.task_count_change WHERE part = $1 AND scope = $2
    ) AS total`,
  repeatable: true,
};

const ALL_STATES = TASK_STATES.map((_, number) => String(number));

/** Returns one page of the tasks of a scope. Skips tasks that cannot be read, and reports them to `unreadable`. */
export async function pageOfTasks(sources: ReadSources, query: TaskQuery): Promise<TaskPage> {
  const scope = sources.scopes.of(query.scope);
  const [total, page] = await Promise.all([
    totalOf(sources.tables, scope, query),
    query.limit > 0 ? readPage(sources, query) : { tasks: [] },
  ]);
  return { ...page, total };
}

/** Returns the values for a list and its count. */
function filterOf(scope: StoredScope, query: TaskQuery): readonly SqlValue[] {
  const { contextId, states = [] } = query;
  const wanted = states.length === 0 ? ALL_STATES : [...new Set(states)].map((state) => String(stateNumber(state)));
  const context = contextId === undefined ? null : contextHash(scope, contextId);
  return [scope.part, scope.hash, wanted, ...LIST_BOUNDS.map(({ name }) => query[name] ?? null), context];
}

async function totalOf(tables: Tables, scope: StoredScope, query: TaskQuery): Promise<number> {
  const values = filterOf(scope, query);
  const isCounted = boundsOf(query).length > 0 || query.contextId !== undefined;
  const sql = isCounted ? countOf(query) : TOTAL;
  const [row] = await tables.query<{ readonly total: number | string }>(sql, ...values.slice(0, isCounted ? 7 : 3));
  return Number(row?.total ?? 0);
}

async function readPage(
  { tables, scopes, unreadable }: ReadSources,
  query: TaskQuery,
): Promise<Omit<TaskPage, 'total'>> {
  const { cursor, offset = 0, limit, maxBytes, history, artifacts } = query;
  const share = maxBytes === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(maxBytes / limit);
  const found = await tables.query<ListedRow>(
    listOf(query),
    ...filterOf(scopes.of(query.scope), query),
    cursor?.time ?? null,
    cursor === undefined ? null : indexForm(cursor.id),
    limit + 1,
    offset,
    history,
    artifacts,
    share,
  );
  const budget = new PageBudget(maxBytes);
  const { found: taken, ...rest } = pageOf(found, {
    limit,
    read: (row) => (budget.takes(row.size) ? row : 'no-room'),
    cursorOf: (row) => ({ time: row.time, id: idOf(row) }),
  });
  const apart = taken.filter(({ whole }) => !whole);
  const read = await readTasksApart(
    tables,
    scopes,
    apart.map((row) => ({ scope: query.scope, id: idOf(row) })),
  );
  const byRow = new Map(apart.map((row, at) => [row, read[at]]));
  const tasks = taken.flatMap((row): readonly StoredTask[] => {
    const stored = unreadable.readable({ scope: query.scope, id: idOf(row) }, () => {
      const found = row.whole ? storedOf(row, query) : byRow.get(row);
      if (found instanceof Error) throw found;
      return found;
    });
    // A task that was deleted in the meantime is left out.
    if (stored === undefined) return [];
    return [row.whole ? stored : { ...stored, task: taskOfPage(stored.task, query) }];
  });
  return { tasks, ...rest };
}

function idOf({ id, full_id: full }: ListedRow): string {
  return storedName(id, full);
}

/** Returns the task of a row that contains all members for the page. */
function storedOf(row: ListedRow, { scope }: TaskQuery): StoredTask {
  const { seq, epoch, running, held: heldTurn, created: createdAt } = row;
  const task = ShapedTask.parse({
    id: idOf(row),
    contextId: row.context_id === null ? undefined : nameOf(row.context_id),
    status: row.status,
    artifacts: row.artifacts ?? undefined,
    history: row.history ?? undefined,
    metadata: row.metadata ?? undefined,
  });
  return { scope, task, seq, epoch, running, heldTurn, createdAt };
}
