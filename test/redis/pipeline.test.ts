import { Redis } from 'ioredis';
import { afterAll, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisStorage } from '../../packages/redis/src/storage/redis-storage.js';
import { ALICE } from '../contract/storage/task-play.js';
import { RedisServer } from '../support/servers/redis-server.js';

const server = await RedisServer.start();
const driver = new Redis(server.url);
afterAll(async () => {
  driver.disconnect();
  await server[Symbol.asyncDispose]();
});

function open(prefix: string): Promise<RedisStorage> {
  return RedisStorage.open({ url: server.url, prefix, clock: systemClock, ids: systemIds, logger: silentLogger });
}

function taskOf(id: string) {
  return { id, status: { state: 'TASK_STATE_SUBMITTED' as const } };
}

it('calls of one tick share a batch, even after the server has lost its cached scripts', async () => {
  const storage = await open('forgotten:');
  const batches: number[] = [];
  storage.watchCommits?.((calls) => batches.push(calls));
  const create = (name: string) =>
    Promise.all(Array.from({ length: 20 }, (_, at) => storage.create(ALICE, taskOf(`${name} ${at}`))));
  expect(await create('before')).toEqual(Array(20).fill(true));
  await driver.script('FLUSH');
  expect(await create('after')).toEqual(Array(20).fill(true));
  expect(await create('again')).toEqual(Array(20).fill(true));
  expect(batches).toEqual([20, 20, 20]);
  await storage.close();
});

it('a refused call does not affect the others of its batch, and writes nothing', async () => {
  const storage = await open('refused:');
  await storage.create(ALICE, taskOf('t1'));
  const [, key] = await driver.keys('refused:*t:*').then((keys) => [0, keys[0] ?? '']);
  await driver.del(String(key));
  await driver.set(String(key), 'no hash');
  const answers = await Promise.allSettled([
    storage.create(ALICE, taskOf('t2')),
    storage.task(ALICE, 't1'),
    storage.create(ALICE, taskOf('t3')),
  ]);
  expect(answers).toMatchObject([{ value: true }, { reason: { name: 'StorageError' } }, { value: true }]);
  await storage.close();
});

it('texts with braces, line breaks, NUL, quotation marks or unpaired surrogates are stored unchanged', async () => {
  const storage = await open('texts:');
  const texts = ['{p1}', '"]', "'", '\n', '\0', '\ud800', '\\', 'é', '%', ']]', '"],["'];
  const scopes = texts.flatMap((text) => [
    { agent: text, tenant: '', owner: null },
    { agent: 'a', tenant: text, owner: null },
    { agent: 'a', tenant: '', owner: text },
  ]);
  const lease = { node: '"\n\0', leaseMs: 60_000 };
  for (const scope of scopes) {
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: texts.join('') }] };
    const create = { ...taskOf('t'), contextId: scope.tenant, history: [message] };
    const caller = { extensions: texts, version: '1.0' };
    const outcome = await storage.accept({ scope, message, caller, task: { create }, claim: lease, waitingLimit: 1 });
    expect(outcome).toMatchObject({ kind: 'accepted', claim: { scope, message } });
  }
  for (const scope of scopes) {
    const { task, ...stored } = (await storage.task(scope, 't')) ?? {};
    expect(stored).toMatchObject({ scope, running: true, seq: 1 });
    expect(task?.history?.[0]?.parts).toEqual([{ text: texts.join('') }]);
  }
  await storage.close();
});
