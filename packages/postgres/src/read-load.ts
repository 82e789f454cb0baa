import { oldestWaits, type StorageLoad } from 'parley-a2a/storage-engine';
import type { Sql, Tables } from './tables.js';

/** The amount of waiting work. Without any, its times are `null`. */
interface CheckRow {
  readonly now: number;
  readonly waiting: number;
  readonly arrived: number | null;
  readonly pendingDeliveries: number;
  readonly due: number | null;
}

/** Writes a meaningless row, and reads the amount of waiting work. */
const CHECK: Sql = {
  name: 'check',
  text: `WITH w AS (
      INSERT INTO parley.meta VALUES ('checked', parley.now_ms()::text)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
    )
    SELECT parley.now_ms() AS now, e.waiting, e.arrived, p.pending AS "pendingDeliveries", p.due
    FROM (
      SELECT count(*) AS waiting, min(arrived) FILTER (WHERE ready) AS arrived FROM parley.execution WHERE node IS NULL
    ) e, (SELECT count(*) AS pending, min(due) AS due FROM parley.push_config WHERE due IS NOT NULL) p`,
};

/** Writes a meaningless row, and returns the amount of waiting work. */
export async function readLoad(tables: Tables): Promise<StorageLoad> {
  const [row] = await tables.query<CheckRow>(CHECK);
  const { now = 0, waiting = 0, arrived, pendingDeliveries = 0, due } = row ?? {};
  return { waiting, pendingDeliveries, ...oldestWaits({ arrived, due }, now) };
}
