import { newWebSocketRpcSession } from 'capnweb';
import { connect } from 'parley-a2a/client';
import { CAPNWEB_BINDING, capnwebTransport } from 'parley-a2a-capnweb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HostileProcess, hostileProcess } from './hostile-process.js';
import { HELLO, message, type RemoteAgent, type RemoteEntrance } from './session-world.js';

const FIRST_CALLS = 2_000;
const CALLS = process.env.TEST_LONG === undefined ? 3_000 : 24_000;
/** More than a session may keep. */
const KEPT_CALLS = 12_000;
const AT_ONCE = 16;
/** Less than the size of a table entry that a call could leave behind. */
const MOST_BYTES_PER_CALL = 40;

/** Makes calls, some of them at the same time. */
async function callsOf(call: () => Promise<unknown>, count: number): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** The stock client, and a task that waits. */
async function stockClient(server: HostileProcess): Promise<{ readonly agent: RemoteAgent; readonly id: string }> {
  const socket = (await server.socket()) as unknown as globalThis.WebSocket;
  const agent = (newWebSocketRpcSession(socket) as unknown as RemoteEntrance).authenticate(HELLO);
  const { task } = await agent.sendMessage({ message: message('hi', { metadata: { asks: true } }) });
  return { agent, id: task.id };
}

/** One call of each kind, with all that its client releases. */
const CALLERS: readonly (readonly [string, (server: HostileProcess) => Promise<() => Promise<unknown>>])[] = [
  [
    'of our client',
    async ({ socketUrl }) => {
      const url = socketUrl.replace('ws', 'http').replace('/a2a/capnweb', '');
      const client = await connect(url, { bindings: [capnwebTransport()], binding: CAPNWEB_BINDING });
      onTestFinished(() => client.close());
      const answer = await client.sendMessage('hi');
      const { id } = (answer as { readonly task: { readonly id: string } }).task;
      return () => client.getTask(id);
    },
  ],
  [
    'of the stock client, which disposes no answer',
    async (server) => {
      const { agent, id } = await stockClient(server);
      return () => agent.getTask({ id });
    },
  ],
  [
    'of objects that the stock client disposes',
    async (server) => {
      const { agent, id } = await stockClient(server);
      return async () => {
        const task = await agent.task(id);
        await task.get();
        task[Symbol.dispose]();
      };
    },
  ],
  [
    'whose answers the stock client does not want',
    async (server) => {
      const { agent, id } = await stockClient(server);
      return async () => {
        agent.getTask({ id })[Symbol.dispose]();
        await agent.ping();
      };
    },
  ],
  [
    'that are refused',
    async (server) => {
      const { agent } = await stockClient(server);
      return () => agent.getTask({ id: 'none' }).catch(() => undefined);
    },
  ],
  [
    'with functions that get events',
    async (server) => {
      const { agent, id } = await stockClient(server);
      return async () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const task = agent.task(id);
        const watch = await task.watch(() => resolve());
        await promise;
        watch[Symbol.dispose]();
        task[Symbol.dispose]();
      };
    },
  ],
];

describe('a session', { timeout: 120_000 }, () => {
  it.each(CALLERS)(`of ${CALLS} calls %s leaves nothing in the memory of the server`, async (_, open) => {
    const server = await hostileProcess();
    const call = await open(server);
    await callsOf(call, FIRST_CALLS);
    const before = await server.heap();
    await callsOf(call, CALLS);
    // The last releases may still be on their way.
    await expect
      .poll(async () => ((await server.heap()) - before) / CALLS, { timeout: 10_000, interval: 200 })
      .toBeLessThan(MOST_BYTES_PER_CALL);
  });

  it.each<[string, string, (agent: RemoteAgent, id: string) => unknown]>([
    ['objects', 'objects', (agent, id) => agent.task(id)],
    ['promises that it only builds on', 'calls', async (agent, id) => agent.task(id).get()],
  ])('ends with a reason if its client keeps %s', async (_, kept, call) => {
    const { agent, id } = await stockClient(await hostileProcess());
    const calls = callsOf(async () => call(agent, id), KEPT_CALLS);
    await expect(calls).rejects.toThrow(`1008 Too many ${kept} are not released`);
  });
});
