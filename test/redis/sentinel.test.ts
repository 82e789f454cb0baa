import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openRedisStorage } from '../../packages/redis/src/index.js';
import { ALICE, acceptance, userMessage } from '../contract/storage/task-play.js';
import { RedisSentinels } from '../support/servers/redis-sentinels.js';
import { RedisServer } from '../support/servers/redis-server.js';

const KEPT = ['--appendonly', 'yes'];
const WAITS = { commandTimeoutMs: 1_000, connectTimeoutMs: 1_000 };

function message(id: string) {
  const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: '2026-01-01T00:00:00.000Z' };
  return acceptance(userMessage('x'), { id, contextId: 'c', status, history: [userMessage('x')] });
}

/** Resolves when the sentinels know the replica, and the replica has all data of the primary. */
async function untilCopied(primary: RedisServer, sentinels: RedisSentinels): Promise<void> {
  const [first = ''] = sentinels.urls;
  await using clients = new AsyncDisposableStack();
  const at = (url: string) => clients.adopt(new Redis(url), (client) => client.disconnect());
  const [server, sentinel] = [at(primary.url), at(first)];
  await expect
    .poll(async () => Number(await server.wait(1, 100)), { timeout: 20_000, interval: 50 })
    .toBeGreaterThanOrEqual(1);
  await expect
    .poll(async () => ((await sentinel.call('SENTINEL', 'replicas', 'main')) as unknown[]).length, {
      timeout: 20_000,
      interval: 50,
    })
    .toBe(1);
  await expect
    .poll(async () => ((await sentinel.call('SENTINEL', 'sentinels', 'main')) as unknown[]).length, {
      timeout: 20_000,
      interval: 50,
    })
    .toBe(sentinels.urls.length - 1);
}

it('a storage behind sentinels uses the server that they promote to primary', { timeout: 90_000 }, async () => {
  await using primary = await RedisServer.start(...KEPT);
  await using replica = await RedisServer.start(...KEPT, '--replicaof', '127.0.0.1', String(primary.port));
  await using sentinels = await RedisSentinels.start(3, primary.port);
  const options = { url: sentinels.urls, sentinel: 'main', logger: silentLogger, ...WAITS };
  const [storage, other] = [await openRedisStorage(options), await openRedisStorage(options)];
  const heard = new Set<string>();
  other.wakeups.subscribe({ taskChanged: ({ id }) => void heard.add(id) });
  expect(await storage.accept(message('before'))).toMatchObject({ kind: 'accepted' });
  await untilCopied(primary, sentinels);

  await primary.kill();
  const acceptAfter = () => storage.accept(message('after')).catch((error: unknown) => error);
  await expect.poll(acceptAfter, { timeout: 30_000, interval: 100 }).toMatchObject({ kind: 'accepted' });
  expect((await other.task(ALICE, 'before'))?.task.id).toBe('before');
  expect((await other.task(ALICE, 'after'))?.task.id).toBe('after');
  const key = { scope: ALICE, id: 'after' };
  const hears = () => {
    storage.wakeups.taskChanged(key);
    return heard.has(key.id);
  };
  await expect.poll(hears, { timeout: 10_000, interval: 100 }).toBe(true);
  const promoted = new Redis(replica.url);
  expect(await promoted.call('ROLE')).toContain('master');
  promoted.disconnect();
  await Promise.all([storage.close(), other.close()]);
});
