import type { NodeBeat, StorageNode } from 'parley-a2a/storage-engine';
import { nameOf, textOfName } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** Time in ms after which a node without a heartbeat is forgotten. */
const FORGET_MS = 3_600_000;

const BEAT: Sql = {
  name: 'heartbeat',
  text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now)
    INSERT INTO parley.node AS n SELECT $1, $2, $3, now, now FROM clock
    ON CONFLICT (node) DO UPDATE SET agents = excluded.agents, running_turns = excluded.running_turns,
      seen = excluded.seen,
      first_seen = CASE WHEN n.seen < excluded.seen - ${FORGET_MS} THEN excluded.seen ELSE n.first_seen END
    RETURNING seen`,
};
const NODES: Sql = {
  name: 'nodes',
  text: `SELECT node, agents, running_turns, first_seen, seen FROM parley.node
    WHERE seen >= parley.now_ms() - ${FORGET_MS} ORDER BY first_seen, node`,
  repeatable: true,
};
const FORGET: Sql = {
  name: 'forget-nodes',
  text: `DELETE FROM parley.node WHERE seen < parley.now_ms() - ${FORGET_MS}`,
};

/** Stores a heartbeat of a process. Resolves to the time of the storage. */
export async function noteBeat(tables: Tables, { node, agents, runningTurns }: NodeBeat): Promise<number> {
  const [row] = await tables.query<{ readonly seen: number }>(
    BEAT,
    textOfName(node),
    JSON.stringify(agents),
    runningTurns,
  );
  return row?.seen ?? 0;
}

/** Returns the processes with a heartbeat within the last hour, in the order of their first one. */
export async function readNodes(tables: Tables): Promise<readonly StorageNode[]> {
  const rows = await tables.query<{
    readonly node: string;
    readonly agents: string;
    readonly running_turns: number;
    readonly first_seen: number;
    readonly seen: number;
  }>(NODES);
  return rows.map(({ node, agents, running_turns: runningTurns, first_seen: firstSeenAt, seen: seenAt }) => ({
    node: nameOf(node),
    agents: JSON.parse(agents) as readonly string[],
    runningTurns,
    firstSeenAt,
    seenAt,
  }));
}

/** Deletes the processes that are no longer listed. */
export async function forgetNodes(tables: Tables): Promise<void> {
  await tables.query(FORGET);
}
