import { connect as connectSocket } from 'node:net';
import { text } from 'node:stream/consumers';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  PushReceiver,
  type PushReceiverOptions,
  type ReceivedNotification,
} from '../../packages/parley/src/exports/push-receiver.js';
import { PushReceiver as ReceiverOfRoom } from '../../packages/parley/src/push/receiver/push-receiver.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { LocalServer, oldTask, SigningAgent, statusUpdate } from './receiver-world.js';

const TOKEN = { 'x-a2a-notification-token': 'pl4nted-s3cret-token' };
const JSON_TYPE = { 'content-type': 'application/a2a+json' };

/** Starts a receiver that records its notifications and refusals. */
function createReceiver(options: Partial<PushReceiverOptions> = {}) {
  const notifications: ReceivedNotification[] = [];
  const refusals: string[] = [];
  const receiver = new PushReceiver({
    token: 'pl4nted-s3cret-token',
    onNotification: (notification) => void notifications.push(notification),
    onRefusal: ({ status, reason }) => void refusals.push(`${status} ${reason}`),
    ...options,
  });
  const post = (body: unknown, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    receiver.fetch(
      new Request('https://app.example/hook', {
        method: 'POST',
        headers: { ...JSON_TYPE, ...TOKEN, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
      }),
    );
  return { notifications, refusals, receiver, post };
}

describe('a notification', () => {
  it('of 1.0 is handed on as its event, and acknowledged', async () => {
    const { notifications, post } = createReceiver();
    const answer = await post(statusUpdate(), { 'x-a2a-notification-id': 't1/hook/2' });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(notifications).toMatchObject([{ id: 't1/hook/2', taskId: 't1', version: '1.0', event: statusUpdate() }]);
  });

  it('of 0.3 is handed on as the task in the form of 1.0', async () => {
    const { notifications, post } = createReceiver();
    expect((await post(oldTask(), { 'content-type': 'application/json; charset=utf-8' })).status).toBe(204);
    expect(notifications).toMatchObject([
      { taskId: 't1', version: '0.3', event: { task: { id: 't1', status: { state: 'TASK_STATE_COMPLETED' } } } },
    ]);
  });

  it('is acknowledged only after its handler has succeeded, and handled again if not', async () => {
    const logger = new CapturingLogger();
    let attempts = 0;
    const { post } = createReceiver({
      logger,
      onNotification: async () => {
        attempts += 1;
        if (attempts === 1) throw new Error('the database is away');
      },
    });
    const id = { 'x-a2a-notification-id': 'a' };
    const failed = await post(statusUpdate(), id);
    expect([failed.status, await failed.text()]).toEqual([500, '{"error":"the notification was not handled"}']);
    expect((await post(statusUpdate(), id)).status).toBe(204);
    expect((await post(statusUpdate(), id)).status).toBe(204);
    expect(attempts).toBe(2);
  });

  it('that comes again is acknowledged and dropped, also while the first one is still being handled', async () => {
    const begun: string[] = [];
    const gate = Promise.withResolvers<void>();
    const { post } = createReceiver({
      onNotification: ({ id = '' }) => {
        begun.push(id);
        return gate.promise;
      },
    });
    const sent = ['a', 'a', 'b'].map((id) => post(statusUpdate(), { 'x-a2a-notification-id': id }));
    while (begun.length < 2) await new Promise((resolve) => setImmediate(resolve));
    gate.resolve();
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([204, 204, 204]);
    expect((await post(statusUpdate(), { 'x-a2a-notification-id': 'a' })).status).toBe(204);
    expect(begun).toEqual(['a', 'b']);
  });

  it('that was handled before a restart is dropped, if the application keeps the ids', async () => {
    const ids = new Set<string>();
    const seen = { has: async (id: string) => ids.has(id), add: async (id: string) => void ids.add(id) };
    for (const count of [1, 0]) {
      const { notifications, post } = createReceiver({ seen });
      expect((await post(statusUpdate(), { 'x-a2a-notification-id': 'a' })).status).toBe(204);
      expect(notifications).toHaveLength(count);
    }
  });

  it('without an id is handed on each time', async () => {
    const { notifications, post } = createReceiver();
    await post(statusUpdate());
    await post(statusUpdate());
    expect(notifications.map(({ id }) => id)).toEqual([undefined, undefined]);
  });
});

describe('a request that is refused', () => {
  it.each([
    ['no token', { 'x-a2a-notification-token': '' }, 401],
    ['another token', { 'x-a2a-notification-token': 's3cret-toke' }, 401],
    ['a longer token', { 'x-a2a-notification-token': 'pl4nted-s3cret-tokens' }, 401],
    ['two tokens', { 'x-a2a-notification-token': 'pl4nted-s3cret-token, other' }, 401],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['plain text', { 'content-type': 'text/plain' }, 415],
    ['another type with the word', { 'content-type': 'text/plain; a=application/json' }, 415],
    ['an old timestamp', { 'x-a2a-notification-timestamp': '1000000' }, 400],
    ['a timestamp of tomorrow', { 'x-a2a-notification-timestamp': String(Date.now() / 1000 + 86_400) }, 400],
    ['a timestamp that is none', { 'x-a2a-notification-timestamp': 'now' }, 400],
    ['a long id', { 'x-a2a-notification-id': 'x'.repeat(3000) }, 400],
  ])('for %s', async (_, headers, status) => {
    const { notifications, refusals, post } = createReceiver();
    const answer = await post(statusUpdate(), headers);
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(notifications).toEqual([]);
    expect(refusals).toHaveLength(1);
    expect(refusals.join() + (await answer.text())).not.toContain('s3cret');
  });

  it.each([
    ['{', 'the body is no JSON'],
    ['null', 'none, or several, of'],
    ['[]', 'none, or several, of'],
    ['{}', 'none, or several, of'],
    [{ ...statusUpdate(), task: {} }, 'none, or several, of'],
    [{ statusUpdate: { taskId: 't1', contextId: 'c1' } }, 'status'],
    [{ kind: 'task', id: 't1' }, 'status'],
    [{ kind: 'joke' }, 'no event'],
  ])('for the body %j', async (body, reason) => {
    const { notifications, post } = createReceiver();
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(reason);
    expect(notifications).toEqual([]);
  });

  it('for its method, its host or its task', async () => {
    const { post } = createReceiver({ hosts: ['app.example'], isExpected: async (id) => id === 't1' });
    expect((await post(statusUpdate('t1'))).status).toBe(204);
    expect((await post(statusUpdate('t2'))).status).toBe(404);
    expect((await post(statusUpdate('t1'), { host: 'evil.example' })).status).toBe(421);
    const got = await post(undefined, {}, { method: 'GET', body: null });
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await post(undefined, {}, { method: 'OPTIONS', body: null })).status).toBe(405);
  });

  it('for the scheme or the credentials of its Authorization', async () => {
    const { post } = createReceiver({ authentication: { scheme: 'Bearer', credentials: 'k3y' } });
    const statuses = [];
    for (const authorization of ['', 'Bearer', 'Basic k3y', 'Bearer k3', 'Bearer k3y2', 'Bearer k3y', 'bearer k3y'])
      statuses.push((await post(statusUpdate(), { authorization })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 204, 204]);
  });

  it('for no secret at all, unless anonymous senders are allowed', async () => {
    const onNotification = () => {};
    expect(() => new PushReceiver({ onNotification })).toThrow('needs token, authentication, signature, or');
    expect(() => new PushReceiver({ onNotification, token: [] })).toThrow('needs token');
    const open = new PushReceiver({ onNotification, allowAnonymous: true, hosts: ['app.example'] });
    const request = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(statusUpdate()) };
    expect((await open.fetch(new Request('https://app.example/', request))).status).toBe(204);
  });

  it('for the host of another machine, if every sender is taken and no host is named', async () => {
    const open = new PushReceiver({ onNotification: () => {}, allowAnonymous: true });
    await using server = await LocalServer.open(open.listener);
    const statusFor = async (host: string) => {
      const body = JSON.stringify(statusUpdate());
      const head = `POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\nconnection: close`;
      const socket = connectSocket(server.port, '127.0.0.1').setEncoding('utf8');
      socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      return (await text(socket)).split(/ |\r\n\r\n/);
    };
    const [, status, ...rest] = await statusFor('evil.example');
    expect([status, rest.join(' ')]).toEqual(['421', expect.stringContaining('hosts')]);
    for (const host of ['localhost', `127.0.0.1:${server.port}`, '[::1]'])
      expect((await statusFor(host))[1]).toBe('204');
    const request = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(statusUpdate()) };
    expect((await open.fetch(new Request('http://evil.example/', request))).status).toBe(421);
  });

  it.each<[string, Partial<PushReceiverOptions>]>([
    ['token', { token: '' }],
    ['token', { token: ['pl4nted-s3cret-token', ''] }],
    ['token', { token: '', allowAnonymous: true }],
    ['authentication', { authentication: { scheme: 'Bearer', credentials: '' } }],
    ['authentication', { authentication: { scheme: '', credentials: 'pl4nted-s3cret' } }],
    // An environment variable that is not set, behind a cast.
    ['token', { token: [undefined as never] }],
    ['token', { token: null as never }],
    ['authentication', { authentication: { scheme: 'Bearer', credentials: undefined as never } }],
    ['authentication', { authentication: null as never }],
  ])('for an empty %s, which everybody knows: %j', (name, secrets) => {
    expect(() => new PushReceiver({ onNotification: () => {}, ...secrets })).toThrow(`${name} must not be empty`);
  });

  it('but not for one of several tokens', async () => {
    const { post } = createReceiver({ token: ['old', 'pl4nted-s3cret-token'] });
    expect((await post(statusUpdate())).status).toBe(204);
    expect((await post(statusUpdate(), { 'x-a2a-notification-token': 'old' })).status).toBe(204);
    expect((await post(statusUpdate(), { 'x-a2a-notification-token': 'new' })).status).toBe(401);
  });
});

describe('a signature', () => {
  const AUDIENCE = 'https://app.example/hook';
  let agent: SigningAgent;
  let other: SigningAgent;
  beforeAll(async () => {
    [agent, other] = await Promise.all([SigningAgent.open(), SigningAgent.open()]);
  });
  afterAll(() => Promise.all([agent[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]));
  const createSignedReceiver = () => {
    const { issuer, jwksUrl } = agent;
    const signature = { issuer, jwksUrl, audience: AUDIENCE, allow: ['127.0.0.1'] };
    return createReceiver({ token: [], signature });
  };
  const body = JSON.stringify(statusUpdate());
  const facts = { id: 'a', body, audience: AUDIENCE };
  const id = { 'x-a2a-notification-id': 'a' };

  it('of the agent is taken, in its own header or as a Bearer token', async () => {
    const { post, notifications } = createSignedReceiver();
    const jwt = await agent.sign(facts);
    expect((await post(body, { ...id, 'x-a2a-notification-signature': jwt })).status).toBe(204);
    const next = await agent.sign({ ...facts, id: 'b' });
    expect((await post(body, { 'x-a2a-notification-id': 'b', authorization: `Bearer ${next}` })).status).toBe(204);
    expect(notifications).toHaveLength(2);
  });

  it('is refused if anything of it is wrong', async () => {
    const { post, notifications } = createSignedReceiver();
    const now = Math.floor(Date.now() / 1000);
    const wrong = await Promise.all([
      '',
      'no.jwt.here',
      other.sign(facts, { iss: agent.issuer }),
      other.sign(facts),
      agent.sign({ ...facts, audience: 'https://other.example/hook' }),
      agent.sign({ ...facts, id: 'b' }),
      agent.sign({ ...facts, body: `${body} ` }),
      agent.sign(facts, { request_body_sha256: undefined }),
      agent.sign(facts, { exp: undefined }),
      agent.sign(facts, { jti: undefined }),
      agent.sign(facts, { iat: undefined }),
      agent.sign(facts, { exp: now - 60 }),
    ]);
    for (const jwt of wrong) {
      const answer = await post(body, { ...id, ...(jwt !== '' && { 'x-a2a-notification-signature': jwt }) });
      expect([jwt, answer.status]).toEqual([jwt, 401]);
    }
    const right = await agent.sign(facts);
    expect((await post(`${body} `, { ...id, 'x-a2a-notification-signature': right })).status).toBe(401);
    expect((await post(body, { 'x-a2a-notification-signature': right })).status).toBe(401);
    const unsigned = right.split('.').with(0, btoa('{"alg":"none"}')).with(2, '').join('.');
    expect((await post(body, { ...id, 'x-a2a-notification-signature': unsigned })).status).toBe(401);
    expect(notifications).toEqual([]);
  });

  it('that is replayed within its time is dropped', async () => {
    const { post, notifications } = createSignedReceiver();
    const headers = { ...id, 'x-a2a-notification-signature': await agent.sign(facts) };
    for (let count = 0; count < 3; count++) expect((await post(body, headers)).status).toBe(204);
    expect(notifications).toHaveLength(1);
  });

  it('cannot be checked while the keys are away: the agent tries again later', async () => {
    const signature = {
      issuer: agent.issuer,
      jwksUrl: 'http://127.0.0.1:9/keys',
      audience: AUDIENCE,
      allow: ['127.0.0.1'],
    };
    const { post } = createReceiver({ token: [], signature });
    const headers = { ...id, 'x-a2a-notification-signature': await agent.sign(facts) };
    expect((await post(body, headers)).status).toBe(503);
  });
});

describe('the listener for node:http', () => {
  const postBody = (url: string, body: string) =>
    fetch(url, { method: 'POST', headers: { ...JSON_TYPE, ...TOKEN }, body });

  it('serves a plain server and Express, also behind a parser of raw bodies', async () => {
    const { receiver, notifications } = createReceiver();
    const app = express();
    app.post('/hook', receiver.listener);
    app.post('/raw', express.raw({ type: () => true }), receiver.listener);
    await using plain = await LocalServer.open(receiver.listener);
    await using framework = await LocalServer.open(app);
    for (const url of [plain.url, `${framework.url}/hook`, `${framework.url}/raw`])
      expect((await postBody(url, JSON.stringify(statusUpdate()))).status).toBe(204);
    expect(notifications).toHaveLength(3);
  });

  it('refuses a long body without reading the rest', async () => {
    const { receiver, refusals } = createReceiver({ bytes: 1000 });
    await using server = await LocalServer.open(receiver.listener);
    expect((await postBody(server.url, ' '.repeat(1000))).status).toBe(400);
    expect((await postBody(server.url, ' '.repeat(1001))).status).toBe(413);
    expect(refusals).toEqual(['400 the body is no JSON', '413 the body has more than 1000 bytes']);
  });

  it('refuses a body that does not arrive, and survives one that breaks off', async () => {
    const clock = new ManualClock();
    const refusals: number[] = [];
    const begun = Promise.withResolvers<void>();
    const options = {
      allowAnonymous: true,
      onNotification: () => {},
      onRefusal: ({ status }: { readonly status: number }) => void refusals.push(status),
    };
    const receiver = new ReceiverOfRoom(options, { clock, fetchAllowing: () => fetch });
    const { pushListener } = await import('../../packages/parley/src/adapters/node/push-listener.js');
    const listener = pushListener(receiver);
    await using server = await LocalServer.open((request, response) => {
      listener(request, response);
      request.once('data', () => begun.resolve());
    });
    const head = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{';
    const slow = connectSocket(server.port, '127.0.0.1').setEncoding('utf8');
    slow.write(head);
    await begun.promise;
    while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10_001);
    expect(await text(slow)).toMatch(/^HTTP\/1.1 408 .*connection: close/is);
    const broken = connectSocket(server.port, '127.0.0.1');
    broken.end(head);
    while (refusals.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(refusals).toEqual([408, 400]);
  });
});

it('answers although the listener for refusals fails', async () => {
  const receiver = new PushReceiver({
    token: 'pl4nted-s3cret-token',
    onNotification: () => {},
    onRefusal: () => {
      throw new Error('of the application');
    },
  });
  const request = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(statusUpdate()) };
  expect((await receiver.fetch(new Request('https://app.example/', request))).status).toBe(401);
});
