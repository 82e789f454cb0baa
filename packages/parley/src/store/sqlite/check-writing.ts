import type { CheckOperation } from './operations.js';
import type { WriteTables } from './write-tables.js';

const WAITING = 'SELECT count(*) AS waiting FROM execution e JOIN task t ON t.pk = e.task WHERE t.held IS NOT e.turn';

/** Changes a row that means nothing, so that the file is really written. Answers how many executions wait. */
export function check(tables: WriteTables, [, now]: CheckOperation): number {
  tables.run("INSERT OR REPLACE INTO meta VALUES ('checked', ?)", String(now));
  return tables.apart('count of waiting messages', () => tables.get<{ waiting: number }>(WAITING)?.waiting) ?? 0;
}
