import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { RawWebSocket } from './raw-web-socket.js';
import { HELLO, itemsOf, message, refusal, servedAgent, waitForClose } from './session-world.js';

/** An agent that waits for its caller. */
const asking = {
  execute: async (_context: unknown, events: { inputRequired(text: string): Promise<unknown> }) =>
    void (await events.inputRequired('and?')),
};
/** An agent that never ends by itself. */
const endless = {
  execute: async ({ signal }: { signal: AbortSignal }, events: { working(): Promise<unknown> }) => {
    await events.working();
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  },
};

const call = (...path: string[]) => JSON.stringify(['push', ['pipeline', 0, path, []]]);

/** A server, and an open socket whose frames a test writes itself. */
async function rawSocket(...options: Parameters<typeof servedAgent>) {
  const world = await servedAgent(...options);
  const { socket } = world.open();
  const closed = waitForClose(socket);
  await once(socket, 'open');
  return { ...world, socket, closed };
}

describe('a session ends', () => {
  it('without authenticate in time', async () => {
    const { closed } = await rawSocket({}, { limits: { authenticateMs: 50 } });
    expect(await closed).toEqual({ code: 4408, reason: 'No authenticate in time' });
  });

  it('not by that time after authenticate', async () => {
    const { agent } = await servedAgent({}, { limits: { authenticateMs: 2_000 } });
    const ada = agent();
    await ada.ping();
    const since = performance.now();
    while (performance.now() - since < 2_200) expect(await ada.ping()).toBe('pong');
  });

  it('at a frame before authenticate that is too large', async () => {
    const { socket, closed } = await rawSocket();
    socket.send(JSON.stringify(['push', ['pipeline', 0, ['ping'], ['x'.repeat(100_000)]]]));
    expect((await closed).code).toBe(1009);
  });

  it('at a message before authenticate that never ends', async () => {
    const { socket, closed } = await rawSocket();
    for (let piece = 0; piece < 8; piece++) socket.send('x'.repeat(50_000), { fin: false });
    expect((await closed).code).toBe(1009);
  });

  it('at a message beyond the limit of requests', async () => {
    const { socket, closed, open } = await rawSocket({ limits: { bodyBytes: 100_000 } } as object);
    const other = open();
    await other.entrance.authenticate(HELLO).ping();
    const otherClosed = waitForClose(other.socket);
    other.socket.send(`["push",["pipeline",0,["ping"],["${'x'.repeat(200_000)}"]]]`);
    expect((await otherClosed).code).toBe(1009);
    socket.close();
    await closed;
  });

  it.each([
    ['a frame that is not JSON', '{'],
    ['a frame of an unknown type', '["map",1]'],
    ['an expression of an unknown type', JSON.stringify(['push', ['pipeline', 0, ['ping'], [['date', 0]]]])],
  ])('at %s', async (_, text) => {
    const { socket, closed } = await rawSocket();
    socket.send(text);
    expect((await closed).code).toBe(1008);
  });

  it('at a binary message', async () => {
    const { socket, closed } = await rawSocket();
    socket.send(Buffer.from('["pipe"]'));
    expect((await closed).code).toBe(1003);
  });

  it('at calls that are not released', async () => {
    const { socket, closed } = await rawSocket({}, { limits: { unreleasedCalls: 100 } });
    for (let count = 0; count < 101; count++) socket.send(call('ping'));
    expect(await closed).toEqual({ code: 1008, reason: 'Too many calls are not released' });
  });

  it('at objects that are not released, although their calls are', async () => {
    const { socket, closed } = await rawSocket({}, { limits: { capabilities: 20 } });
    socket.send(JSON.stringify(['push', ['pipeline', 0, ['authenticate'], [HELLO]]]));
    socket.on('message', () => {});
    for (let id = 2; id < 30; id++) {
      socket.send(JSON.stringify(['push', ['pipeline', 1]]));
      socket.send(JSON.stringify(['pull', id]));
      socket.send(JSON.stringify(['release', id, 1]));
    }
    expect(await closed).toEqual({ code: 1008, reason: 'Too many objects are not released' });
  });

  it('at functions that the server holds', async () => {
    const { agent, open } = await servedAgent({ agent: asking }, { limits: { callbacks: 5, feeds: 100 } });
    const { task } = await agent().sendMessage({ message: message('hi') });
    const { socket, entrance } = open();
    const closed = waitForClose(socket);
    const held = entrance.authenticate(HELLO).task(task.id);
    for (let count = 0; count < 6; count++) held.watch(() => {}).catch(() => {});
    expect(await closed).toEqual({ code: 1008, reason: 'Too many callbacks' });
  });

  it('if its peer answers no ping', async () => {
    const { open, socketUrl } = await servedAgent({}, { limits: { pingMs: 100, connections: 1 } });
    const { socket, entrance } = open();
    await entrance.authenticate(HELLO).ping();
    const closed = waitForClose(socket);
    // A peer in a black hole reads nothing, and sends nothing.
    socket.pause();
    expect((socket as unknown as { _socket: { destroyed: boolean } })._socket.destroyed).toBe(false);
    // Reads again once the server has let go of it: its place is free.
    await expect.poll(async () => (await RawWebSocket.open(socketUrl)).status).toBe(101);
    socket.resume();
    expect((await closed).code).toBe(1006);
  });

  it('if it is idle, or old', async () => {
    const { open } = await servedAgent({}, { limits: { pingMs: 100, idleMs: 1_000 } });
    const idle = open();
    await idle.entrance.authenticate(HELLO).ping();
    expect(await waitForClose(idle.socket)).toEqual({ code: 1000, reason: 'The connection was idle' });
    const { open: openOld } = await servedAgent({ agent: endless }, { limits: { pingMs: 100, ageMs: 1_500 } });
    const old = openOld();
    const closed = waitForClose(old.socket);
    const feed = await old.entrance.authenticate(HELLO).sendStreamingMessage({ message: message('hi') });
    expect(await refusal(itemsOf(feed))).toMatchObject({ reason: 'UNAVAILABLE' });
    expect((await closed).code).toBe(1012);
  });

  it('with an upgrade that is refused, if an address has too many', async () => {
    const { open } = await servedAgent({ trustProxy: ['loopback'] }, { limits: { connectionsPerAddress: 2 } });
    const from = (address: string) => open({ 'x-forwarded-for': address }).socket;
    const first = from('192.0.2.1');
    await Promise.all([once(first, 'open'), once(from('192.0.2.1'), 'open')]);
    const [, refused] = await once(from('192.0.2.1'), 'unexpected-response');
    expect(refused.statusCode).toBe(429);
    await once(from('192.0.2.2'), 'open');
    first.terminate();
    await expect
      .poll(
        async () =>
          await Promise.race([
            once(from('192.0.2.1'), 'open').then(() => 101),
            once(from('192.0.2.1'), 'unexpected-response').then(() => 429),
          ]),
      )
      .toBe(101);
  });
});

describe('a call is refused', () => {
  it('if too many are running', async () => {
    const { open } = await servedAgent({ agent: endless }, { limits: { runningCalls: 2 } });
    const ada = open().entrance.authenticate(HELLO);
    await ada.ping();
    const running = [1, 2].map((number) => refusal(ada.sendMessage({ message: message(`${number}`) })));
    expect(await refusal(ada.listTasks({}))).toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
      details: [{ metadata: { limit: 'runningCalls' } }, { retryDelay: '1s' }],
      retryAfterMs: 1000,
    });
    ada[Symbol.dispose]();
    expect(running).toHaveLength(2);
  });

  it('if too many feeds are open, until one is closed', async () => {
    const { agent } = await servedAgent({ agent: asking }, { limits: { feeds: 3 } });
    const ada = agent();
    const { task } = await ada.sendMessage({ message: message('hi') });
    const held = ada.task(task.id);
    const feeds = [await held.subscribe(), await held.subscribe(), await held.subscribe()];
    expect(await refusal(held.subscribe())).toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
    await feeds[0]?.subscription.close();
    expect(await itemsOf(feeds[0] as never)).toHaveLength(1);
    await held.subscribe();
  });
});

it('pieces of an upgrade request that never ends cost no session', async () => {
  const { url, open } = await servedAgent({}, { limits: { connections: 1 } });
  const { port } = new URL(url);
  const half = connectSocket(Number(port), '127.0.0.1');
  half.write('GET /a2a/capnweb HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n');
  const { socket } = open();
  await once(socket, 'open');
  half.destroy();
});
