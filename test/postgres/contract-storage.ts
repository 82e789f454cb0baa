import pg from 'pg';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { Clock } from '../../packages/parley/src/runtime/clock.js';
import { interceptedStorage } from '../../packages/parley/src/store/intercepted-storage.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import type { PostgresStorageOptions } from '../../packages/postgres/src/postgres-options.js';
import { PostgresStorage } from '../../packages/postgres/src/postgres-storage.js';

const TABLES = [
  'task',
  'task_record',
  'execution',
  'push_config',
  'idempotency',
  'task_count',
  'task_count_change',
  'node',
  'meta',
  'wakeup',
  'owner_block',
];

/** A storage on an empty database that uses the clock of a test. */
export async function clockedStorage(
  url: string,
  clock: Clock,
  options: Partial<PostgresStorageOptions> = {},
): Promise<PostgresStorage> {
  const logger = new CapturingLogger();
  const storage = await PostgresStorage.open({ url, durability: 'process', clock: systemClock, logger, ...options });
  const admin = new pg.Client({ connectionString: url });
  admin.on('error', () => {});
  await admin.connect();
  // The tables are small, so deleting rows is faster than truncating the files of many partitions.
  await admin.query(`CREATE TABLE IF NOT EXISTS parley.test_clock (ms bigint);
    DELETE FROM parley.test_clock;
    INSERT INTO parley.test_clock VALUES (${clock.now()});
    CREATE OR REPLACE FUNCTION parley.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
      $$ SELECT ms FROM parley.test_clock $$;
    ${TABLES.map((table) => `DELETE FROM parley.${table}`).join(';')}`);
  let shown = clock.now();
  const running = new Set<Promise<unknown>>();
  let gate: Promise<void> = Promise.resolve();
  /** Calls at the same time of the clock run concurrently. Calls at a later time wait for them. */
  const atTime = (time: number): Promise<void> => {
    gate = gate.then(async () => {
      if (shown === time) return;
      await Promise.allSettled(running);
      shown = time;
      await admin.query('UPDATE parley.test_clock SET ms = $1', [time]);
    });
    return gate;
  };
  let closing: Promise<void> | undefined;
  const closeBoth = async () => {
    await gate;
    await storage.close();
    await admin.end();
  };
  const close = () => {
    closing ??= closeBoth();
    return closing;
  };
  return interceptedStorage(storage, async (name, _args, run) => {
    if (name === 'close') return close();
    await atTime(clock.now());
    const call = Promise.resolve(run());
    running.add(call);
    try {
      return await call;
    } finally {
      running.delete(call);
    }
  });
}
