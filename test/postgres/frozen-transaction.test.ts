import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openPostgresStorage } from '../../packages/parley/src/exports/postgres.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { PostgresConnections } from '../../packages/parley/src/store/postgres/connections.js';
import { postgresPlan } from '../../packages/parley/src/store/postgres/postgres-options.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { acceptance, ELSEWHERE, said } from '../contract/storage/task-play.js';
import { PostgresServer } from '../support/servers/postgres-server.js';

const TIMEOUT_MS = 1_000;
const LEASE_MS = 200;

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

it('a process that freezes in a transaction keeps its task for statementTimeoutMs, even if its lease ends', async () => {
  const { url } = server;
  const ports = { clock: systemClock, logger: silentLogger };
  const storage = await openPostgresStorage({ url, logger: silentLogger });
  const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: new Date(0).toISOString() };
  const task = { id: 'one', contextId: 'c', status };
  await storage.accept(acceptance(said('m'), task, { claim: { node: 'frozen', leaseMs: LEASE_MS } }));

  const plan = postgresPlan({ url, statementTimeoutMs: TIMEOUT_MS });
  const frozen = await PostgresConnections.open({ plan, ...ports });
  const locked = Promise.withResolvers<void>();
  const thawed = Promise.withResolvers<void>();
  const transaction = frozen.transaction(async (session) => {
    await session.query({ text: `SELECT pk FROM parley.task WHERE id = 'one' FOR UPDATE` });
    locked.resolve();
    // A frozen process neither goes on nor closes its connection.
    await thawed.promise;
  });
  const ended = transaction.catch((error: unknown) => error);
  await locked.promise;
  const lockedAt = performance.now();

  const claim = () => storage.claim({ ...ELSEWHERE, agents: ['test'], limit: 5, maxBytes: 10_000 });
  await vi.waitFor(async () => expect((await claim()).claims).toHaveLength(1), { timeout: 30_000, interval: 50 });
  // The timeout of the server began with the answer to the last statement.
  expect(performance.now() - lockedAt).toBeGreaterThan(TIMEOUT_MS / 2);
  thawed.resolve();
  expect(await ended).toBeInstanceOf(Error);
  await Promise.all([storage.close(), frozen.close()]);
});
