import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { KEY, RedisKeys } from '../../packages/redis/src/storage/redis-keys.js';
import { headOf, headTextOf } from '../../packages/redis/src/storage/task-texts.js';
import { blockRuleProperty } from '../contract/storage/block-rule.js';
import { LAST, type SweptTask, sweepRuleProperty } from '../contract/storage/sweep-rule.js';
import { ALICE } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { RedisStorages } from './redis-storages.js';

// The script of a sweep selects the logs and tasks itself, so that it reads no task that is kept.

const server = await RedisServer.start();
const redis = new Redis(server.url);
const storages = new RedisStorages(server.url);
const clock = new StorageClock();
const storage = await storages.open(clock);
const keys = new RedisKeys(storages.prefix);
afterAll(async () => {
  await storage.close();
  await redis.quit();
  await server[Symbol.asyncDispose]();
});

async function headAt(id: string) {
  const head = headOf([await redis.hget(keys.ofTask({ scope: ALICE, id }).key, 'h'), null, null]);
  if (head === undefined) throw new Error(`The task ${id} is not there`);
  return head;
}

async function write({ id, endedAt = 0, records, isPending }: SweptTask): Promise<void> {
  const { key, base, name, agent } = keys.ofTask({ scope: ALICE, id });
  const bytes = 10 * records;
  await redis.hset(key, 'h', headTextOf({ ...(await headAt(id)), seq: LAST, bytes, endedAt }));
  await redis.del(`${base}${KEY.log}${name}`);
  for (let at = 0; at < records; at += 1) await redis.rpush(`${base}${KEY.log}${name}`, '0\n{}\n\n');
  await redis.zrem(`${base}${KEY.logs}`, name);
  if (endedAt > 0) {
    await redis.zadd(`${base}${KEY.ended}`, endedAt, name);
    if (records > 0) await redis.zadd(`${base}${KEY.logs}`, endedAt, name);
  }
  const queue = `1 ${isPending ? 1 : -1} 0 -1 7 -1 1 0 [null,null]`;
  await redis.hset(`${base}${KEY.deliveries}${name}`, '"hook"', queue);
  if (isPending) await redis.zadd(`${base}${KEY.due}${agent}`, 1, `${name.slice(0, -1)},"hook"]`);
}

async function read(name: string): Promise<SweptTask> {
  const id = JSON.parse(name)[3];
  const { base } = keys.ofTask({ scope: ALICE, id });
  const { endedAt } = await headAt(id);
  const records = await redis.llen(`${base}${KEY.log}${name}`);
  const queue = await redis.hget(`${base}${KEY.deliveries}${name}`, '"hook"');
  const listed = await redis.zscore(`${base}${KEY.ended}`, name);
  if (Number(listed ?? 0) !== endedAt)
    throw new Error(`The task ${id} ended at ${endedAt}, and is listed at ${listed}`);
  const isPending = queue?.split(' ')[1] !== '-1';
  return { id, endedAt: endedAt === 0 ? undefined : endedAt, records, isPending };
}

sweepRuleProperty(
  async () => ({
    storage,
    now: clock.now(),
    clear: async () => void (await redis.flushdb()),
    write: async (tasks) => {
      for (const task of tasks) await write(task);
    },
    tasks: async () => {
      const { base } = keys.ofScope(ALICE);
      const found = await redis.keys(`${base}${KEY.task}*`);
      return Promise.all(
        found
          .map((key) => key.slice(`${base}${KEY.task}`.length))
          .sort()
          .map(read),
      );
    },
  }),
  200,
);

blockRuleProperty(async () => ({ storage, clock }));
