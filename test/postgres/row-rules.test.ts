import pg from 'pg';
import { afterAll } from 'vitest';
import { blockRuleProperty } from '../contract/storage/block-rule.js';
import { LAST, type SweptTask, sweepRuleProperty } from '../contract/storage/sweep-rule.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { clockedStorage } from './contract-storage.js';

// The statements of a sweep select the logs and tasks themselves, so that they read no row that is kept.

const server = await PostgresServer.start('fsync=off');
const url = await server.newDatabase();
const clock = new StorageClock();
const storage = await clockedStorage(url, clock);
const admin = new pg.Client({ connectionString: url });
await admin.connect();
afterAll(async () => {
  await storage.close();
  await admin.end();
  await server[Symbol.asyncDispose]();
});

sweepRuleProperty(
  async () => ({
    storage,
    now: clock.now(),
    clear: async () => {
      for (const table of ['task', 'task_record', 'push_config', 'idempotency']) {
        await admin.query(`DELETE FROM parley.${table}`);
      }
    },
    write: async (tasks) => {
      const rows = JSON.stringify(
        tasks.map(({ id, endedAt: ended, records, isPending }) => ({
          id,
          ended,
          floor: LAST + 1 - records,
          isPending,
        })),
      );
      await admin.query('DELETE FROM parley.task_record');
      await admin.query(
        `UPDATE parley.task t SET ended = r.ended, seq = ${LAST}, floor = r.floor
        FROM json_to_recordset($1::json) AS r(id text, ended bigint, floor integer) WHERE r.id = t.id`,
        [rows],
      );
      await admin.query(`INSERT INTO parley.task_record (task, seq, turn, part, event)
      SELECT t.pk, n, 0, t.part, '{}' FROM parley.task t CROSS JOIN generate_series(t.floor, t.seq) n`);
      await admin.query(
        `UPDATE parley.push_config c SET due = CASE WHEN r."isPending" THEN 1 END
        FROM json_to_recordset($1::json) AS r(id text, "isPending" boolean) JOIN parley.task t ON t.id = r.id
        WHERE c.task = t.pk AND c.part = t.part`,
        [rows],
      );
    },
    tasks: async (): Promise<readonly SweptTask[]> => {
      const { rows } =
        await admin.query(`SELECT t.id, t.ended, t.seq - t.floor + 1 AS kept, c.due IS NOT NULL AS pending,
      (SELECT count(*)::int FROM parley.task_record r WHERE r.task = t.pk AND r.part = t.part AND r.seq >= t.floor)
        AS records
      FROM parley.task t LEFT JOIN parley.push_config c ON c.task = t.pk AND c.part = t.part ORDER BY t.id`);
      return rows.map(({ id, ended, kept, records, pending: isPending }) => {
        if (records !== kept) throw new Error(`The task ${id} has ${records} records and names ${kept}`);
        return { id, endedAt: ended === null ? undefined : Number(ended), records, isPending };
      });
    },
  }),
  80,
);

blockRuleProperty(async () => ({ storage, clock }));
