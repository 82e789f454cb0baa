import {
  claimedDelivery,
  type DeliveryHead,
  dueDelivery,
  isDeliveryClaimable,
  newDeliveryQueue,
  purgedDelivery,
  replayedDelivery,
  settledDelivery,
} from '../rules/delivery-queue.js';
import { AFTER_SEQ } from './record-keys.js';
import { type RecordRow, ROW_COLUMNS, recordsOf } from './record-rows.js';
import type { HeadRow } from './task-heads.js';
import type {
  ClaimDeliveriesResult,
  ClaimDeliveriesWrite,
  ClaimedDelivery,
  PurgeDeliveryWrite,
  QueueFields,
  RecordFields,
  ReplayDeliveryWrite,
  SettleDeliveryWrite,
} from './write-requests.js';
import type { WriteTables } from './write-tables.js';

interface QueueRow {
  readonly pk: number;
  readonly task: number;
  readonly agent: number;
  readonly config: string;
  readonly position: number;
  readonly due: number | null;
  readonly attempts: number;
  readonly status: number | null;
  readonly parked: string | null;
  readonly epoch: number;
  readonly node: string | null;
  readonly leaseEnd: number | null;
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
  lease_end AS leaseEnd FROM push_delivery`;
const OWNER = `SELECT a.name AS agent, s.tenant, s.owner, t.id, t.seq AS last, t.floor, c.config FROM task t
  JOIN push_config c ON c.task = t.pk JOIN scope s ON s.pk = t.scope JOIN agent a ON a.pk = t.agent
  WHERE t.pk = ? AND c.id = ?`;
const ROWS = `SELECT ${ROW_COLUMNS} FROM task_record WHERE ${AFTER_SEQ} ORDER BY key`;

/** Adds or renews the queue of a configuration that is new or has changed. A new queue begins behind `position`. */
export function putQueue(
  tables: WriteTables,
  head: HeadRow,
  queue: { readonly config: string; readonly position: number; readonly now: number },
): void {
  const { sql } = tables;
  const { config, position, now } = queue;
  const row = sql.get<QueueRow>(`${QUEUES} WHERE task = ? AND config = ?`, head.pk, config);
  if (row !== undefined) {
    const replayed = replayedDelivery(headOf(row), { from: undefined, floor: 1, last: head.seq }, now);
    if (replayed !== undefined) writeQueue(tables, row.pk, replayed);
    return;
  }
  const created = newDeliveryQueue(position, head.seq, now);
  sql.run(
    `INSERT INTO push_delivery SELECT NULL, pk, agent, ?, ?, ?, ?, NULL, NULL, ?, NULL, NULL FROM task WHERE pk = ?`,
    config,
    created.position,
    created.dueAt ?? null,
    created.attempts,
    created.epoch,
    head.pk,
  );
  head.hasDeliveries = true;
}

/** Removes the queue of a configuration. */
export function dropQueue({ sql }: WriteTables, head: HeadRow, config: string): void {
  sql.run('DELETE FROM push_delivery WHERE task = ? AND config = ?', head.pk, config);
  head.hasDeliveries = sql.get('SELECT 1 FROM push_delivery WHERE task = ? LIMIT 1', head.pk) !== undefined;
}

/** Marks the queues of a task that got records. True if a queue became due. */
export function markDue(tables: WriteTables, head: HeadRow, now: number): boolean {
  let isDue = false;
  for (const row of tables.sql.all<QueueRow>(`${QUEUES} WHERE task = ?`, head.pk)) {
    const due = dueDelivery(headOf(row), now);
    if (due === undefined) continue;
    writeQueue(tables, row.pk, due);
    isDue = true;
  }
  return isDue;
}

/** Gives queues that are due to a node. */
export function claimDeliveries(tables: WriteTables, write: ClaimDeliveriesWrite): ClaimDeliveriesResult {
  const [, { now }] = write;
  return handOut(tables, write, (row) => isDeliveryClaimable(headOf(row), now));
}

/** The queues that this very claim has given out before, when its answer was lost. */
export function deliveriesClaimedBefore(
  tables: WriteTables,
  write: ClaimDeliveriesWrite,
): ClaimDeliveriesResult | undefined {
  const [, { now, node, leaseMs }] = write;
  const result = handOut(tables, write, (row) => row.node === node && row.leaseEnd === now + leaseMs);
  return result.claims.length === 0 ? undefined : result;
}

function handOut(
  tables: WriteTables,
  [, request]: ClaimDeliveriesWrite,
  isWanted: (row: QueueRow) => boolean,
): ClaimDeliveriesResult {
  const { now, node, leaseMs, agents, limit, maxBytes } = request;
  const { sql } = tables;
  const numbers = new Set(agents.map((name) => tables.heads.agent(name)));
  const rows: QueueRow[] = [];
  for (const row of sql.each<QueueRow>(`${QUEUES} WHERE due <= ? ORDER BY due, pk`, now)) {
    if (rows.length > limit) break;
    if (numbers.has(row.agent) && !sql.isAside(row.task) && isWanted(row)) rows.push(row);
  }
  const claims: ClaimedDelivery[] = [];
  let left = maxBytes;
  for (const row of rows) {
    if (claims.length >= limit || (claims.length > 0 && left <= 0)) return { claims, more: true };
    const claim = sql.apart(row.task, (): ClaimedDelivery | undefined => {
      const owner = sql.get<OwnerRow>(OWNER, row.task, row.config);
      if (owner === undefined) return undefined;
      const records = firstRecords(tables, { task: row.task, after: Math.max(row.position, owner.floor - 1) }, left);
      const head = claimedDelivery(headOf(row), { node, leaseMs }, now);
      writeQueue(tables, row.pk, head);
      const { agent, tenant, owner: user, id: taskId, last, config } = owner;
      const { epoch, position, attempts } = head;
      const key = { scope: [agent, tenant, user] as const, taskId, configId: row.config };
      return { ...key, epoch, config, position, last, attempts, records };
    });
    if (claim === undefined) continue;
    for (const [, , event] of claim.records) left -= event.length;
    claims.push(claim);
  }
  return { claims, more: false };
}

/** Records of a task after a sequence number, until their events have so much JSON; at least one. */
function firstRecords(
  { sql }: WriteTables,
  { task, after }: { readonly task: number; readonly after: number },
  maxBytes: number,
): readonly RecordFields[] {
  const records: RecordFields[] = [];
  let bytes = 0;
  for (const record of recordsOf(sql.each<RecordRow>(ROWS, task, after, task), after)) {
    const [, , event] = record;
    bytes += event.length;
    if (bytes > maxBytes && records.length > 0) break;
    records.push(record);
  }
  return records;
}

/** Settles an attempt. `isReady`: a node can claim the queue again. */
export function settleDelivery(
  tables: WriteTables,
  [, { queue, now, epoch, outcome }]: SettleDeliveryWrite,
): { readonly isSettled: boolean; readonly isReady: boolean } {
  const found = find(tables, queue);
  const settled = found && settledDelivery(headOf(found.row), { epoch, outcome }, { last: found.task.seq, now });
  if (found === undefined || settled === undefined) return { isSettled: false, isReady: false };
  writeQueue(tables, found.row.pk, settled);
  return { isSettled: true, isReady: isDeliveryClaimable(settled, now) };
}

/** Makes a queue due again. */
export function replayDelivery(
  tables: WriteTables,
  [, { queue, now, from }]: ReplayDeliveryWrite,
): 'replayed' | 'not-found' | 'not-kept' {
  const found = find(tables, queue);
  if (found === undefined) return 'not-found';
  const { row, task } = found;
  const floor = tables.sql.get<{ floor: number }>('SELECT floor FROM task WHERE pk = ?', task.pk)?.floor ?? 1;
  const replayed = replayedDelivery(headOf(row), { from, floor, last: task.seq }, now);
  if (replayed === undefined) return 'not-kept';
  writeQueue(tables, row.pk, replayed);
  return 'replayed';
}

/** Gives up the pending records of a queue. */
export function purgeDelivery(tables: WriteTables, [, { queue, now }]: PurgeDeliveryWrite): boolean {
  const found = find(tables, queue);
  if (found !== undefined) writeQueue(tables, found.row.pk, purgedDelivery(headOf(found.row), found.task.seq, now));
  return found !== undefined;
}

function find(
  { sql, heads }: WriteTables,
  { scope, taskId, configId }: QueueFields,
): { readonly row: QueueRow; readonly task: HeadRow } | undefined {
  const task = heads.find(scope, taskId);
  const row = task && sql.get<QueueRow>(`${QUEUES} WHERE task = ? AND config = ?`, task.pk, configId);
  return task && row && { row, task };
}

function writeQueue({ sql }: WriteTables, pk: number, head: DeliveryHead): void {
  sql.run(
    `UPDATE push_delivery SET position = ?, due = ?, attempts = ?, status = ?, parked = ?, epoch = ?, node = ?,
      lease_end = ? WHERE pk = ?`,
    head.position,
    head.dueAt ?? null,
    head.attempts,
    head.lastStatus ?? null,
    head.parked ?? null,
    head.epoch,
    head.holder?.node ?? null,
    head.holder?.leaseEnd ?? null,
    pk,
  );
}

function headOf({ position, due, attempts, status, parked, epoch, node, leaseEnd }: QueueRow): DeliveryHead {
  return {
    position,
    dueAt: due ?? undefined,
    attempts,
    lastStatus: status ?? undefined,
    parked: parked ?? undefined,
    epoch,
    holder: node === null || leaseEnd === null ? undefined : { node, leaseEnd },
  };
}
