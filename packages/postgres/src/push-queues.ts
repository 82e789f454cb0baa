import {
  type DeliveryHead,
  type DeliveryHeadRow,
  deliveryHeadOf,
  deliveryValues,
  hasRoomFor,
  queueOfConfig,
} from 'parley-a2a/storage-engine';
import { indexForm, nameOf, textOfName } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** A task that a transaction has locked. */
export interface LockedTask {
  readonly pk: number;
  readonly part: number;
  /** Sequence number of the last record. */
  readonly seq: number;
}

/** The columns of a delivery queue that a statement writes. */
export const QUEUE_COLUMNS = 'position, due, attempts, last_status, parked, epoch, node, lease_end, trace';
/** The columns of the head of a queue `c`. */
export const HEAD_COLUMNS = `c.position, c.due, c.attempts, c.last_status AS status, c.parked, c.epoch, c.node,
  c.lease_end AS "leaseEnd", c.trace`;

/** Returns the head of a row with encoded texts. */
export function headOfRow({ parked, node, ...row }: DeliveryHeadRow): DeliveryHead {
  const [reason, holder] = [parked, node].map((text) => (text === null ? null : nameOf(text)));
  return deliveryHeadOf({ ...row, parked: reason ?? null, node: holder ?? null });
}

/** Returns the values of a head, in the order of `QUEUE_COLUMNS`. */
export function queueValues(head: DeliveryHead): readonly (string | number | null)[] {
  return deliveryValues(head).map((value) => (typeof value === 'string' ? textOfName(value) : value));
}

const READ: Sql = {
  name: 'lock-push-config',
  text: `SELECT c.config, ${HEAD_COLUMNS} FROM parley.push_config c
    WHERE c.task = $1 AND c.part = $2 AND c.id = $3 FOR UPDATE`,
};
const REPLACE: Sql = {
  name: 'replace-push-config',
  text: `UPDATE parley.push_config SET config = $4, (${QUEUE_COLUMNS}) = ROW($5, $6, $7, $8, $9, $10, $11, $12, $13)
    WHERE task = $1 AND part = $2 AND id = $3`,
};
const ADD: Sql = {
  name: 'add-push-config',
  text: `WITH t AS (UPDATE parley.task SET pushes = true WHERE pk = $1 AND part = $2 RETURNING pk, part, agent)
    INSERT INTO parley.push_config (task, part, agent, place, id, config, ${QUEUE_COLUMNS})
    SELECT pk, part, agent, nextval('parley.number'), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 FROM t`,
};

const ROOM: Sql = {
  name: 'room-for-push-config',
  text: `SELECT count(*)::int AS count, count(*) FILTER (WHERE id = $3)::int AS known
    FROM parley.push_config WHERE task = $1 AND part = $2`,
};

/** True if a locked task can have the push configuration. */
export async function hasRoom(
  tables: Tables,
  { pk, part }: LockedTask,
  config: { readonly id: string; readonly limit: number | undefined },
): Promise<boolean> {
  const [row] = await tables.query<{ count: number; known: number }>(ROOM, pk, part, indexForm(config.id));
  const { count = 0, known = 0 } = row ?? {};
  return hasRoomFor({ countConfigs: () => ({ count, isKnown: known > 0 }) }, undefined, config);
}

/** Inserts or replaces a push configuration of a locked task. The queue of a new one begins after `position`. */
export async function putConfig(
  tables: Tables,
  { pk, part, seq: last }: LockedTask,
  put: { readonly id: string; readonly config: string; readonly position: number; readonly now: number },
): Promise<void> {
  const { config, position, now } = put;
  const id = indexForm(put.id);
  const [row] = await tables.query<DeliveryHeadRow & { readonly config: string }>(READ, pk, part, id);
  if (row?.config === config) return;
  const queue = queueOfConfig(row && headOfRow(row), { position, last, now });
  await tables.query(row === undefined ? ADD : REPLACE, pk, part, id, config, ...queueValues(queue));
}
