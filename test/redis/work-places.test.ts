import { afterAll, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisConnection } from '../../packages/redis/src/storage/redis-connection.js';
import { redisSettings } from '../../packages/redis/src/storage/redis-options.js';
import { RedisStorage } from '../../packages/redis/src/storage/redis-storage.js';
import { RedisWakeups } from '../../packages/redis/src/storage/redis-wakeups.js';
import { ALICE, acceptance, userMessage } from '../contract/storage/task-play.js';
import { RedisServer } from '../support/servers/redis-server.js';

const server = await RedisServer.start();
afterAll(() => server[Symbol.asyncDispose]());

/** Opens the storage of a process that scans all partitions only once. `scripts`: number of its scripts. */
async function processOf(prefix: string): Promise<{ readonly storage: RedisStorage; readonly scripts: () => number }> {
  const given = { clock: systemClock, ids: systemIds, logger: silentLogger };
  const connection = await RedisConnection.open(redisSettings({ url: server.url, prefix, ...given }));
  let scripts = 0;
  const runner = {
    isCluster: false,
    run: (...call: Parameters<RedisConnection['run']>) => {
      scripts += 1;
      return connection.run(...call);
    },
    close: () => connection.close(),
  };
  const wakeups = new RedisWakeups(connection);
  const more = { clock: systemClock, logger: silentLogger, durability: 'process' as const, scanMs: 1_000_000_000 };
  return {
    storage: new RedisStorage({
      runner,
      run: () => Promise.reject(new Error('No commands')),
      prefix,
      wakeups,
      ...more,
    }),
    scripts: () => scripts,
  };
}

it('after a wake-up, a process claims only from the partition of the work', async () => {
  const [here, there] = [await processOf('places:'), await processOf('places:')];
  const request = { node: 'there', leaseMs: 10_000, agents: ['test'], limit: 5 };
  expect(await there.storage.claim(request)).toEqual({ claims: [], more: false });
  const create = (id: string) => ({ id, status: { state: 'TASK_STATE_SUBMITTED' as const } });
  const woken = Promise.withResolvers<void>();
  there.storage.wakeups.subscribe({ workReady: () => woken.resolve() });
  // The other process subscribes in the background: wake-ups before that are lost.
  let isWoken = false;
  void woken.promise.then(() => {
    isWoken = true;
  });
  let accepted = 0;
  while (!isWoken) {
    accepted += 1;
    await here.storage.accept(acceptance(userMessage(`m${accepted}`), create(`t${accepted}`)));
  }
  const before = there.scripts();
  const { claims } = await there.storage.claim({ ...request, limit: accepted });
  expect(claims.map(({ scope }) => scope)).toEqual(Array(accepted).fill(ALICE));
  expect(there.scripts() - before).toBe(1);
  await here.storage.close();
  await there.storage.close();
});
