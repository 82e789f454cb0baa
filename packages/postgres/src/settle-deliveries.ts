import {
  type DeliveryHeadRow,
  type DeliveryKey,
  type DeliveryOutcome,
  type DeliveryPage,
  type DeliveryQuery,
  deliveryQueue,
  type HeldDelivery,
  pageOf,
  purgeQueue,
  type QueueTables,
  type QueueWritten,
  replayQueue,
  settleQueue,
} from 'parley-a2a/storage-engine';
import { HEAD_COLUMNS, headOfRow, QUEUE_COLUMNS, queueValues } from './push-queues.js';
import {
  configIdOf,
  indexForm,
  type KeyColumns,
  keyFields,
  type StoredScopes,
  storedKey,
  textOfName,
} from './stored-names.js';
import type { Sql, SqlValue, Tables } from './tables.js';

interface LockedRow extends DeliveryHeadRow {
  readonly pk: number;
  readonly part: number;
  readonly last: number;
  readonly floor: number;
  readonly now: number;
}

// Locks the task first, like an append, so that no record is appended while the queue is written.
const LOCK_TASK: Sql = {
  name: 'share-task',
  text: 'SELECT pk FROM parley.task WHERE part = $1 AND id = $3 AND scope IS NOT DISTINCT FROM $2::uuid FOR SHARE',
};
const LOCK: Sql = {
  name: 'lock-queue',
  text: `SELECT t.pk, t.part, t.seq AS last, t.floor, parley.now_ms() AS now, ${HEAD_COLUMNS}
    FROM parley.task t JOIN parley.push_config c ON c.task = t.pk AND c.part = t.part
    WHERE t.pk = $1 AND t.part = $2 AND c.id = $3 FOR UPDATE OF c`,
};
const WRITE: Sql = {
  name: 'write-queue-of-config',
  text: `UPDATE parley.push_config SET (${QUEUE_COLUMNS}) = ROW($4, $5, $6, $7, $8, $9, $10, $11, $12)
    WHERE task = $1 AND part = $2 AND id = $3`,
};

/**
 * Lets the engine decide about a queue that the transaction locks, with the log of its task. Writes the head if it has
 * changed.
 */
async function changeQueue<Answer>(
  tables: Tables,
  { scopes, queue }: { readonly scopes: StoredScopes; readonly queue: DeliveryKey },
  decide: (engine: QueueTables<LockedRow>, row: LockedRow | undefined, now: number) => Answer,
): Promise<Answer> {
  const { part, scope, id } = keyFields(scopes.of(queue.key.scope), queue.key);
  const [task] = await tables.query<{ readonly pk: number }>(LOCK_TASK, part, scope, id);
  const config = indexForm(queue.configId);
  const [row] = task === undefined ? [] : await tables.query<LockedRow>(LOCK, task.pk, part, config);
  let values: ReturnType<typeof queueValues> | undefined;
  const engine: QueueTables<LockedRow> = {
    head: headOfRow,
    log: ({ floor, last }) => ({ floor, last }),
    write: (_, head) => {
      values = queueValues(head);
    },
  };
  const answer = decide(engine, row, row?.now ?? 0);
  if (row !== undefined && values !== undefined) await tables.query(WRITE, row.pk, row.part, config, ...values);
  return answer;
}

/**
 * Settles the most frequent outcome: the holder has delivered records. It writes nothing for any other. Locks the task
 * first, like an append, so that no record is appended between its read and the write of the queue.
 */
const DELIVERED: Sql = {
  name: 'settle-delivered',
  text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now),
    t AS MATERIALIZED (
      SELECT pk, part, seq FROM parley.task WHERE part = $1 AND id = $3 AND scope IS NOT DISTINCT FROM $2::uuid FOR SHARE
    )
    UPDATE parley.push_config c SET
      position = least(t.seq, greatest(c.position, $6::integer)), attempts = 0, last_status = $7::integer,
      trace = NULL,
      due = CASE WHEN greatest(c.position, $6) < t.seq THEN clock.now END,
      node = CASE WHEN greatest(c.position, $6) < t.seq AND $8::bigint IS NOT NULL THEN c.node END,
      lease_end = CASE WHEN greatest(c.position, $6) < t.seq THEN clock.now + $8 END
    FROM t, clock
    WHERE c.task = t.pk AND c.part = t.part AND c.id = $4 AND c.epoch = $5 AND c.node IS NOT NULL AND c.parked IS NULL
    RETURNING c.due IS NOT NULL AND (c.node IS NULL OR c.lease_end <= clock.now) AS ready`,
};

/**
 * Settles a delivery in one statement. `undefined` if the outcome needs the engine. `isReady`: a node can claim the
 * queue again.
 */
export async function settleDelivered(
  tables: Tables,
  scopes: StoredScopes,
  { held, outcome }: { readonly held: HeldDelivery; readonly outcome: DeliveryOutcome },
): Promise<QueueWritten<'settled'> | undefined> {
  if (outcome.kind !== 'delivered') return undefined;
  const { part, scope, id } = keyFields(scopes.of(held.key.scope), held.key);
  const { through, status = null, leaseMs = null } = outcome;
  const of = [part, scope, id, indexForm(held.configId), held.epoch] as const;
  const [row] = await tables.query<{ readonly ready: boolean }>(DELIVERED, ...of, through, status, leaseMs);
  return row && { kind: 'settled', isReady: row.ready };
}

/** Stores the outcome of an attempt. Must run in a transaction. */
export function settleDelivery(
  tables: Tables,
  scopes: StoredScopes,
  { held, outcome }: { readonly held: HeldDelivery; readonly outcome: DeliveryOutcome },
): Promise<QueueWritten<'settled' | 'overtaken'>> {
  return changeQueue(tables, { scopes, queue: held }, (engine, queue, now) =>
    settleQueue(engine, { queue, epoch: held.epoch, outcome }, now),
  );
}

/** Makes a queue due again. Must run in a transaction. */
export function replayDelivery(
  tables: Tables,
  scopes: StoredScopes,
  { queue, from }: { readonly queue: DeliveryKey; readonly from: number | undefined },
): Promise<QueueWritten<'replayed' | 'not-found' | 'not-kept'>> {
  return changeQueue(tables, { scopes, queue }, (engine, found, now) =>
    replayQueue(engine, { queue: found, from }, now),
  );
}

/** Drops the pending records of a queue; false if there is no such queue. Must run in a transaction. */
export function purgeDelivery(tables: Tables, scopes: StoredScopes, queue: DeliveryKey): Promise<boolean> {
  return changeQueue(tables, { scopes, queue }, (engine, found, now) => purgeQueue(engine, found, now));
}

interface PageRow extends DeliveryHeadRow, KeyColumns {
  readonly place: number;
  readonly config_id: string;
  readonly config: string;
  readonly last: number;
}

function listOf(name: string, ofAgents: string): Sql {
  return {
    name,
    repeatable: true,
    text: `SELECT c.place, t.agent, t.tenant, t.owner, t.id, t.full_id, c.id AS config_id, c.config,
      t.seq AS last, ${HEAD_COLUMNS}
    FROM parley.push_config c JOIN parley.task t ON t.pk = c.task AND t.part = c.part
    WHERE ${ofAgents} AND c.place > $2 AND ($3::uuid IS NULL OR t.scope = $3)
      AND ($4::text IS NULL OR $4 = 'pending' AND c.due IS NOT NULL OR $4 = 'parked' AND c.parked IS NOT NULL)
    ORDER BY c.place LIMIT $5`,
  };
}

const LIST = listOf('list-deliveries', 'c.agent = ANY ($1::text[])');
const LIST_ALL = listOf('list-all-deliveries', '$1::text[] IS NULL');

/** Returns a page of the delivery queues. */
export async function listDeliveries(
  tables: Tables,
  scopes: StoredScopes,
  query: DeliveryQuery,
): Promise<DeliveryPage> {
  const { agents, scope, standing, cursor, limit } = query;
  const place = cursor !== undefined && /^\d{1,18}$/.test(cursor) ? cursor : '0';
  const values: readonly SqlValue[] = [
    agents?.map(textOfName) ?? null,
    place,
    scope === undefined ? null : scopes.of(scope).hash,
    standing ?? null,
    limit + 1,
  ];
  const rows = await tables.query<PageRow>(agents === undefined ? LIST_ALL : LIST, ...values);
  const { found: queues, ...rest } = pageOf(rows, {
    limit,
    read: (row) =>
      deliveryQueue({ key: storedKey(row), configId: configIdOf(row.config_id, row.config) }, headOfRow(row), row.last),
    cursorOf: (row) => String(row.place),
  });
  return { queues, ...rest };
}
