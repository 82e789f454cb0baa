import { BLOCKS, type RateAsk, type RateCounters, type RateGrant, sha256Hex } from 'parley-a2a/storage-engine';
import type { Session } from './connections.js';

interface Row {
  readonly key: string;
  readonly granted: number;
  readonly rest: number;
  readonly ends_in: number;
}

/** Number of calls between two deletions of ended windows. */
const SWEEP_EVERY = 500;
const SWEPT_AT_ONCE = 10_000;

/**
 * Rate counters in PostgreSQL. The table is unlogged: counting needs no flush to disk, and after a crash of the server
 * the windows restart.
 */
export class PostgresRateCounters implements RateCounters {
  readonly #session: Session;
  readonly #take: string;
  readonly #sweep: string;
  #calls = 0;

  /** `schema`: the quoted name of the schema. */
  constructor(session: Session, schema: string) {
    this.#session = session;
    const left = 'CASE WHEN w.ends <= excluded.asked THEN excluded.requests ELSE w.requests - w.taken END';
    const granted = `LEAST(${left}, GREATEST(excluded.wanted, (${left}) / ${BLOCKS}))`;
    // Rows are locked in the order of their keys, so that calls of several processes cannot deadlock.
    this.#take = `
      INSERT INTO ${schema}.rate_window AS w (key, asked, ends, requests, wanted, taken, granted)
      SELECT a.key, n.ms, n.ms + a.window_ms, a.requests, a.wanted, b.granted, b.granted
      FROM unnest($1::uuid[], $2::integer[], $3::bigint[], $4::integer[]) AS a(key, requests, window_ms, wanted)
      CROSS JOIN (SELECT ${schema}.now_ms() AS ms) n
      CROSS JOIN LATERAL (SELECT LEAST(a.requests, GREATEST(a.wanted, a.requests / ${BLOCKS})) AS granted) b
      ORDER BY a.key
      ON CONFLICT (key) DO UPDATE SET
        asked = excluded.asked,
        ends = CASE WHEN w.ends <= excluded.asked THEN excluded.ends ELSE w.ends END,
        taken = CASE WHEN w.ends <= excluded.asked THEN 0 ELSE w.taken END + ${granted},
        granted = ${granted}
      RETURNING key, granted, requests - taken AS rest, ends - asked AS ends_in`;
    this.#sweep = `
      DELETE FROM ${schema}.rate_window WHERE key IN (
        SELECT key FROM ${schema}.rate_window WHERE ends < ${schema}.now_ms()
        LIMIT ${SWEPT_AT_ONCE} FOR UPDATE SKIP LOCKED)`;
  }

  async take(asks: readonly RateAsk[]): Promise<readonly RateGrant[]> {
    const keys = await Promise.all(asks.map(({ key }) => uuidOf(key)));
    const columns = [
      keys,
      asks.map(({ requests }) => requests),
      asks.map(({ windowMs }) => Math.round(windowMs)),
      asks.map(({ wanted }) => wanted),
    ];
    const rows = await this.#session.query<Row>({ name: 'rates', text: this.#take, values: columns });
    this.#sweepSometimes();
    const byKey = new Map(rows.map((row) => [row.key, row]));
    return keys.map((key) => {
      const row = byKey.get(key);
      return { granted: row?.granted ?? 0, left: row?.rest ?? 0, endsInMs: row?.ends_in ?? 0 };
    });
  }

  #sweepSometimes(): void {
    this.#calls += 1;
    if (this.#calls % SWEEP_EVERY !== 0) return;
    // The next sweep deletes what this one misses.
    this.#session.query({ text: this.#sweep }).catch(() => {});
  }
}

/** Returns a key of fixed length. It does not reveal the address or the id of the caller. */
async function uuidOf(key: string): Promise<string> {
  return (await sha256Hex(key)).slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
