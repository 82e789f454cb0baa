import {
  type ClaimedTexts,
  type DeliveryClaimRequest,
  firstBytes,
  LogRecord,
  type RecordTexts,
} from 'parley-a2a/storage-engine';
import { configIdOf, type KeyColumns, storedKey, textOfName } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** A claimed queue with one of its pending records, or with none. Without a queue, one row contains `more`. */
interface ClaimRow extends KeyColumns, Omit<RecordTexts, 'seq'> {
  readonly rank: number | null;
  readonly task: number;
  readonly part: number;
  readonly config_id: string;
  readonly epoch: number;
  readonly config: string;
  readonly position: number;
  readonly attempts: number;
  readonly trace: string | null;
  readonly last: number;
  readonly more: boolean;
  readonly seq: number | null;
}

const FREE = 'c.due <= clock.now AND (c.node IS NULL OR c.lease_end <= clock.now)';
/** Maximum number of records of one queue in one claim. */
const RECORDS = 200;

/**
 * Claims due queues with their first records. The first record of each queue is included at any size, further ones up
 * to `maxBytes` of all records together.
 */
const CLAIM: Sql = {
  name: 'claim-deliveries',
  text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now),
    f AS MATERIALIZED (
      SELECT d.* FROM unnest($1::text[]) a(agent) CROSS JOIN clock CROSS JOIN LATERAL (
        SELECT c.task, c.part, c.id, c.due, c.place FROM parley.push_config c
        WHERE c.agent = a.agent AND ${FREE} ORDER BY c.due, c.place LIMIT $4::integer + 1 FOR UPDATE SKIP LOCKED
      ) d
    ),
    o AS MATERIALIZED (SELECT f.*, row_number() OVER (ORDER BY due, place) AS rank FROM f),
    x AS (
      UPDATE parley.push_config c SET epoch = c.epoch + 1, node = $2, lease_end = clock.now + $3 FROM o, clock
      WHERE c.task = o.task AND c.part = o.part AND c.id = o.id AND o.rank <= $4 AND ${FREE}
      RETURNING o.rank, c.task, c.part, c.id AS config_id, c.epoch, c.config, c.position, c.attempts, c.trace
    ),
    r AS (
      SELECT p.* FROM (
        SELECT q.*, row_number() OVER (PARTITION BY rank ORDER BY seq) AS place,
          sum(octet_length(event)) OVER (ORDER BY rank, seq) - octet_length(event) AS before
        FROM (
          SELECT x.rank, g.* FROM x CROSS JOIN LATERAL (
            SELECT seq, turn, event, history, metadata FROM parley.task_record g
            WHERE g.task = x.task AND g.part = x.part AND g.seq > x.position ORDER BY g.seq LIMIT ${RECORDS}
          ) g
        ) q
      ) p WHERE p.place = 1 OR p.before < $5
    )
    SELECT x.*, t.agent, t.tenant, t.owner, t.id, t.full_id, t.seq AS last, (SELECT count(*) FROM o) > $4 AS more,
      r.seq, r.turn, r.event, r.history, r.metadata
    FROM (SELECT) one
    LEFT JOIN (x JOIN parley.task t ON t.pk = x.task AND t.part = x.part LEFT JOIN r ON r.rank = x.rank) ON true
    ORDER BY x.rank, r.seq`,
};

/** Undoes the claim of queues that do not fit. */
const GIVE_BACK: Sql = {
  name: 'give-deliveries-back',
  text: `UPDATE parley.push_config c SET node = NULL, lease_end = NULL, epoch = c.epoch - 1
    FROM json_to_recordset($1::json) AS i(task bigint, part smallint, id text, epoch bigint)
    WHERE c.task = i.task AND c.part = i.part AND c.id = i.id AND c.epoch = i.epoch`,
};

/** Claims due delivery queues that no node holds. */
export async function claimDeliveries(
  tables: Tables,
  request: DeliveryClaimRequest,
): Promise<{ readonly queues: readonly ClaimedTexts[]; readonly more: boolean }> {
  const { node, leaseMs, agents, limit, maxBytes } = request;
  const most = Math.min(maxBytes, Number.MAX_SAFE_INTEGER);
  const names = [...new Set(agents)].map(textOfName);
  const rows = await tables.query<ClaimRow>(CLAIM, names, textOfName(node), leaseMs, limit, most);
  const queues: ClaimedTexts[] = [];
  const surplus: { task: number; part: number; id: string; epoch: number }[] = [];
  let left = maxBytes;
  for (const queue of Map.groupBy(rows, ({ rank }) => rank).values()) {
    const [first] = queue;
    if (first === undefined || first.rank === null) continue;
    if (queues.length > 0 && left <= 0) {
      surplus.push({ task: first.task, part: first.part, id: first.config_id, epoch: first.epoch });
      continue;
    }
    const pending = queue.flatMap(({ seq, ...row }) => (seq === null ? [] : [{ seq, ...row }]));
    const records = firstBytes(pending, left, ({ event }) => event.length);
    for (const { event } of records) left -= event.length;
    queues.push(textsOf(first, records));
  }
  if (surplus.length > 0) await tables.query(GIVE_BACK, JSON.stringify(surplus));
  return { queues, more: surplus.length > 0 || rows[0]?.more === true };
}

function textsOf(row: ClaimRow, records: readonly RecordTexts[]): ClaimedTexts {
  const { epoch, position, last, attempts, config, trace } = row;
  return {
    key: storedKey(row),
    configId: configIdOf(row.config_id, config),
    ...{ epoch, config, position, last, attempts, trace: trace ?? undefined },
    records: records.map((record) => () => LogRecord.parse(record)),
  };
}
