import { boundsOf } from '../rules/list-query.js';
import type { TaskQuery } from '../task-storage.js';

// Lists of tasks in SQLite. The table `task` has the columns `pk`, `id`, `status_time` and `created`.

/** A limit that is a value of a statement. With a bare parameter, SQLite prepares the statement anew for each call. */
export const LIMIT = 'LIMIT ? + 0';

/** SQL with its values. */
export interface SqlPart {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

/** The part of an index that a list reads: one range for each state, or one for all states. */
export interface ListSource {
  readonly index: string;
  readonly ranges: readonly SqlPart[];
  /** Conditions beyond the ranges. */
  readonly rest: readonly SqlPart[];
}

const COLUMNS = { status: 'status_time', created: 'created' } as const;

/** The bounds of a query as conditions. */
export function boundParts(query: TaskQuery): readonly SqlPart[] {
  return boundsOf(query).map(({ time, operator, value }) => ({
    sql: `${COLUMNS[time]} ${operator} ?`,
    values: [value],
  }));
}

/**
 * The statement that selects `pk`, `time` and `id` of the tasks that a page may show, and of the task behind them. It
 * reads the index alone.
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

/** The statements that count the tasks of a list as `total`, one for each range. */
export function countSql({ index, ranges, rest }: ListSource): readonly SqlPart[] {
  return ranges.map((range) => {
    const where = andSql([range, ...rest]);
    return { ...where, sql: `SELECT count(*) AS total FROM task INDEXED BY ${index} WHERE ${where.sql}` };
  });
}

/** Conditions as one. */
export function andSql(parts: readonly SqlPart[]): SqlPart {
  return { sql: parts.map(({ sql }) => sql).join(' AND '), values: parts.flatMap(({ values }) => values) };
}
