import type { KeepLeasesWrite } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

const FIRST_TURNS = 'SELECT task, min(turn) AS turn FROM execution GROUP BY task';
const VOID_DELIVERIES = 'UPDATE push_delivery SET node = NULL, lease_end = NULL WHERE node IS NOT NULL';
const OTHER_NODES = 'node NOT IN (SELECT value FROM json_each(?))';
const OTHER_TURNS = `SELECT e.task, min(e.turn) AS turn, a.name AS agent FROM execution e JOIN task t ON t.pk = e.task
  JOIN agent a ON a.pk = t.agent WHERE t.${OTHER_NODES} GROUP BY e.task`;
const OTHER_DELIVERIES = `SELECT DISTINCT a.name AS agent FROM push_delivery d JOIN agent a ON a.pk = d.agent
  WHERE d.${OTHER_NODES}`;
const VOID_OTHERS = `UPDATE push_delivery SET node = NULL, lease_end = NULL WHERE ${OTHER_NODES}`;

interface Turn {
  readonly task: number;
  readonly turn: number;
}

/** Ends all leases, because their processes have ended. Their turns can be claimed again. */
export function voidLeases(tables: WriteTables): void {
  const { sql } = tables;
  for (const turn of sql.all<Turn>(FIRST_TURNS)) freeTurn(tables, turn);
  sql.apart('deliveries of push', () => sql.run(VOID_DELIVERIES));
}

/** Ends the leases of all nodes that are not listed. */
export function keepLeases(tables: WriteTables, [, nodes]: KeepLeasesWrite): readonly string[] {
  const { sql, heads } = tables;
  const kept = JSON.stringify(nodes);
  const turns = sql.all<Turn & { readonly agent: string }>(OTHER_TURNS, kept);
  for (const turn of turns) freeTurn(tables, turn);
  // The rows of these tasks have changed without their cache.
  if (turns.length > 0) heads.clear();
  const agents = sql.apart('deliveries of push', () => {
    const found = sql.all<{ readonly agent: string }>(OTHER_DELIVERIES, kept);
    if (found.length > 0) sql.run(VOID_OTHERS, kept);
    return found;
  });
  return [...new Set([...turns, ...(agents ?? [])].map(({ agent }) => agent))];
}

function freeTurn({ sql }: WriteTables, { task, turn }: Turn): void {
  sql.apart(task, () => {
    sql.run('UPDATE task SET held = NULL, node = NULL, lease_end = NULL WHERE pk = ?', task);
    sql.run('UPDATE execution SET ready = 1 WHERE task = ? AND turn = ?', task, turn);
  });
}
