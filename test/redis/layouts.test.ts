import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openRedisStorage } from '../../packages/redis/src/index.js';
import { REDIS_SCHEMA } from '../../packages/redis/src/storage/redis-schema.js';
import { checkKeptTasks, writeKeptTasks } from '../contract/storage/kept-tasks.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { RedisServer } from '../support/servers/redis-server.js';

// The folder has a file for each version of the layout, with a command for each key as JSON. The code of that version
// wrote the keys. Files of earlier versions never change. The first run with a new version writes its file, unless CI
// is set.
const FOLDER = new URL('layouts/', import.meta.url);
const VERSIONS = Array.from({ length: REDIS_SCHEMA }, (_, at) => at + 1);

let server: RedisServer;
let client: Redis;
beforeAll(async () => {
  server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
  client = new Redis(server.url);
  await openStorage('new:', (storage) => writeKeptTasks({ storage, clock: new StorageClock() }));
  if (!process.env.CI && !existsSync(fileOf(REDIS_SCHEMA))) {
    const commands = await Promise.all((await keysOf('new:')).map(commandOf));
    writeFileSync(fileOf(REDIS_SCHEMA), commands.map((command) => `${JSON.stringify(command)}\n`).join(''));
  }
});
afterAll(async () => {
  client.disconnect();
  await server[Symbol.asyncDispose]();
});

it('each version of the layout has a fixture', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(VERSIONS.map((version) => `${version}.jsonl`).sort());
});

it.each(VERSIONS)('a storage with layout %i keeps its data, and has the keys of a new one', async (version) => {
  const prefix = `kept-${version}:`;
  for (const line of readFileSync(fileOf(version), 'utf8').trimEnd().split('\n')) {
    const [name, key, ...values] = JSON.parse(line) as [string, string, ...string[]];
    await client.call(name, key.replace(/^new:/, prefix), ...values);
  }
  expect(await client.get(`${prefix}{schema}`)).toBe(`${version}`);
  const { keys, newKeys } = await openStorage(prefix, async (storage) => {
    const found = { keys: await keysOf(prefix), newKeys: await keysOf('new:') };
    await checkKeptTasks({ storage, clock: new StorageClock() });
    return found;
  });
  expect(keys.map((key) => key.slice(prefix.length))).toEqual(newKeys.map((key) => key.slice('new:'.length)));
});

function fileOf(version: number): URL {
  return new URL(`${version}.jsonl`, FOLDER);
}

type Storage = Awaited<ReturnType<typeof openRedisStorage>>;

async function openStorage<R>(prefix: string, work: (storage: Storage) => Promise<R>): Promise<R> {
  const storage = await openRedisStorage({ url: server.url, prefix, logger: silentLogger });
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

async function keysOf(prefix: string): Promise<readonly string[]> {
  return (await client.keys(`${prefix}*`)).sort();
}

/** Returns the command that writes a key. */
async function commandOf(key: string): Promise<readonly string[]> {
  expect(await client.pttl(key)).toBe(-1);
  const type = await client.type(key);
  if (type === 'string') return ['SET', key, (await client.get(key)) ?? ''];
  if (type === 'hash') return ['HSET', key, ...Object.entries(await client.hgetall(key)).flat()];
  if (type === 'list') return ['RPUSH', key, ...(await client.lrange(key, 0, -1))];
  if (type === 'set') return ['SADD', key, ...(await client.smembers(key))];
  if (type !== 'zset') throw new Error(`No command writes a ${type}`);
  const members = await client.zrange(key, '0', '-1', 'WITHSCORES');
  return ['ZADD', key, ...members.flatMap((_, at) => (at % 2 === 0 ? [members[at + 1] ?? '', members[at] ?? ''] : []))];
}
