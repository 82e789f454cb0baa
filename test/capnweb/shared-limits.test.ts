import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { HELLO, message, refusal, servedAgent, waitForClose } from './session-world.js';

/** The number of times that a limit was reached. */
async function figureOf(url: string, limit: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { accept: 'text/plain;version=0.0.4' } })).text();
  return Number(new RegExp(`a2a_server_limits_reached_total\\{limit="${limit}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}

const LARGE = 'x'.repeat(150_000);

/** An agent that does not answer callers whose message asks for that. */
const agent = (prompt: string): string | Promise<string> =>
  prompt.startsWith('hold') ? new Promise<string>(() => {}) : 'done';

it('large frames of all sessions share the memory of large bodies, and wait for it', async () => {
  const { open } = await servedAgent({ agent, bodyMemory: 200_000 });
  const [first, second, third] = [open(), open(), open()];
  const [ada, bob, cyd] = [first, second, third].map(({ entrance }) => entrance.authenticate(HELLO));
  await Promise.all([ada?.ping(), bob?.ping(), cyd?.ping()]);
  const held = refusal(ada?.sendMessage({ message: message(`hold ${LARGE}`) }) as PromiseLike<unknown>);
  await cyd?.ping();
  await expect.poll(async () => (await cyd?.listTasks({}))?.tasks.length).toBe(1);
  let isAnswered = false;
  const waiting = bob?.sendMessage({ message: message(LARGE) }).then((answer) => {
    isAnswered = true;
    return answer;
  });
  for (let round = 0; round < 50; round++) await cyd?.ping();
  // Small frames do not wait.
  expect((await cyd?.sendMessage({ message: message('small') }))?.task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(isAnswered).toBe(false);
  first.socket.terminate();
  expect((await waiting)?.task.status.state).toBe('TASK_STATE_COMPLETED');
  await held;
});

it('counts the limits that sessions reach', async () => {
  const limits = { runningCalls: 2, unreleasedCalls: 10, connectionsPerAddress: 3 };
  const { open, url, socketUrl } = await servedAgent({ agent, health: true, trustProxy: ['loopback'] }, { limits });
  const { entrance } = open();
  const ada = entrance.authenticate(HELLO);
  await ada.ping();
  const running = [1, 2].map((number) => refusal(ada.sendMessage({ message: message(`hold ${number}`) })));
  expect(await refusal(ada.listTasks({}))).toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
  await expect.poll(() => figureOf(url, 'runningCalls')).toBe(1);
  const raw = open();
  const ended = waitForClose(raw.socket);
  await once(raw.socket, 'open');
  for (let call = 0; call < 20; call++) raw.socket.send(JSON.stringify(['push', ['pipeline', 0, ['ping'], []]]));
  expect((await ended).code).toBe(1008);
  await expect.poll(() => figureOf(url, 'unreleasedCalls')).toBe(1);
  const sockets = [1, 2, 3, 4].map(() => new WebSocket(socketUrl, { headers: { 'x-forwarded-for': '192.0.2.1' } }));
  for (const socket of sockets) {
    socket.on('error', () => {});
    onTestFinished(() => socket.terminate());
  }
  await expect.poll(() => figureOf(url, 'connections')).toBeGreaterThan(0);
  expect(running).toHaveLength(2);
});

it('ends a session whose large calls run at the same time beyond their limit', async () => {
  // The limit is at least the longest request.
  const { open } = await servedAgent({ agent, limits: { bodyBytes: 200_000 } } as object, {
    limits: { runningLength: 1 },
  });
  const { entrance, socket } = open();
  const ended = waitForClose(socket);
  const ada = entrance.authenticate(HELLO);
  await ada.ping();
  const first = refusal(ada.sendMessage({ message: message(`hold ${LARGE}`) }));
  const second = refusal(ada.sendMessage({ message: message(`hold ${LARGE}`) }));
  expect(await ended).toEqual({ code: 1008, reason: 'Too many large calls are running' });
  await Promise.all([first, second]);
});

it('ends a session whose peer reads too slowly', async () => {
  const limits = { outboundBytes: 200_000 };
  const { open, url } = await servedAgent({ agent: (prompt: string) => prompt, health: true }, { limits });
  const { entrance, socket } = open();
  const ended = waitForClose(socket);
  const ada = entrance.authenticate(HELLO);
  await ada.ping();
  socket.pause();
  const calls = Array.from({ length: 60 }, () => ada.sendMessage({ message: message(LARGE) }).catch(() => {}));
  await expect.poll(() => figureOf(url, 'outboundBytes'), { timeout: 15_000 }).toBe(1);
  socket.resume();
  expect((await ended).code).toBe(1006);
  await Promise.all(calls);
});

it('ends the session with the most bytes that wait, and not the others', async () => {
  const limits = { waitingBytes: 12_000_000 };
  const { open, url } = await servedAgent({ agent: (prompt: string) => prompt, health: true }, { limits });
  const askSessions = async (sessions: number, calls: number) => {
    const opened = Array.from({ length: sessions }, () => open());
    const agents = opened.map(({ entrance }) => entrance.authenticate(HELLO));
    await Promise.all(agents.map((ada) => ada.ping()));
    for (const { socket } of opened) socket.pause();
    const answers = agents.flatMap((ada) =>
      Array.from({ length: calls }, () => ada.sendMessage({ message: message(LARGE) }).catch(() => {})),
    );
    return { opened, answers };
  };
  const little = await askSessions(1, 2);
  const much = await askSessions(6, 60);
  await expect.poll(() => figureOf(url, 'waitingBytes'), { timeout: 30_000 }).toBeGreaterThan(0);
  for (const { socket } of [...little.opened, ...much.opened]) socket.resume();
  await Promise.all([...little.answers, ...much.answers]);
  expect(little.opened[0]?.socket.readyState).toBe(1);
  expect(much.opened.some(({ socket }) => socket.readyState === 3)).toBe(true);
});

it('ends the session with the most bytes of streams that no call takes', async () => {
  const { open } = await servedAgent({}, { limits: { waitingBytes: 3_000_000 } });
  const writeFrames = (writes: number) => {
    const { entrance, socket } = open();
    const bytes = Buffer.alloc(32_000).toString('base64');
    const ended = waitForClose(socket);
    return entrance
      .authenticate(HELLO)
      .ping()
      .then(() => {
        socket.send(JSON.stringify(['pipe']));
        // The stock client has made two calls.
        for (let sent = 0; sent < writes; sent++)
          socket.send(JSON.stringify(['stream', ['pipeline', 3, ['write'], [['bytes', bytes]]]]));
        return { socket, ended };
      });
  };
  const little = await writeFrames(20);
  const much = await writeFrames(60);
  expect(await much.ended).toEqual({ code: 1008, reason: 'Too many bytes of all connections wait for a reader' });
  expect(little.socket.readyState).toBe(1);
});
