import pg from 'pg';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { Clock } from '../../packages/parley/src/runtime/clock.js';
import { PostgresStorage } from '../../packages/parley/src/store/postgres/postgres-storage.js';
import { CapturingLogger } from '../support/engine.js';

export const TABLES = [
  'task',
  'task_record',
  'execution',
  'push_config',
  'idempotency',
  'task_count',
  'task_count_change',
  'node',
  'meta',
];

/** A storage whose database lives by the clock of a test. */
export async function clockedStorage(url: string, clock: Clock): Promise<PostgresStorage> {
  const storage = await PostgresStorage.open({ url, clock: systemClock, logger: new CapturingLogger() });
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query('CREATE TABLE IF NOT EXISTS parley.test_clock (ms bigint)');
  await admin.query('TRUNCATE parley.test_clock');
  await admin.query('INSERT INTO parley.test_clock VALUES ($1)', [clock.now()]);
  await admin.query(`CREATE OR REPLACE FUNCTION parley.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT ms FROM parley.test_clock $$`);
  await admin.query(`TRUNCATE ${TABLES.map((t) => `parley.${t}`).join()}`);
  let shown = clock.now();
  const setClock = async () => {
    if (shown === clock.now()) return;
    shown = clock.now();
    await admin.query('UPDATE parley.test_clock SET ms = $1', [shown]);
  };
  return new Proxy(storage, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== 'function' || name === 'watchCommits')
        return typeof value === 'function' ? value.bind(target) : value;
      return async (...args: unknown[]) => {
        if (name === 'close') await admin.end().catch(() => {});
        else await setClock();
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}
