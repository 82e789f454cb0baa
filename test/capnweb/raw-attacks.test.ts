import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostileProcess, hostileProcess, startHostileProcess } from './hostile-process.js';
import { expectUp, OPCODE, PING, RawWebSocket, webSocketFrame } from './raw-web-socket.js';
import { servedAgent } from './session-world.js';

const MB = 1_000_000;
/** The long form sends three times as much. */
const SCALE = process.env.TEST_LONG === undefined ? 1 : 3;

type Attack = (raw: RawWebSocket) => unknown;

describe('a peer that breaks the rules of WebSocket', () => {
  it.each<[string, number, Attack]>([
    ['a frame without a mask', 1002, (raw) => raw.frame(OPCODE.text, '["pull",1]', { isMasked: false })],
    ['a compressed frame', 1002, (raw) => raw.frame(OPCODE.text, '["pull",1]', { reserved: 4 })],
    ['an unknown kind of frame', 1002, (raw) => raw.frame(3, 'x')],
    ['text that is no UTF-8', 1007, (raw) => raw.frame(OPCODE.text, Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
    ['a ping in pieces', 1002, (raw) => raw.frame(OPCODE.ping, 'x', { isLast: false })],
    ['a ping that is too long', 1002, (raw) => raw.frame(OPCODE.ping, 'x'.repeat(200))],
    ['a continuation of nothing', 1002, (raw) => raw.frame(OPCODE.continuation, 'x')],
    [
      'a message within another',
      1002,
      (raw) => {
        raw.frame(OPCODE.text, '["pu', { isLast: false });
        raw.frame(OPCODE.text, '["pull",1]');
      },
    ],
    ['a length of 2^62', 1009, (raw) => raw.frame(OPCODE.text, 'x', { length: 2 ** 62 })],
    ['a close frame of one byte', 1002, (raw) => raw.frame(OPCODE.close, 'x')],
    ['a close code that no one may send', 1002, (raw) => raw.frame(OPCODE.close, Buffer.from([0x03, 0xee]))],
    ['a close reason that is no UTF-8', 1007, (raw) => raw.frame(OPCODE.close, Buffer.from([0x03, 0xe8, 0xff, 0xff]))],
  ])('with %s is sent away with %i', async (_, code, attack) => {
    const { socketUrl } = await servedAgent();
    const raw = await RawWebSocket.open(socketUrl);
    attack(raw);
    await raw.until(() => raw.code !== undefined);
    expect(raw.code).toBe(code);
    raw.socket.end();
    await raw.closed;
    await expectUp(socketUrl);
  });

  it('by sending frames before the answer to the upgrade is served', async () => {
    const { socketUrl } = await servedAgent();
    const early = [PING, ['pull', 1]].map((message) => webSocketFrame(OPCODE.text, JSON.stringify(message)));
    const raw = await RawWebSocket.open(socketUrl, Buffer.concat(early));
    await raw.until(() => raw.messages.length > 0);
    expect(raw.messages).toEqual([['resolve', 1, 'pong']]);
  });

  it.each<[string, Attack]>([
    ['closes its half only', (raw) => raw.socket.end()],
    ['says goodbye and stays', (raw) => raw.frame(OPCODE.close, Buffer.from([0x03, 0xe8]))],
    ['sends another request', (raw) => raw.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ])('and %s gives its place back', { timeout: 60_000 }, async (_, attack) => {
    const { socketUrl } = await servedAgent({}, { limits: { connections: 1 } });
    const raw = await (await RawWebSocket.open(socketUrl)).authenticateSession();
    attack(raw);
    await expect
      .poll(async () => (await RawWebSocket.open(socketUrl)).status, { timeout: 15_000, interval: 200 })
      .toBe(101);
  });
});

describe('a peer that breaks the rules of the session', () => {
  let server: HostileProcess;
  beforeAll(async () => {
    server = await startHostileProcess();
  });
  afterAll(() => server.end());

  it.each<[string, Attack]>([
    ['asks for a call that it never made', (raw) => raw.send(['pull', 77])],
    ['answers a call that no one made', (raw) => raw.send(['resolve', -9, 1], ['reject', 9, ['error', 'Error', 'x']])],
    ['lets go of the first object', (raw) => raw.send(['release', 0, 1], PING, ['pull', 2])],
    ['lets go of more than it has', (raw) => raw.send(['release', 1, 9_007_199_254_740_991])],
    ['ends the session and goes on', (raw) => raw.send(['abort', ['error', 'Error', 'x']], PING, ['pull', 2])],
    [
      'reads a stream twice',
      (raw) => {
        const part = { raw: ['readable', 2] };
        const twice = { messageId: 'm', role: 'ROLE_USER', parts: [[part, part]] };
        raw.send(['pipe'], ['push', ['pipeline', 1, ['sendMessage'], [{ message: twice }]]], ['pull', 3]);
      },
    ],
    [
      'gives its own agent as a hello',
      (raw) => raw.send(['push', ['pipeline', 0, ['authenticate'], [['pipeline', 1]]]], ['pull', 2]),
    ],
    [
      'gives the agent itself as a request',
      (raw) => raw.send(['push', ['pipeline', 1, ['sendMessage'], [['pipeline', 1]]]], ['pull', 2]),
    ],
    [
      'gives a method of the agent as a callback',
      (raw) => {
        const hello = { kind: 'message', messageId: 'm', role: 'user', parts: [[{ kind: 'text', text: 'x' }]] };
        const method = ['pipeline', 1, ['sendMessage']];
        raw.send(['push', ['pipeline', 0, ['sendMessageStreaming'], [hello, null, method]]], ['pull', 2]);
      },
    ],
    [
      'gives the entrance as a callback',
      (raw) => {
        const hello = { kind: 'message', messageId: 'm', role: 'user', parts: [[{ kind: 'text', text: 'x' }]] };
        raw.send(['push', ['pipeline', 0, ['sendMessageStreaming'], [hello, null, ['pipeline', 0]]]], ['pull', 2]);
      },
    ],
    [
      'asks for numbers beyond all numbers',
      (raw) =>
        raw.frame(OPCODE.text, '["push",["pipeline",1,["listTasks"],[{"pageSize":1e999,"historyLength":-1e999}]]]'),
    ],
    [
      'names members of every prototype',
      (raw) =>
        raw.frame(
          OPCODE.text,
          '["push",["pipeline",1,["getTask"],[{"__proto__":{"id":"x"},"constructor":{"prototype":{"id":"x"}}}]]]',
        ),
    ],
    [
      'builds on the results of calls a thousand times',
      (raw) => {
        raw.send(['push', ['pipeline', 1, ['getTask'], [{ id: 'none' }]]]);
        for (let id = 2; id < 1_000; id++) raw.send(['push', ['pipeline', id, ['status']]]);
        raw.send(['pull', 1_000]);
      },
    ],
  ])('and %s harms nobody else', async (_, attack) => {
    const raw = await (await RawWebSocket.open(server.socketUrl)).authenticateSession();
    attack(raw);
    raw.send(['push', ['pipeline', 0, ['ping'], []]]);
    await expectUp(server.socketUrl);
    expect(server.isUp()).toBe(true);
    expect(({} as { id?: unknown }).id).toBeUndefined();
  });
});

describe('the memory of a server', { timeout: 120_000 }, () => {
  it('does not grow with what a peer sends after its end', async () => {
    const server = await hostileProcess();
    const before = await server.memory();
    const raw = await (await RawWebSocket.open(server.socketUrl)).authenticateSession();
    raw.send(['map', 1]);
    const chunk = JSON.stringify(['push', ['pipeline', 0, ['ping'], ['x'.repeat(1_000_000)]]]);
    for (let sent = 0; sent < 100 * SCALE && !raw.socket.destroyed; sent++) {
      if (!raw.frame(OPCODE.text, chunk)) await raw.room();
      // Bytes that have just arrived are in memory for a moment.
      if (sent % 20 === 19) await expect.poll(async () => (await server.memory()) - before).toBeLessThan(30 * MB);
    }
    // A server that has read everything ends its half of the connection only.
    raw.socket.end();
    await raw.closed;
  });

  it('does not grow with messages that stay unfinished', async () => {
    const server = await hostileProcess();
    await expectUp(server.socketUrl);
    const before = await server.memory();
    const raws = await Promise.all(
      Array.from({ length: 40 }, async () => (await RawWebSocket.open(server.socketUrl)).authenticateSession()),
    );
    for (const raw of raws) raw.frame(OPCODE.text, 'x'.repeat(9 * MB), { length: 10 * MB });
    // 360 MB were written. The server has read up to its limit.
    const early = raws[0];
    if (early === undefined) throw new Error('no session');
    await expect.poll(async () => (await server.memory()) - before > 20 * MB, { timeout: 20_000 }).toBe(true);
    for (let look = 0; look < 10; look++) {
      expect((await server.memory()) - before).toBeLessThan(100 * MB);
      await expectUp(server.socketUrl);
    }
    for (const raw of raws) raw.socket.destroy();
    await expect.poll(async () => (await server.memory()) - before, { timeout: 20_000 }).toBeLessThan(20 * MB);
  });

  it('does not grow with files that stay unfinished', async () => {
    const server = await hostileProcess({ limits: { unconsumedBytes: 500_000 } });
    await expectUp(server.socketUrl);
    const before = await server.memory();
    const raws = await Promise.all(
      Array.from({ length: 40 }, async () => (await RawWebSocket.open(server.socketUrl)).authenticateSession()),
    );
    const bytes = Buffer.alloc(40_000).toString('base64');
    for (const raw of raws) {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [[{ raw: ['readable', 2] }]] };
      raw.send(['pipe'], ['push', ['pipeline', 1, ['sendMessage'], [{ message }]]]);
    }
    // 320 MB of endless files.
    for (let sent = 0; sent < 200; sent++) {
      for (const raw of raws) raw.send(['stream', ['pipeline', 2, ['write'], [['bytes', bytes]]]]);
      await new Promise(setImmediate);
    }
    await expect.poll(async () => (await server.memory()) - before > 20 * MB, { timeout: 20_000 }).toBe(true);
    for (let look = 0; look < 10; look++) {
      expect((await server.memory()) - before).toBeLessThan(120 * MB);
      await expectUp(server.socketUrl);
    }
    for (const raw of raws) raw.socket.destroy();
    await expect.poll(async () => (await server.memory()) - before, { timeout: 20_000 }).toBeLessThan(20 * MB);
  });

  it('does not grow with the same question asked again and again', async () => {
    const server = await hostileProcess();
    await expectUp(server.socketUrl);
    const before = await server.memory();
    const raw = await (await RawWebSocket.open(server.socketUrl)).authenticateSession();
    const pulls = Buffer.concat(Array.from({ length: 1_000 }, () => webSocketFrame(OPCODE.text, '["pull",1]')));
    for (let round = 0; round < 350 * SCALE && !raw.socket.destroyed; round++) {
      if (!raw.socket.write(pulls)) await raw.room();
    }
    await expectUp(server.socketUrl);
    await expect
      .poll(async () => (await server.memory()) - before, { timeout: 15_000, interval: 200 })
      .toBeLessThan(10 * MB);
  });
});

it('a frame of millions of empty values holds up nobody for long', { timeout: 60_000 }, async () => {
  const server = await hostileProcess();
  const raw = await (await RawWebSocket.open(server.socketUrl)).authenticateSession();
  const empty = `[${Array.from({ length: 1_600_000 }, () => '[[]]').join()}]`;
  raw.frame(OPCODE.text, `["push",["pipeline",1,["sendMessage"],[{"message":{"parts":[${empty}]}}]]]`);
  const begun = performance.now();
  await expectUp(server.socketUrl);
  expect(performance.now() - begun).toBeLessThan(10_000);
});
