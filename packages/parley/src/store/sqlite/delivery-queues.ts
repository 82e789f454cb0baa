import {
  claimQueues,
  type DueTables,
  freeQueues,
  makeDue,
  purgeQueue,
  type QueueTables,
  queueOfConfig,
  replayQueue,
  settleQueue,
} from '../engine/delivery-queues.js';
import { firstBytes } from '../engine/pages.js';
import {
  type DeliveryHead,
  type DeliveryHeadRow,
  type DeliveryLog,
  deliveryHeadOf,
  deliveryValues,
} from '../rules/delivery-head.js';
import { AFTER_SEQ } from './record-keys.js';
import { eventBytes, type RecordRow, ROW_COLUMNS, recordsOf } from './record-rows.js';
import type { HeadRow } from './task-heads.js';
import type {
  ClaimDeliveriesResult,
  ClaimDeliveriesWrite,
  ClaimedDelivery,
  PurgeDeliveryWrite,
  QueueFields,
  ReplayDeliveryWrite,
  SettleDeliveryWrite,
  WriteResults,
} from './write-requests.js';
import type { WriteTables } from './write-tables.js';

interface QueueRow extends DeliveryHeadRow {
  readonly pk: number;
  readonly task: number;
  readonly agent: number;
  readonly config: string;
}

/** The task of a queue, and its configuration. */
interface OwnerRow {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly last: number;
  /** The lowest sequence number still kept. */
  readonly floor: number;
  readonly config: string;
}

const QUEUES = `SELECT pk, task, agent, config, position, due, attempts, status, parked, epoch, node,
  lease_end AS leaseEnd, trace FROM push_delivery`;
const OWNER = `SELECT a.name AS agent, s.tenant, s.owner, t.id, t.seq AS last, t.floor, c.config FROM task t
  JOIN push_config c ON c.task = t.pk JOIN scope s ON s.pk = t.scope JOIN agent a ON a.pk = t.agent
  WHERE t.pk = ? AND c.id = ?`;
const ROWS = `SELECT ${ROW_COLUMNS} FROM task_record WHERE ${AFTER_SEQ} ORDER BY key`;

/** Inserts or updates the queue of a new or changed configuration. A new queue begins after `position`. */
export function putQueue(
  tables: WriteTables,
  head: HeadRow,
  queue: { readonly config: string; readonly position: number; readonly now: number },
): void {
  const { sql } = tables;
  const { config, position, now } = queue;
  const row = sql.get<QueueRow>(`${QUEUES} WHERE task = ? AND config = ?`, head.pk, config);
  const created = queueOfConfig(row && deliveryHeadOf(row), { position, last: head.seq, now });
  if (row !== undefined) return writeQueue(tables, row.pk, created);
  sql.run(
    'INSERT INTO push_delivery SELECT NULL, pk, agent, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM task WHERE pk = ?',
    config,
    ...deliveryValues(created),
    head.pk,
  );
  head.hasDeliveries = true;
}

/** Deletes the queue of a configuration. */
export function dropQueue({ sql }: WriteTables, head: HeadRow, config: string): void {
  sql.run('DELETE FROM push_delivery WHERE task = ? AND config = ?', head.pk, config);
  head.hasDeliveries = sql.get('SELECT 1 FROM push_delivery WHERE task = ? LIMIT 1', head.pk) !== undefined;
}

/** The rows of queues. */
class QueueRows implements QueueTables<QueueRow>, DueTables<QueueRow, ClaimedDelivery> {
  readonly #tables: WriteTables;

  constructor(tables: WriteTables) {
    this.#tables = tables;
  }

  head(row: QueueRow): DeliveryHead {
    return deliveryHeadOf(row);
  }

  log({ task }: QueueRow): DeliveryLog {
    const log = this.#tables.sql.get<DeliveryLog>('SELECT floor, seq AS last FROM task WHERE pk = ?', task);
    return log ?? { floor: 1, last: 0 };
  }

  write({ pk }: QueueRow, head: DeliveryHead): void {
    writeQueue(this.#tables, pk, head);
  }

  take(
    row: QueueRow,
    claimed: DeliveryHead,
    maxBytes: number,
  ): { readonly claim: ClaimedDelivery; readonly bytes: number } | undefined {
    const { sql } = this.#tables;
    return sql.apart(row.task, () => {
      const owner = sql.get<OwnerRow>(OWNER, row.task, row.config);
      if (owner === undefined) return undefined;
      const after = Math.max(claimed.position, owner.floor - 1);
      const all = recordsOf(sql.each<RecordRow>(ROWS, row.task, after, row.task), after);
      const records = firstBytes(all, maxBytes, eventBytes);
      writeQueue(this.#tables, row.pk, claimed);
      const { agent, tenant, owner: user, id: taskId, last, config } = owner;
      const { epoch, position, attempts, trace } = claimed;
      const key = { scope: [agent, tenant, user] as const, taskId, configId: row.config };
      const bytes = records.reduce((sum, record) => sum + eventBytes(record), 0);
      return { claim: { ...key, epoch, config, position, last, attempts, trace, records }, bytes };
    });
  }
}

/** Makes the queues of a task due after an append. Returns true if a queue became due. */
export function markDue(tables: WriteTables, { pk }: HeadRow, now: number): boolean {
  const rows = tables.sql.all<QueueRow>(`${QUEUES} WHERE task = ?`, pk);
  return makeDue(new QueueRows(tables), rows, now);
}

/** Claims due queues for a node. */
export function claimDeliveries(tables: WriteTables, write: ClaimDeliveriesWrite): ClaimDeliveriesResult {
  return handOut(tables, write, undefined);
}

/** Returns the queues that the same call has claimed before, if its answer was lost. */
export function deliveriesClaimedBefore(
  tables: WriteTables,
  write: ClaimDeliveriesWrite,
): ClaimDeliveriesResult | undefined {
  const [, { now, node, leaseMs }] = write;
  const isOwn = (row: QueueRow) => row.node === node && row.leaseEnd === now + leaseMs;
  const result = handOut(tables, write, isOwn);
  return result.claims.length === 0 ? undefined : result;
}

function handOut(
  tables: WriteTables,
  [, request]: ClaimDeliveriesWrite,
  isOwn: ((row: QueueRow) => boolean) | undefined,
): ClaimDeliveriesResult {
  const { now, limit } = request;
  const rows = new QueueRows(tables);
  const found = dueRows(tables, request);
  // Read before the claim, which changes the rows.
  const due: QueueRow[] = [];
  for (const row of isOwn === undefined ? freeQueues(rows, found, now) : found) {
    if (due.length > limit) break;
    if (isOwn === undefined || isOwn(row)) due.push(row);
  }
  const demand = { ...request, ...(isOwn && { isOwn }) };
  return claimQueues(rows, { due, demand }, now);
}

/** The due queues of some agents, including those that a node holds. */
function* dueRows(
  { sql, heads }: WriteTables,
  { now, agents }: Pick<ClaimDeliveriesWrite[1], 'now' | 'agents'>,
): Generator<QueueRow, void> {
  const numbers = new Set(agents.map((name) => heads.agent(name)));
  for (const row of sql.each<QueueRow>(`${QUEUES} WHERE due <= ? ORDER BY due, pk`, now)) {
    if (numbers.has(row.agent) && !sql.isAside(row.task)) yield row;
  }
}

/** Stores the outcome of an attempt. */
export function settleDelivery(
  tables: WriteTables,
  [, { queue, now, epoch, outcome }]: SettleDeliveryWrite,
): WriteResults['settle-delivery'] {
  return settleQueue(new QueueRows(tables), { queue: find(tables, queue), epoch, outcome }, now);
}

/** Makes a queue due again. */
export function replayDelivery(
  tables: WriteTables,
  [, { queue, now, from }]: ReplayDeliveryWrite,
): WriteResults['replay-delivery'] {
  return replayQueue(new QueueRows(tables), { queue: find(tables, queue), from }, now);
}

/** Drops the pending records of a queue. */
export function purgeDelivery(tables: WriteTables, [, { queue, now }]: PurgeDeliveryWrite): boolean {
  return purgeQueue(new QueueRows(tables), find(tables, queue), now);
}

function find({ sql, heads }: WriteTables, { scope, taskId, configId }: QueueFields): QueueRow | undefined {
  const task = heads.find(scope, taskId);
  return task && sql.get<QueueRow>(`${QUEUES} WHERE task = ? AND config = ?`, task.pk, configId);
}

function writeQueue({ sql }: WriteTables, pk: number, head: DeliveryHead): void {
  sql.run(
    `UPDATE push_delivery SET position = ?, due = ?, attempts = ?, status = ?, parked = ?, epoch = ?, node = ?,
      lease_end = ?, trace = ? WHERE pk = ?`,
    ...deliveryValues(head),
    pk,
  );
}
