import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openRedisStorage } from '../../packages/redis/src/index.js';
import { RedisTransfer } from '../../packages/redis/src/storage/redis-transfer.js';
import { parley, parleyJson } from '../cli/parley.js';
import { ALICE } from '../contract/storage/task-play.js';
import { RedisServer } from '../support/servers/redis-server.js';

let server: RedisServer;
let client: Redis;
beforeAll(async () => {
  server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
  client = new Redis(server.url);
});
afterAll(async () => {
  client.disconnect();
  await server[Symbol.asyncDispose]();
});

const open = async (prefix: string) => {
  const storage = await openRedisStorage({ url: server.url, prefix, logger: silentLogger });
  onTestFinished(() => storage.close());
  return storage;
};
const status = { state: 'TASK_STATE_COMPLETED', timestamp: new Date(0).toISOString() } as const;

describe('the schema version of a storage in Redis', () => {
  it('is written once, even beside tasks of a version that did not write it', async () => {
    const storage = await open('a:');
    await storage.create(ALICE, { id: 'one', contextId: 'c', status });
    expect(await client.get('a:{schema}')).toBe('1');
    await client.del('a:{schema}');
    const again = await open('a:');
    expect(await again.task(ALICE, 'one')).toMatchObject({ task: { id: 'one' } });
    expect(await client.get('a:{schema}')).toBe('1');
    await Promise.all([open('b:'), open('b:'), open('b:')]);
    expect(await client.get('b:{schema}')).toBe('1');
  });

  it.each([
    ['2', 'a newer version wrote it (schema 2, this version knows 1): run that version or a newer one'],
    ['x1', 'its schema is unknown ("x1"): name another prefix'],
  ])('is refused if it is %s, and nothing is changed', async (schema, reason) => {
    const prefix = `refused-${schema}:`;
    await client.set(`${prefix}{schema}`, schema);
    const refused = { constructor: StorageError, message: expect.stringContaining(reason) };
    await expect(open(prefix)).rejects.toMatchObject(refused);
    const ports = { clock: systemClock, ids: systemIds, logger: silentLogger };
    await expect(RedisTransfer.open({ url: server.url, prefix, ...ports })).rejects.toMatchObject(refused);
    expect(await client.keys(`${prefix}*`)).toEqual([`${prefix}{schema}`]);
  });

  it('is shown by parley db status, with the tasks by state', async () => {
    const database = ['--database', `${server.url}?prefix=shown:`];
    expect(await parleyJson(['db', 'status', ...database])).toMatchObject({ schema: 0, newestSchema: 1, tasks: {} });
    expect((await parley(['db', 'status', ...database])).stdout).toContain('Schema: none: a server creates it');
    expect(await client.keys('shown:*')).toEqual([]);
    const storage = await open('shown:');
    await storage.create(ALICE, { id: 'one', contextId: 'c', status });
    await storage.create({ ...ALICE, owner: 'test|bob' }, { id: 'two', contextId: 'c', status });
    expect(await parleyJson(['db', 'status', ...database])).toEqual({
      database: `127.0.0.1:${server.port}`,
      schema: 1,
      newestSchema: 1,
      bytes: expect.any(Number),
      tasks: { TASK_STATE_COMPLETED: 2 },
    });
    await client.set('shown:{schema}', '7');
    const { stdout } = await parley(['db', 'status', ...database]);
    expect(stdout).toMatch(/Schema: 7 \(newer than this version, which knows 1\)\nSize: .*\nCOMPLETED: 2\n/);
  });
});
