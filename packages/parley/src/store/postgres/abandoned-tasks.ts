import { PageBudget } from '../page-budget.js';
import type { StoredTask } from '../task-storage.js';
import { readTasks } from './read-tasks.js';
import { type KeyColumns, type StoredScopes, storedKey, textOfName } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** The bound for the JSON of one page of abandoned tasks. */
const BYTES = 8_388_608;

// The states are INPUT_REQUIRED and AUTH_REQUIRED.
const ABANDONED: Sql = {
  name: 'abandoned',
  text: `SELECT t.agent, t.tenant, t.owner, t.id, t.full_id,
      t.bytes + coalesce(octet_length(t.history), 0) + coalesce(octet_length(t.artifacts), 0) AS size
    FROM parley.task t
    WHERE t.state IN (6, 8) AND t.status_time < parley.now_ms() - $2::bigint AND t.agent = ANY ($1::text[]) AND t.queued = 0
    ORDER BY t.status_time, t.pk LIMIT $3`,
  repeatable: true,
};

/** The tasks to look for. */
export interface AbandonedQuery {
  readonly agents: readonly string[];
  readonly waitedMs: number;
  readonly limit: number;
}

/** Tasks that have waited for their caller too long and have no turn. */
export async function abandonedTasks(
  tables: Tables,
  scopes: StoredScopes,
  { agents, waitedMs, limit }: AbandonedQuery,
): Promise<readonly StoredTask[]> {
  const rows = await tables.query<KeyColumns & { readonly size: number }>(
    ABANDONED,
    agents.map(textOfName),
    waitedMs,
    limit,
  );
  const budget = new PageBudget(BYTES);
  const end = rows.findIndex(({ size }) => !budget.takes(size));
  const read = await readTasks(tables, scopes, (end < 0 ? rows : rows.slice(0, end)).map(storedKey));
  return read.filter((task) => task !== undefined);
}
