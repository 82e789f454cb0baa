import { agent, createA2AServer, silentLogger } from 'parley-a2a';
import { afterAll, expect, it } from 'vitest';
import { ALICE, acceptance, LEASE, newTask, TaskPlay, takeClaim, userMessage } from '../contract/storage/task-play.js';
import { StorageClock } from '../contract/storage/tested-storage.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { RedisStorages } from './redis-storages.js';

const server = await RedisServer.start();
afterAll(() => server[Symbol.asyncDispose]());
const storages = new RedisStorages(server.url);

/** Opens a storage. `scripts` returns the number of its scripts since the last call of `scripts`. */
async function openCounted() {
  const clock = new StorageClock();
  const storage = await storages.open(clock);
  let count = 0;
  storage.watchCommits?.((calls) => {
    count += calls;
  });
  const scripts = (): number => {
    const since = count;
    count = 0;
    return since;
  };
  return { tested: { storage, clock }, scripts };
}

it('a first message and each usual append of its turn take one script', async () => {
  const { tested, scripts } = await openCounted();
  const { storage } = tested;
  const idempotency = { key: 'k', digest: 'd', ttlMs: 1_000 };
  const pushConfig = { url: 'https://example.com' };
  const play = await TaskPlay.begin(tested, 't1', { idempotency, pushConfig });
  expect(scripts()).toBe(1);
  await play.write(['TASK_STATE_WORKING']);
  await play.write([play.chunk('a', false)]);
  await play.write([play.chunk('b')], { checkpoint: 1 });
  expect(scripts()).toBe(3);
  expect(await storage.renew({ ...LEASE, turns: [play.held] })).toEqual([{ held: true }]);
  await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 1 });
  expect(scripts()).toBe(2);
  await storage.close();
});

it('the process that claims a turn appends with one script', async () => {
  const { tested, scripts } = await openCounted();
  const { storage } = tested;
  await storage.accept(acceptance(userMessage('m'), newTask(tested, 't1')));
  const [claim] = (await storage.claim({ ...LEASE, agents: [ALICE.agent], limit: 1 })).claims;
  if (claim === undefined) throw new Error('No turn was claimed');
  scripts();
  await new TaskPlay(tested, claim).write(['TASK_STATE_WORKING']);
  expect(scripts()).toBe(1);
  await storage.close();
});

it('an append succeeds after another process has accepted a message', async () => {
  const { tested, scripts } = await openCounted();
  const { storage } = tested;
  const play = new TaskPlay(
    tested,
    takeClaim(await storage.accept(acceptance(userMessage('m'), newTask(tested, 't1'), { claim: LEASE }))),
  );
  const other = await storages.open(tested.clock, { prefix: storages.prefix });
  await other.accept(acceptance(userMessage('n'), 't1'));
  scripts();
  await play.write([play.chunk('a', false)]);
  expect(scripts()).toBe(2);
  await play.write([play.chunk('b')]);
  expect(scripts()).toBe(1);
  await other.close();
  await storage.close();
});

it('a message whose sender waits for the task takes two scripts', async () => {
  const { tested, scripts } = await openCounted();
  const { storage } = tested;
  const echo = agent((text) => `You said: ${text}`);
  // With push, the start of the server lists the queues of all partitions meanwhile.
  const echoServer = createA2AServer({ agent: echo, storage, push: false, logger: silentLogger });
  const { url } = await echoServer.listen(0);
  scripts();
  const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] } };
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
  });
  expect(await answer.json()).toMatchObject({ result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
  expect(scripts()).toBe(2);
  await echoServer.close();
  await storage.close();
});
