import { afterEach, describe, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import type { TaskKey } from '../../packages/parley/src/store/task-key.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisConnection } from '../../packages/redis/src/storage/redis-connection.js';
import { redisSettings } from '../../packages/redis/src/storage/redis-options.js';
import { RedisWakeups } from '../../packages/redis/src/storage/redis-wakeups.js';
import { DatabaseProxy } from '../chaos/harness/database-proxy.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisServer } from '../support/servers/redis-server.js';

const KEY: TaskKey = { scope: { agent: 'a', tenant: '', owner: null }, id: 't1' };

const open: { wakeups: RedisWakeups; connection: RedisConnection }[] = [];
afterEach(async () => {
  for (const { wakeups, connection } of open.splice(0)) {
    await wakeups.close();
    await connection.close();
  }
});

/** Opens the wake-ups of a process. `seen`: received wake-ups as texts. */
async function processOn(url: string): Promise<{ wakeups: RedisWakeups; connection: RedisConnection; seen: string[] }> {
  const given = { clock: systemClock, ids: systemIds, logger: silentLogger };
  const settings = redisSettings({ url, ...given, commandTimeoutMs: 1_000 });
  const connection = await RedisConnection.open(settings);
  const wakeups = new RedisWakeups(connection);
  open.push({ wakeups, connection });
  const seen: string[] = [];
  wakeups.subscribe({
    taskChanged: ({ scope, id }) => seen.push(`changed ${scope.owner} ${id}`),
    workReady: (agent) => seen.push(`work ${agent}`),
    cancelAsked: ({ scope, id }) => seen.push(`cancel ${scope.owner} ${id}`),
    deliveryReady: (agent) => seen.push(`delivery ${agent}`),
  });
  return { wakeups, connection, seen };
}

/** Resolves when a wake-up of one process has reached the other. */
async function untilLinked(from: { wakeups: RedisWakeups }, to: { seen: string[] }, key = KEY): Promise<void> {
  await expect
    .poll(() => {
      from.wakeups.taskChanged(key);
      return to.seen.length;
    })
    .toBeGreaterThan(0);
}

describe('wake-ups in Redis', () => {
  it('reach this process at once, and the others soon, without duplicates', async () => {
    await using server = await RedisServer.start();
    const [one, other] = [await processOn(server.url), await processOn(server.url)];
    await untilLinked(one, other);
    one.seen.length = 0;
    other.seen.length = 0;
    for (let time = 0; time < 5; time += 1) one.wakeups.taskChanged(KEY);
    one.wakeups.cancelAsked({ scope: { ...KEY.scope, owner: 'bob' }, id: 't2' });
    one.wakeups.workReady('a');
    one.wakeups.deliveryReady('b');
    expect(one.seen).toEqual([...Array(5).fill('changed null t1'), 'cancel bob t2', 'work a', 'delivery b']);
    await expect.poll(() => other.seen).toContain('delivery b');
    expect(other.seen).toEqual(['changed null t1', 'cancel bob t2', 'work a', 'delivery b']);
    other.wakeups.workReady('back');
    await expect.poll(() => one.seen.at(-1)).toBe('work back');
    expect(one.seen).toHaveLength(9);
  });

  it('arrive again after a restart of the server', async () => {
    await using server = await RedisServer.start();
    const [one, other] = [await processOn(server.url), await processOn(server.url)];
    await untilLinked(one, other);
    await server.kill();
    one.wakeups.workReady('lost');
    await server.startAgain();
    other.seen.length = 0;
    await untilLinked(one, other);
    expect(one.seen).toContain('work lost');
  });

  it('arrive again after a connection broke during its resubscription', async () => {
    await using server = await RedisServer.start();
    await using proxy = await DatabaseProxy.open(server.port);
    const one = await processOn(server.url);
    const other = await processOn(`redis://127.0.0.1:${proxy.port}`);
    await untilLinked(one, other);
    const lost = proxy.loseAnswer(/subscribe/i, 10_000);
    proxy.cut();
    proxy.restore();
    expect(await lost).toBe(true);
    other.seen.length = 0;
    await untilLinked(one, other);
  });

  it('ignore invalid messages of other clients', async () => {
    await using server = await RedisServer.start();
    const [one, other] = [await processOn(server.url), await processOn(server.url)];
    await untilLinked(one, other);
    const strange = [
      'no JSON',
      '{}',
      '[]',
      'null',
      '["x",["subscribe","a"],["taskChanged"],["taskChanged","a"],["workReady",1],["taskChanged","a","",{},"t"],7,[[]]]',
      `["x",${'['.repeat(10_000)}`,
    ];
    for (const message of strange) await one.connection.call((client) => client.publish('parley:wake', message));
    other.seen.length = 0;
    one.wakeups.workReady('after');
    await expect.poll(() => other.seen).toContain('work after');
    expect(other.seen.filter((text) => text !== 'changed null t1')).toEqual(['work after']);
  });

  it('arrive in a cluster after their partition has moved, and after a failover', async () => {
    await using cluster = await RedisCluster.start();
    const [one, other] = [await processOn(cluster.url), await processOn(cluster.url)];
    const keys = Array.from({ length: 40 }, (_, at) => ({ scope: { ...KEY.scope, owner: `owner ${at}` }, id: 't' }));
    const arrive = async () => {
      const missing = new Set(keys.map(({ scope }) => `changed ${scope.owner} t`));
      other.seen.length = 0;
      await expect
        .poll(
          () => {
            for (const key of keys) one.wakeups.taskChanged(key);
            for (const text of other.seen) missing.delete(text);
            return missing.size;
          },
          { timeout: 20_000 },
        )
        .toBe(0);
    };
    await arrive();
    const [from, to] = (await cluster.nodes()).filter(({ isPrimary }) => isPrimary);
    if (from === undefined || to === undefined) throw new Error('The cluster has no primaries');
    await cluster.reshard(from, to, 2_000);
    await arrive();
    await from.server.kill();
    await arrive();
  });
});
