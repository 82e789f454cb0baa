import { pageOf } from '../engine/pages.js';
import type { DeliveryPage, DeliveryQuery } from '../push-storage.js';
import { type DeliveryHeadRow, deliveryHeadOf, deliveryQueue } from '../rules/delivery-head.js';
import { LIMIT } from './list-sql.js';
import type { ReadTables } from './read-tables.js';

interface Row extends DeliveryHeadRow {
  readonly pk: number;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly config: string;
  readonly last: number;
}

const QUEUES = `SELECT d.pk, a.name AS agent, s.tenant, s.owner, t.id, d.config, t.seq AS last, d.position, d.due, d.attempts, d.status,
  d.parked, d.epoch, d.node, d.lease_end AS leaseEnd, d.trace FROM push_delivery d JOIN task t ON t.pk = d.task JOIN scope s ON s.pk = t.scope
  JOIN agent a ON a.pk = d.agent WHERE d.pk > ?`;
const OF_AGENTS = 'AND a.name IN (SELECT value FROM json_each(?))';
const IN_SCOPE = 'AND a.name = ? AND s.tenant = ? AND s.owner IS ?';
const STANDING = { pending: 'AND d.due IS NOT NULL', parked: 'AND d.parked IS NOT NULL' } as const;

/** Reads a page of the delivery queues, ordered by their numbers. */
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
  const { found: queues, ...rest } = pageOf(rows, {
    limit,
    read: ({ agent, tenant, owner, id, config: configId, last, ...head }) =>
      deliveryQueue({ key: { scope: { agent, tenant, owner }, id }, configId }, deliveryHeadOf(head), last),
    cursorOf: ({ pk }) => String(pk),
  });
  return { queues, ...rest };
}
