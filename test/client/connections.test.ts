import { createServer as createPlainServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ConnectionError,
  type ConnectionEvent,
  connect,
  memoryCardCache,
  STREAM_RESUME_EXTENSION,
} from '../../packages/parley/src/exports/client.js';
import { makeAuthority } from '../credentials/certificates.js';
import { result, StubAgent, type StubAnswer, task } from './stub-agent.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** The port of a server that is closed with its connections after the test. */
async function portOf(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a server that gives each connection this answer. */
const raw = (answer: (socket: Socket) => void) =>
  createRawServer((socket) => socket.on('error', () => {}).once('data', () => answer(socket)));

async function failure(url: string): Promise<unknown> {
  return await connect(url, { cardCache: memoryCardCache() }).catch((error: unknown) => error);
}

describe('an agent that cannot be reached is told of in words', () => {
  it('https where there is no TLS', async () => {
    const port = await portOf(createPlainServer((_, response) => response.end('{}')));
    const error = await failure(`https://127.0.0.1:${port}`);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      message: expect.stringContaining('TLS is not spoken there; use http instead of https'),
    });
  });

  it('http where there is TLS, which says nothing to that', async () => {
    const port = await portOf(createTlsServer(makeAuthority('a').server(), (_, response) => response.end('{}')));
    const error = await failure(`http://127.0.0.1:${port}`);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: `http://127.0.0.1:${port} speaks TLS: use https instead of http` });
  });

  // Without a limit, the library would wait for minutes.
  it('a server that closes at first and then says nothing holds nobody longer than asked', async () => {
    let connections = 0;
    const server = createRawServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
      if (connections === 1) socket.once('data', () => socket.destroy());
    });
    const port = await portOf(server);
    const connecting = connect(`http://127.0.0.1:${port}`, { cardCache: memoryCardCache(), timeoutMs: 2_000 });
    await expect(connecting).rejects.toThrow('the server closed the connection');
    expect(connections).toBe(2);
  });

  it('http where there is TLS, which answers with an alert', async () => {
    const port = await portOf(raw((socket) => socket.end(Buffer.from('15030100020246', 'hex'))));
    expect(await failure(`http://127.0.0.1:${port}`)).toMatchObject({
      message: expect.stringContaining('TLS is spoken there; use https instead of http'),
    });
  });

  it.each([
    ['nginx', '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>'],
    ['Go', 'Client sent an HTTP request to an HTTPS server.\n'],
    ['Apache', "Reason: You're speaking plain HTTP to an SSL-enabled server port."],
  ])('http where there is TLS, which %s answers with a page', async (_, page) => {
    await using stub = await StubAgent.start(() => ({ status: 400, body: page }));
    expect(await failure(stub.url)).toMatchObject({
      message: 'Asked for the agent card, the server answered 400; it wants https instead of http',
    });
  });

  it('a certificate that nobody knows', async () => {
    const port = await portOf(createTlsServer(makeAuthority('a').server(), (_, response) => response.end('{}')));
    expect(await failure(`https://127.0.0.1:${port}`)).toMatchObject({
      message: expect.stringContaining('no trusted authority has signed its certificate'),
    });
  });

  it('a server that closes without an answer, and one that is not there', async () => {
    const server = raw((socket) => socket.destroy());
    const port = await portOf(server);
    expect(await failure(`http://127.0.0.1:${port}`)).toMatchObject({
      message: expect.stringContaining('cannot be reached: the server closed the connection'),
      cause: expect.any(Error),
    });
    await Promise.all(closing.splice(0).map((close) => close()));
    expect(await failure(`http://127.0.0.1:${port}`)).toMatchObject({
      message: expect.stringContaining('nothing listens there (ECONNREFUSED)'),
    });
  });
});

describe('interruptions are told of', () => {
  const FAST = { firstMs: 1, longestMs: 5 };
  const numbering = { capabilities: { streaming: true, extensions: [{ uri: STREAM_RESUME_EXTENSION }] } };
  const frame = (event: object, id: number) =>
    `id: ${id}\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: event })}\n\n`;
  const streamText =
    (text: string, cut: boolean): StubAnswer =>
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text, () => (cut ? response.destroy() : response.end()));
    };
  const status = (state: string) => ({ statusUpdate: { taskId: 't1', contextId: 'c1', status: { state } } });
  const busy: StubAnswer = { status: 503, headers: { 'retry-after': '0' }, body: { message: 'later' } };
  const collectEvents = () => {
    const heard: ConnectionEvent[] = [];
    return { heard, onConnection: (event: ConnectionEvent) => heard.push(event) };
  };
  const short = ({ state, attempt, taskId }: ConnectionEvent) => [state, attempt, taskId];

  it('of a stream that breaks, with the number of the attempt and the cause', async () => {
    const breakConnection: StubAnswer = (_, socket) => socket.destroy();
    const answers: StubAnswer[] = [
      streamText(frame({ task: task('TASK_STATE_WORKING') }, 1), true),
      breakConnection,
      breakConnection,
      streamText(frame(status('TASK_STATE_WORKING'), 2), true),
      streamText(frame(status('TASK_STATE_COMPLETED'), 3), false),
    ];
    await using stub = await StubAgent.start(() => answers.shift() ?? { status: 500 });
    const { heard, onConnection } = collectEvents();
    const client = await connect(stub.card(numbering), { resume: FAST, onConnection });
    for await (const event of client.sendStreamingMessage('hi')) void event;
    expect(heard.map(short)).toEqual([
      ['interrupted', 1, 't1'],
      ['interrupted', 2, 't1'],
      ['interrupted', 3, 't1'],
      ['restored', 3, 't1'],
      ['interrupted', 1, 't1'],
      ['restored', 1, 't1'],
    ]);
    expect(heard[0]).toMatchObject({
      attempts: 10,
      waitMs: expect.any(Number),
      error: { code: 'UNAVAILABLE', message: 'The stream broke off: the server closed the connection' },
    });
  });

  it('of a message that is sent again', async () => {
    const answers: StubAnswer[] = [busy, busy, result({ task: task() })];
    await using stub = await StubAgent.start(() => answers.shift() ?? { status: 500 });
    const { heard, onConnection } = collectEvents();
    const client = await connect(stub.card(), { retry: FAST, onConnection });
    await client.sendMessage({ message: { parts: [{ text: 'hi' }], taskId: 't1' } });
    await client.getTask('t1').catch(() => {});
    expect(heard.map(short)).toEqual([
      ['interrupted', 1, 't1'],
      ['interrupted', 2, 't1'],
      ['restored', 2, 't1'],
    ]);
    expect(heard[0]).toMatchObject({ attempts: 3, error: { code: 'UNAVAILABLE' } });
  });

  it('of a task that is waited for', async () => {
    const answers: StubAnswer[] = [
      result(task('TASK_STATE_WORKING')),
      { status: 502 },
      { status: 502 },
      result(task('TASK_STATE_WORKING')),
      result(task()),
    ];
    await using stub = await StubAgent.start(() => answers.shift() ?? { status: 500 });
    const { heard, onConnection } = collectEvents();
    const client = await connect(stub.card({ capabilities: {} }), { onConnection });
    await client.waitFor('t1', { pollMs: 1, longestPollMs: 2 });
    expect(heard.map(short)).toEqual([
      ['interrupted', 1, 't1'],
      ['interrupted', 2, 't1'],
      ['restored', 2, 't1'],
    ]);
  });
});

describe('the time after which to come back', () => {
  it.each<readonly [string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['more than any timer can count', { 'retry-after': '9'.repeat(400) }, 2 ** 31 - 1],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['no number', { 'retry-after': 'NaN' }, undefined],
    ['a date', { date: 'Sun, 22 Nov 2026 09:00:00 GMT', 'retry-after': 'Sun, 22 Nov 2026 09:00:10 GMT' }, 10_000],
    ['a past date', { date: 'Sun, 22 Nov 2026 09:00:00 GMT', 'retry-after': 'Sun, 22 Nov 2026 08:00:00 GMT' }, 0],
    [
      'a date of another age',
      { date: 'Thu, 01 Jan 1970 00:00:00 GMT', 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' },
      2 ** 31 - 1,
    ],
  ])('in a header is read within limits: %s', async (_, headers, ms) => {
    await using stub = await StubAgent.start(() => ({ status: 503, headers, body: { message: 'later' } }));
    const client = await connect(stub.card(), { retry: { attempts: 0 } });
    const error = await client.sendMessage('hi').catch((thrown: unknown) => thrown);
    expect((error as { details: { retryAfterMs?: number } }).details.retryAfterMs).toBe(ms);
  });

  it.each<readonly [string, unknown, number | undefined]>([
    ['a part of a second', '0.25s', 250],
    ['more than any number', '1e400s', 2 ** 31 - 1],
    ['a negative time', '-3s', undefined],
    ['no time', 'soon', undefined],
    ['no text', 3, undefined],
  ])('in the details of an error is read within limits: %s', async (_, retryDelay, ms) => {
    const data = [{ domain: 'a2a-protocol.org', reason: 'UNAVAILABLE' }, { retryDelay }];
    await using stub = await StubAgent.start(() => ({
      body: { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'later', data } },
    }));
    const client = await connect(stub.card(), { retry: { attempts: 0 } });
    const error = await client.sendMessage('hi').catch((thrown: unknown) => thrown);
    expect((error as { details: { retryAfterMs?: number } }).details.retryAfterMs).toBe(ms);
  });
});
