import { ABANDONED_BYTES, firstBytes, INTERRUPTED_STATES, type StoredTask } from 'parley-a2a/storage-engine';
import { type ReadSources, readTasksApart } from './read-tasks.js';
import { type KeyColumns, storedKey, textOfName } from './stored-names.js';
import type { Sql } from './tables.js';

const ABANDONED: Sql = {
  name: 'abandoned',
  text: `SELECT t.agent, t.tenant, t.owner, t.id, t.full_id, t.status_time AS time, t.pk,
      t.bytes + coalesce(octet_length(t.history), 0) + coalesce(octet_length(t.artifacts), 0) AS size
    FROM parley.task t
    WHERE t.state IN (${INTERRUPTED_STATES.join(', ')}) AND t.status_time < parley.now_ms() - $2::bigint AND t.agent = ANY ($1::text[]) AND t.queued = 0
      AND (t.status_time, t.pk) > ($4::bigint, $5::bigint)
    ORDER BY t.status_time, t.pk LIMIT $3`,
  repeatable: true,
};

interface AbandonedRow extends KeyColumns {
  readonly time: number;
  readonly pk: number;
  readonly size: number;
}

/** A filter of abandoned tasks. */
interface AbandonedQuery {
  readonly agents: readonly string[];
  readonly waitedMs: number;
  readonly limit: number;
}

/** Returns tasks that have waited for their caller too long and have no turn. Skips tasks that cannot be read. */
export async function abandonedTasks(
  { tables, scopes, unreadable }: ReadSources,
  { agents, waitedMs, limit }: AbandonedQuery,
): Promise<readonly StoredTask[]> {
  const names = agents.map(textOfName);
  for (let [time, pk] = [Number.MIN_SAFE_INTEGER, 0]; ; ) {
    const rows = await tables.query<AbandonedRow>(ABANDONED, names, waitedMs, limit, time, pk);
    const taken = firstBytes(rows, ABANDONED_BYTES, ({ size }) => size);
    const keys = taken.map(storedKey);
    const read = await readTasksApart(tables, scopes, keys);
    const tasks = keys.flatMap((key, at): readonly StoredTask[] => {
      const task = read[at];
      if (task instanceof Error) unreadable.note(key, task);
      return task === undefined || task instanceof Error ? [] : [task];
    });
    const last = taken.at(-1);
    if (tasks.length > 0 || last === undefined) return tasks;
    ({ time, pk } = last);
  }
}
