import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { AttackedServer, type Holdings } from './attacked-server.js';
import { BASE, BINDINGS, callBytes, httpJsonBytes, requestBytes, rpcBytes } from './calls.js';
import { readError } from './error-answer.js';
import { readAnswers } from './http-answer.js';

/** Peers that do not read. Each is sent four answers of 9 MB. */
const PEERS = process.env.TEST_LONG === undefined ? 4 : 8;
const TIMES = { headersMs: 400, requestMs: 800, keepAliveMs: 300, stallMs: 1_000 };

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let server: AttackedServer;
let before: Holdings;
beforeAll(async () => {
  server = await AttackedServer.start({ options: { http: TIMES } });
  before = await server.idleHoldings();
});
afterEach(() => server.mustBeAsBefore(before));
afterAll(() => server[Symbol.asyncDispose]());

const LIST = '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}';
const sendParams = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
});

/** Sends a byte now and then until the other side has had enough. */
async function trickle(connection: RawConnection, byte: string): Promise<void> {
  while (!connection.ended && connection.bytes.length === 0) {
    connection.socket.write(byte);
    await pause(20);
  }
}

async function onlyAnswer(connection: RawConnection) {
  await connection.untilEnd();
  const answers = readAnswers(connection.bytes);
  expect(answers).toHaveLength(1);
  return answers[0] as (typeof answers)[0];
}

/** Beginnings of requests, and the bytes that follow again and again. */
const SLOW: readonly (readonly [name: string, begins: string, goesOn: string])[] = [
  ['a head that stops', `POST ${BASE} HTTP/1.1\r\nhost: localhost\r\n`, ''],
  ['a head that drips', `POST ${BASE} HTTP/1.1\r\nhost: localhost\r\nx-long: `, 'x'],
  ['headers that drip', `POST ${BASE} HTTP/1.1\r\nhost: localhost\r\n`, 'a:\r\n'],
  ['a body that stops', String(requestBytes('POST', BASE, '{"js', { 'content-length': '1000' })), ''],
  ['a body that drips', String(requestBytes('POST', `${BASE}/message:send`, '{', { 'content-length': '100000' })), ' '],
  [
    'chunks that drip',
    `POST ${BASE} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    '1\r\n \r\n',
  ],
];

describe('a request that does not arrive in time is told so, and its connection ended:', () => {
  it(SLOW.map(([name]) => name).join(', '), async () => {
    const slow = SLOW.map(async ([name, begins, goesOn]) => {
      using connection = await server.open(begins);
      if (goesOn !== '') await trickle(connection, goesOn);
      const answer = await onlyAnswer(connection);
      expect([name, answer.status]).toEqual([name, 408]);
      readError(answer);
    });
    await Promise.all(slow);
  });

  it('200 of them at once', async () => {
    const open = Array.from({ length: 200 }, (_, at) =>
      server.open(at % 2 ? 'GET / HT' : requestBytes('POST', BASE, '{', { 'content-length': '9' })),
    );
    for (const connection of await Promise.all(open)) expect((await onlyAnswer(connection)).status).toBe(408);
  });
});

it('a request in pieces that arrives in time is served', async () => {
  using connection = await server.open();
  for (const byte of requestBytes('POST', BASE, LIST).toString()) connection.socket.write(byte);
  expect(await connection.until(/"tasks":\[/)).toContain('200 OK');
});

// A client could take an answer for that to a request that it has just sent.
it('a connection that says nothing is ended without a word', async () => {
  using connection = await server.open('');
  expect(await connection.untilEnd()).toBe('');
});

it('a connection that is kept alive and not used is ended without a word', async () => {
  using connection = await server.open(requestBytes('POST', BASE, LIST));
  expect((await onlyAnswer(connection)).status).toBe(200);
});

it.each(BINDINGS)(
  'over %s a peer that never reads its answers is disconnected, and what was held for it is let go',
  async (binding) => {
    await using patient = await AttackedServer.start({ options: { http: { stallMs: 1_000 } } });
    const empty = await patient.idleHoldings();
    const sent = await patient.answer(httpJsonBytes('POST', '/message:send', sendParams('large 9000000')));
    const { id } = (JSON.parse(sent.text) as { task: { id: string } }).task;
    const call = callBytes('getTask', binding, { id });
    const connections = await Promise.all(Array.from({ length: PEERS }, () => patient.open()));
    for (const { socket } of connections) {
      socket.pause();
      socket.write(Buffer.concat([call, call, call, call]));
    }
    // Nothing is read until the server has closed all connections.
    await patient.mustBeAsBefore(empty, { heapMiB: 24, rssMiB: 512 });
    expect((await patient.holdings()).log.map(({ message }) => message)).toContain(
      'A peer that reads nothing was dropped',
    );
    for (const connection of connections) {
      connection.socket.resume();
      await connection.untilEnd();
      expect(connection.bytes.length).toBeLessThan(4 * 9_000_000);
      connection[Symbol.dispose]();
    }
  },
);

it.each(['memory', 'sqlite'] as const)(
  'a stream that is behind when its task is removed ends with an error, and nothing else waits for it (%s)',
  async (storage) => {
    const retention = { taskRetentionMs: 300, eventLogMs: 300, everyMs: 100 };
    await using brief = await AttackedServer.start({ storage, options: { retention } });
    const empty = await brief.idleHoldings();
    using slow = await brief.open(rpcBytes('SendStreamingMessage', sendParams('flood 200'), { connection: 'close' }));
    const [, id = ''] = /"task":\{"id":"([^"]+)"/.exec(await slow.until(/"task":\{"id":"[^"]+"/)) ?? [];
    slow.socket.pause();
    const task = () => brief.answer(rpcBytes('GetTask', { id }));
    await vi.waitUntil(async () => (await task()).text.includes('-32001'), { timeout: 60_000, interval: 50 });
    slow.socket.resume();
    expect((await slow.untilEnd()).slice(-500)).toContain('-32001');
    await brief.mustBeAsBefore(empty);
  },
);

it('an agent that takes its time is none of this', async () => {
  const answer = server.answer(rpcBytes('SendMessage', sendParams('hold')));
  await pause(TIMES.requestMs + TIMES.headersMs + TIMES.stallMs);
  await server.release();
  expect((await answer).text).toContain('released');
});
