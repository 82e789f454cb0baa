import { once } from 'node:events';
import type { Socket } from 'node:net';
import { newWebSocketRpcSession } from 'capnweb';
import { describe, expect, it } from 'vitest';
import type WebSocket from 'ws';
import { type HostileProcess, hostileProcess } from './hostile-process.js';
import { HELLO, itemsOf, message, type RemoteEntrance, waitForClose } from './session-world.js';

const MB = 1_000_000;

/** A stock client on a socket. */
const agentOn = (socket: WebSocket) =>
  (newWebSocketRpcSession(socket as unknown as globalThis.WebSocket) as unknown as RemoteEntrance).authenticate(HELLO);

/** Expects that the server works, and that its heap has gone back to what it was. */
async function expectRecovery(server: HostileProcess, before: number): Promise<void> {
  expect(server.isUp()).toBe(true);
  expect(await agentOn(await server.socket()).ping()).toBe('pong');
  await expect
    .poll(async () => (await server.heap()) - before, { timeout: 15_000, interval: 200 })
    .toBeLessThan(10 * MB);
}

/** The connection below a WebSocket. */
function connectionOf(socket: WebSocket): Socket {
  return (socket as unknown as { readonly _socket: Socket })._socket;
}

/** A frame of a client, with a mask of zeros (RFC 6455 §5.2). The payload has at most 125 bytes. */
function webSocketFrame(type: number, payload: number, isLast: boolean): Buffer {
  return Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | type, 0x80 | payload]), Buffer.alloc(4 + payload)]);
}

/** Sends frames as fast as the server takes them, until it ends the connection. */
async function flood(socket: WebSocket, frame: (id: number) => unknown, most = 1_000_000): Promise<number> {
  const closed = waitForClose(socket);
  for (let id = 1; id <= most && socket.readyState === socket.OPEN; id++) {
    socket.send(JSON.stringify(frame(id)));
    if (id % 1000 === 0) await new Promise(setImmediate);
  }
  return (await closed).code;
}

describe('a peer without manners', () => {
  it.each([
    ['calls', () => ['push', ['pipeline', 0, ['ping'], []]]],
    ['reads of objects', () => ['push', ['pipeline', 0]]],
    ['pipes', () => ['pipe']],
    ['functions', (id: number) => ['push', ['pipeline', 0, ['ping'], [['export', -id]]]]],
  ])('with a million %s is sent away, and leaves no memory behind', async (_, frame) => {
    const server = await hostileProcess();
    await agentOn(await server.socket()).ping();
    const before = await server.heap();
    expect(await flood(await server.socket(), frame)).toBe(1008);
    await expectRecovery(server, before);
  });

  it('with thousands of calls that it releases gets answers for all, and leaves no memory behind', async () => {
    const server = await hostileProcess();
    const before = await server.heap();
    const socket = await server.socket();
    const calls = 20_000;
    for (let id = 1; id <= calls; id++) {
      socket.send(JSON.stringify(['push', ['pipeline', 0, ['ping'], []]]));
      socket.send(JSON.stringify(['release', id, 1]));
    }
    socket.send(JSON.stringify(['push', ['pipeline', 0, ['ping'], []]]));
    socket.send(JSON.stringify(['pull', calls + 1]));
    const [text] = await once(socket, 'message');
    expect(JSON.parse(String(text))).toEqual(['resolve', calls + 1, 'pong']);
    await expectRecovery(server, before);
  });

  it.each([
    ['pings whose answers it never reads', { type: 9, payload: 125, isLast: true }],
    ['pieces of a message that never ends', { type: 0, payload: 1, isLast: false }],
    ['empty pieces', { type: 0, payload: 0, isLast: false }],
  ])('with %s leaves no memory behind', async (_, { type, payload, isLast }) => {
    const server = await hostileProcess();
    await agentOn(await server.socket()).ping();
    const before = await server.heap();
    const socket = connectionOf(await server.socket());
    if (!isLast) socket.write(webSocketFrame(1, 1, false));
    socket.pause();
    const chunk = Buffer.concat(Array.from({ length: 1_000 }, () => webSocketFrame(type, payload, isLast)));
    for (let sent = 0; sent < 20_000_000 && !socket.destroyed; sent += chunk.length) {
      socket.write(chunk);
      await new Promise(setImmediate);
    }
    expect((await server.heap()) - before).toBeLessThan(30 * MB);
    socket.destroy();
    await expectRecovery(server, before);
  });

  it('with many subscriptions keeps its first ones', async () => {
    const server = await hostileProcess();
    const socket = await server.socket();
    const ada = agentOn(socket);
    const { task } = await ada.sendMessage({ message: message('hi', { metadata: { asks: true } }) });
    const before = await server.heap();
    const held = ada.task(task.id);
    const opened = await Promise.allSettled(Array.from({ length: 200 }, () => held.subscribe()));
    expect(opened.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(64);
    expect(opened.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(10);
    expect(await ada.getTask({ id: task.id })).toMatchObject({ id: task.id });
    socket.terminate();
    await expectRecovery(server, before);
  });

  it('that writes to a stream which no call reads is not read for a while', async () => {
    const server = await hostileProcess();
    const before = await server.heap();
    const socket = await server.socket();
    const bytes = Buffer.alloc(32_000).toString('base64');
    socket.send(JSON.stringify(['push', ['pipeline', 0, ['authenticate'], [HELLO]]]));
    socket.send(JSON.stringify(['pull', 1]));
    await once(socket, 'message');
    socket.send(JSON.stringify(['pipe']));
    for (let sent = 0; sent < 1000; sent++)
      socket.send(JSON.stringify(['stream', ['pipeline', 2, ['write'], [['bytes', bytes]]]]));
    // 42 MB were written. The server has read a part, and the rest waits here.
    await expect.poll(() => socket.bufferedAmount > 20 * MB, { timeout: 15_000 }).toBe(true);
    expect((await server.heap()) - before).toBeLessThan(40 * MB);
    socket.terminate();
    await expectRecovery(server, before);
  });

  it('that reads nothing stops its feed, and not the others', async () => {
    const server = await hostileProcess();
    const before = await server.heap();
    const slow = await server.socket();
    const { events } = await agentOn(slow).sendStreamingMessage({
      message: message('hi', { metadata: { lines: 20_000 } }),
    });
    const reader = events.getReader();
    const { value } = await reader.read();
    const { task } = (value as { event: { task: { id: string } } }).event;
    slow.pause();
    const other = agentOn(await server.socket());
    await expect
      .poll(async () => (await other.getTask({ id: task.id, historyLength: 0 })).status.state, {
        timeout: 15_000,
        interval: 100,
      })
      .toBe('TASK_STATE_COMPLETED');
    const items = await itemsOf(await other.task(task.id).subscribe({ after: 19_000 }));
    expect(items.at(-1)).toMatchObject({ event: { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } } });
    // The log of the task itself is in memory.
    expect((await server.heap()) - before).toBeLessThan(60 * MB);
    slow.resume();
    let seq = (value as { seq: number }).seq;
    for (let next = await reader.read(); !next.done; next = await reader.read()) expect(next.value.seq).toBe(++seq);
    expect(seq).toBeGreaterThanOrEqual(20_002);
  });
});
