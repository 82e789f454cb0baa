import type { DeliveryPage, DeliveryQuery } from '../push-storage.js';
import type { ReadTables } from './read-tables.js';
import { LIMIT } from './statements.js';

interface Row {
  readonly pk: number;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly config: string;
  readonly position: number;
  readonly last: number;
  readonly attempts: number;
  readonly due: number | null;
  readonly status: number | null;
  readonly parked: string | null;
}

const QUEUES = `SELECT d.pk, a.name AS agent, s.tenant, s.owner, t.id, d.config, d.position, t.seq AS last, d.attempts,
  d.due, d.status, d.parked FROM push_delivery d JOIN task t ON t.pk = d.task JOIN scope s ON s.pk = t.scope
  JOIN agent a ON a.pk = d.agent WHERE d.pk > ?`;
const OF_AGENTS = 'AND a.name IN (SELECT value FROM json_each(?))';
const IN_SCOPE = 'AND a.name = ? AND s.tenant = ? AND s.owner IS ?';
const STANDING = { pending: 'AND d.due IS NOT NULL', parked: 'AND d.parked IS NOT NULL' } as const;

/** A page of the queues of deliveries, in the order of their numbers. */
export function readDeliveries(tables: ReadTables, query: DeliveryQuery): DeliveryPage {
  const { agents, scope, standing, cursor, limit } = query;
  const conditions = [agents && OF_AGENTS, scope && IN_SCOPE, standing && STANDING[standing]].filter(
    (text) => text !== undefined,
  );
  const rows = tables.all<Row>(
    `${QUEUES} ${conditions.join(' ')} ORDER BY d.pk ${LIMIT}`,
    Number(cursor ?? 0),
    ...(agents === undefined ? [] : [JSON.stringify(agents)]),
    ...(scope === undefined ? [] : [scope.agent, scope.tenant, scope.owner]),
    limit + 1,
  );
  const queues = rows.slice(0, limit).map((row) => {
    const { agent, tenant, owner, id, position, last, attempts } = row;
    return {
      key: { scope: { agent, tenant, owner }, id },
      configId: row.config,
      position,
      last,
      attempts,
      ...(row.due !== null && { dueAt: row.due }),
      ...(row.status !== null && { lastStatus: row.status }),
      ...(row.parked !== null && { parked: row.parked }),
    };
  });
  const next = rows.length > limit ? rows[limit - 1]?.pk : undefined;
  return next === undefined ? { queues } : { queues, next: String(next) };
}
