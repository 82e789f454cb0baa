import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { newHttpBatchRpcSession } from 'capnweb';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { HELLO, itemsOf, message, type RemoteEntrance, refusal, servedAgent, waitForClose } from './session-world.js';

/** An agent that works until its signal is aborted, or a test lets it end. */
function working() {
  const done = Promise.withResolvers<void>();
  const execute = async (_context: unknown, events: { working(): Promise<unknown>; complete(): Promise<unknown> }) => {
    await events.working();
    await done.promise;
    await events.complete();
  };
  return { agent: { execute }, complete: () => done.resolve() };
}

/** The answer to a request that a test writes itself. */
async function exchangeText(port: string, request: string): Promise<string> {
  const socket = connectSocket(Number(port), '127.0.0.1');
  socket.write(request);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

describe('a server that closes', () => {
  it('lets feeds see the end of their turns, and refuses new calls', async () => {
    const { agent, complete } = working();
    const { server, open } = await servedAgent({ agent });
    const { entrance, socket } = open();
    const ada = entrance.authenticate(HELLO);
    const feed = itemsOf(await ada.sendStreamingMessage({ message: message('hi') }));
    const closed = waitForClose(socket);
    const closingServer = server.close({ graceMs: 10_000 });
    expect(await refusal(ada.listTasks({}))).toMatchObject({ reason: 'UNAVAILABLE', retryAfterMs: 1000 });
    complete();
    const items = await feed;
    expect(items.at(-1)).toMatchObject({ event: { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } } });
    expect(await closed).toEqual({ code: 1012, reason: 'The server is shutting down' });
    await closingServer;
  });

  it('logs no fault for the calls and feeds that its shutdown ends', async () => {
    const lines: string[] = [];
    const log = (line: string) => void lines.push(line);
    const logger = { debug() {}, info() {}, warn: log, error: log };
    const { server, open } = await servedAgent({ agent: working().agent, logger });
    const ada = open().entrance.authenticate(HELLO);
    await ada.ping();
    const call = refusal(ada.sendMessage({ message: message('hi') }));
    const feed = refusal(itemsOf(await ada.sendStreamingMessage({ message: message('you') })));
    await server.close({ graceMs: 0 });
    expect([await call, await feed]).toHaveLength(2);
    expect(lines).toEqual([]);
  });

  it('ends feeds without an end, and does not wait for peers that read nothing', async () => {
    const asking = {
      execute: async (_context: unknown, events: { inputRequired(text: string): Promise<unknown> }) =>
        void (await events.inputRequired('and?')),
    };
    const { server, open } = await servedAgent({ agent: asking });
    const { entrance, socket } = open();
    const ada = entrance.authenticate(HELLO);
    const { task } = await ada.sendMessage({ message: message('hi') });
    const feed = itemsOf(await ada.subscribeToTask({ id: task.id }));
    const silent = open().socket;
    await once(silent, 'open');
    silent.pause();
    const closed = waitForClose(socket);
    const refused = refusal(feed);
    const since = performance.now();
    await server.close({ graceMs: 0 });
    expect(performance.now() - since).toBeLessThan(8_000);
    expect(await refused).toMatchObject({ reason: 'UNAVAILABLE' });
    expect((await closed).code).toBe(1012);
  });
});

describe('the path of a session', () => {
  const get = 'GET /a2a/capnweb HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n';
  const upgrade = `${get.replace('close', 'Upgrade')}Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n`;
  it.each([
    ['without an upgrade', `${get}\r\n`, 426],
    ['with a broken handshake', `${get.replace('close', 'close, Upgrade')}Upgrade: websocket\r\n\r\n`, 426],
    ['of another version', `${upgrade.replace('13', '12').replace('Upgrade', 'close, Upgrade')}\r\n`, 426],
    ['for pages of other origins', `${upgrade}Origin: https://evil.example\r\n\r\n`, 403],
    ['with another method', `${get.replace('GET', 'PUT')}\r\n`, 405],
    ['elsewhere', `${upgrade.replace('capnweb', 'nothing')}\r\n`, 404],
  ])('answers a request %s in plain HTTP', async (_, request, status) => {
    const { url } = await servedAgent();
    const answer = await exchangeText(new URL(url).port, request);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toContain('"message"');
    expect(/^sec-websocket-version: 13\r$/im.test(answer)).toBe(status === 426);
  });

  it('takes pages of the origins that CORS allows, and of its own', async () => {
    const { open, url } = await servedAgent({ cors: ['https://app.example'] });
    for (const origin of ['https://app.example', url]) await once(open({ origin }).socket, 'open');
    const [, refused] = await once(open({ origin: 'https://evil.example' }).socket, 'unexpected-response');
    expect(refused.statusCode).toBe(403);
  });

  it('compresses nothing', async () => {
    const { socketUrl } = await servedAgent();
    const socket = new WebSocket(socketUrl, { perMessageDeflate: true });
    await once(socket, 'open');
    expect(socket.extensions).toBe('');
    socket.terminate();
  });

  it('leaves other protocols that a client offers alone', async () => {
    const { url } = await servedAgent();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} });
    const answer = await exchangeText(
      new URL(url).port,
      `POST /a2a/jsonrpc HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).toContain('"tasks":[]');
  });
});

describe('a batch', () => {
  const TYPE = { 'content-type': 'application/x-ndjson' };
  const batchUrl = (url: string) => `${url}/a2a/capnweb`;

  it('takes dependent calls in one request', async () => {
    const { url } = await servedAgent();
    const request = new Request(batchUrl(url), { method: 'POST', headers: TYPE });
    const entrance = newHttpBatchRpcSession(request) as unknown as RemoteEntrance;
    const ada = entrance.authenticate(HELLO);
    const sent = ada.sendMessage({ message: message('hi') });
    const read = ada.getTask({ id: sent.task.id });
    const stream = refusal(ada.sendStreamingMessage({ message: message('hi') }));
    expect(await read).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(await stream).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });

  const ping = JSON.stringify(['push', ['pipeline', 0, ['ping'], []]]);
  it.each([
    ['of a type that any page may send', { 'content-type': 'text/plain' }, ping, 415],
    ['without a type', {}, Buffer.from(ping), 415],
    ['with a content coding', { ...TYPE, 'content-encoding': 'gzip' }, ping, 415],
    ['with too many frames', TYPE, Array.from({ length: 300 }, () => ping).join('\n'), 400],
    ['that is too large', TYPE, 'x'.repeat(200_000), 413],
    ['that is not JSON', TYPE, '{', 400],
    ['with an unknown frame', TYPE, '["map",1]', 400],
    ['that breaks the session', TYPE, '["release",5,1]', 400],
  ])('%s is refused', async (_, headers, body, status) => {
    const { url } = await servedAgent({ limits: { bodyBytes: 100_000 } } as object);
    const answer = await fetch(batchUrl(url), { method: 'POST', headers: headers as Record<string, string>, body });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code: status } });
  });

  it('answers in time what has ended by then', async () => {
    const { agent, complete } = working();
    const { url } = await servedAgent({ agent }, { limits: { batchMs: 1_000 } });
    const frames = [
      ['push', ['pipeline', 0, ['authenticate'], [HELLO]]],
      [
        'push',
        [
          'pipeline',
          1,
          ['sendMessage'],
          [{ message: { messageId: 'm', role: 'ROLE_USER', parts: [[{ text: 'hi' }]] } }],
        ],
      ],
      ['push', ['pipeline', 1, ['ping'], []]],
      ['pull', 2],
      ['pull', 3],
    ];
    const body = frames.map((frame) => JSON.stringify(frame)).join('\n');
    const answer = await fetch(batchUrl(url), { method: 'POST', headers: TYPE, body });
    expect(await answer.text()).toBe('["resolve",3,"pong"]');
    complete();
  });

  it('is not served if it is switched off', async () => {
    const { url, server } = await servedAgent({}, { batch: false });
    const answer = await fetch(batchUrl(url), { method: 'POST', headers: TYPE, body: ping });
    expect(answer.status).toBe(405);
    expect(server.agentCard.supportedInterfaces.map(({ protocolBinding }) => protocolBinding)).not.toContain(
      'https://parley-a2a.dev/bindings/capnweb-batch/v1',
    );
  });
});
