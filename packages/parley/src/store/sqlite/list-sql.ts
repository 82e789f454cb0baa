import { boundsOf } from '../rules/list-query.js';
import type { TaskQuery } from '../task-storage.js';

// Lists of tasks in SQLite. The table `task` has the columns `pk`, `id`, `status_time` and `created`.

/**
 * The limit of a query as a bound value. With a bare parameter, SQLite would prepare the statement anew for each call.
 */
export const LIMIT = 'LIMIT ? + 0';

/** SQL with its bound values. */
export interface SqlPart {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

/** The part of an index that a list reads: one range per state, or one for all states. */
export interface ListSource {
  readonly index: string;
  readonly ranges: readonly SqlPart[];
  /** Conditions in addition to the ranges. */
  readonly rest: readonly SqlPart[];
}

const COLUMNS = { status: 'status_time', created: 'created' } as const;

/** Returns the time filters of a query as conditions. */
export function boundParts(query: TaskQuery): readonly SqlPart[] {
  return boundsOf(query).map(({ time, operator, value }) => ({
    sql: `${COLUMNS[time]} ${operator} ?`,
    values: [value],
  }));
}

/**
 * Returns the statement that selects `pk`, `time` and `id` of the tasks that may be on a page, plus one more. It reads
 * only the index.
 */
export function pageSql({ index, ranges, rest }: ListSource, query: TaskQuery): SqlPart {
  const { cursor, offset = 0, limit, orderBy } = query;
  const column = COLUMNS[orderBy];
  const behind = cursor === undefined ? [] : [{ sql: `(${column}, id) < (?, ?)`, values: [cursor.time, cursor.id] }];
  const parts = ranges.map((range) => {
    const where = andSql([range, ...behind, ...rest]);
    return {
      sql: `SELECT * FROM (SELECT pk, ${column} AS time, id FROM task INDEXED BY ${index}
        WHERE ${where.sql} ORDER BY ${column} DESC, id DESC ${LIMIT})`,
      values: [...where.values, offset + limit + 1],
    };
  });
  return {
    sql: `${parts.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY time DESC, id DESC ${LIMIT} OFFSET ?`,
    values: [...parts.flatMap(({ values }) => values), limit + 1, offset],
  };
}

/** Returns the statements that count the tasks of a list as `total`, one per range. */
export function countSql({ index, ranges, rest }: ListSource): readonly SqlPart[] {
  return ranges.map((range) => {
    const where = andSql([range, ...rest]);
    return { ...where, sql: `SELECT count(*) AS total FROM task INDEXED BY ${index} WHERE ${where.sql}` };
  });
}

/** Joins conditions with AND. */
export function andSql(parts: readonly SqlPart[]): SqlPart {
  return { sql: parts.map(({ sql }) => sql).join(' AND '), values: parts.flatMap(({ values }) => values) };
}
