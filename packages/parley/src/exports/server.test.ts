import { describe, expect, it, vi } from 'vitest';
import { IDEMPOTENT_SEND_EXTENSION, STREAM_RESUME_EXTENSION } from '../agent-card/offered-extensions.js';
import { StorageError } from '../errors/storage-error.js';
import type { AgentCard } from '../model/agent-card.js';
import { BearerTokens } from './auth.js';
import { toHono } from './hono.js';
import {
  type AgentHandlerOptions,
  BaseRequestHandler,
  createAgentHandler,
  MemoryStorage,
  type ServerCallContext,
  systemClock,
} from './server.js';

const URL_BASE = 'https://agents.example.com';
const echo = (prompt: string) => `Echo: ${prompt}`;
const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] };

function handler(options: Partial<AgentHandlerOptions> = {}) {
  return createAgentHandler({ agent: echo, url: URL_BASE, ...options } as AgentHandlerOptions);
}

function post(path: string, body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(`${URL_BASE}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: JSON.stringify(body),
  });
}

const call = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 7, method, params });
const get = (path: string, headers: Record<string, string> = {}) =>
  new Request(`${URL_BASE}${path}`, { headers: { 'a2a-version': '1.0', ...headers } });
const completed = { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'Echo: hello' }] }] };

describe('an agent behind fetch', () => {
  it('answers JSON-RPC at its interface and at the root', async () => {
    const { fetch } = handler();
    for (const path of ['/a2a/jsonrpc', '/a2a/jsonrpc/', '/']) {
      const response = await fetch(post(path, call('SendMessage', { message })));
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id: 7, result: { task: completed } });
    }
  });

  it('tells interceptors the ids of a new task and its context', async () => {
    const seen: unknown[] = [];
    const { fetch } = handler({
      interceptors: [
        ({ context, ...rest }, next) => {
          seen.push(context.newTask);
          return next({ context, ...rest });
        },
      ],
    });
    const send = async (over: object = {}) => {
      const body = call('SendMessage', { message: { ...message, messageId: crypto.randomUUID(), ...over } });
      const { result } = (await (await fetch(post('/', body))).json()) as {
        result?: { task: { id: string; contextId: string } };
      };
      return result?.task;
    };
    const first = await send();
    expect(seen).toEqual([{ taskId: first?.id, contextId: first?.contextId }]);
    const second = await send({ contextId: first?.contextId });
    expect(second?.contextId).toBe(first?.contextId);
    expect(seen.at(-1)).toEqual({ taskId: second?.id, contextId: first?.contextId });
    await send({ taskId: first?.id });
    expect(seen.at(-1)).toBeUndefined();
  });

  it('answers HTTP+JSON at its interface', async () => {
    const { fetch } = handler();
    const sent = (await (await fetch(post('/a2a/rest/message:send', { message }))).json()) as { task: { id: string } };
    expect(sent).toMatchObject({ task: completed });
    const read = await fetch(get(`/a2a/rest/tasks/${sent.task.id}`));
    expect(await read.json()).toMatchObject(completed);
  });

  it('streams over both bindings', async () => {
    const { fetch } = handler({
      agent: async function* () {
        yield 'one';
        yield 'two';
      },
    });
    const streams = [
      fetch(post('/a2a/jsonrpc', call('SendStreamingMessage', { message }))),
      fetch(post('/a2a/rest/message:stream', { message })),
    ];
    for (const response of await Promise.all(streams)) {
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const text = await response.text();
      expect(text.match(/^data: /gm)?.length).toBeGreaterThanOrEqual(5);
      expect(text).toContain('TASK_STATE_COMPLETED');
    }
  });

  it.each([
    ['a character that is cut in two', ['a\ud83d', '\ude00b'], 'a😀b'],
    ['characters one by one', [...'😀!'].join('').split(''), '😀!'],
    ['nothing in a piece', ['', 'b'], 'b'],
  ])('streams a text with %s', async (_, pieces, text) => {
    const { fetch } = handler({
      agent: async function* () {
        yield* pieces;
      },
    });
    const response = await fetch(post('/a2a/rest/message:send', { message }));
    const { task } = (await response.json()) as { task: { status: object; artifacts: { parts: object[] }[] } };
    expect(task.status).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
    expect(task.artifacts[0]?.parts).toEqual([{ text }]);
  });

  it.each([
    ['the end', ['a\ud83d']],
    ['a part', ['a\ud83d', { data: 1 }]],
    ['another text', ['a\ud83d', 'b']],
  ])('fails where half a character comes before %s', async (_, pieces) => {
    const { fetch } = handler({
      agent: async function* () {
        yield* pieces;
      },
    });
    const response = await fetch(post('/a2a/rest/message:send', { message }));
    expect(await response.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_FAILED' } } });
  });

  it('serves under a path of its own, with and without a slash', async () => {
    const { fetch, agentCard } = handler({ path: '/agents/echo' });
    expect(new Set(agentCard.supportedInterfaces.map(({ url }) => url))).toEqual(new Set([`${URL_BASE}/agents/echo`]));
    for (const path of ['/agents/echo', '/agents/echo/']) {
      const response = await fetch(post(path, call('SendMessage', { message })));
      expect(await response.json()).toMatchObject({ result: { task: completed } });
    }
    expect((await fetch(post('/agents/echo/message:send', { message }))).status).toBe(200);
    expect((await fetch(get('/agents/echo/.well-known/agent-card.json'))).status).toBe(200);
    const elsewhere = await fetch(get('/.well-known/agent-card.json'));
    expect([elsewhere.status, await elsewhere.json()]).toMatchObject([404, { error: { code: 404 } }]);
  });

  it('has a card that is true', async () => {
    const { fetch, agentCard } = handler();
    const served = (await (await fetch(get('/.well-known/agent-card.json'))).json()) as AgentCard;
    expect(served).toEqual(agentCard);
    expect(served).toMatchObject({
      name: 'A2A Agent',
      description: 'A2A Protocol Agent',
      version: '1.0.0',
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
      supportedInterfaces: [
        { url: `${URL_BASE}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${URL_BASE}/a2a/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: `${URL_BASE}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { url: `${URL_BASE}/a2a/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
    });
    expect(served.capabilities.extensions?.map(({ uri }) => uri)).toEqual([STREAM_RESUME_EXTENSION]);
  });

  it('refuses what its card does not offer', async () => {
    const { fetch } = handler({ streaming: false });
    const response = await fetch(post('/a2a/rest/message:stream', { message }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { details: [{ reason: 'UNSUPPORTED_OPERATION' }] } });
  });

  it('keeps the limits it is given', async () => {
    const { fetch } = handler({ limits: { bodyBytes: 300 } });
    expect((await fetch(post('/a2a/rest/message:send', { message }))).status).toBe(200);
    const large = { message: { ...message, parts: [{ text: 'x'.repeat(300) }] } };
    expect((await fetch(post('/a2a/rest/message:send', large))).status).toBe(413);
  });

  it.each([
    ['GET', '/a2a/jsonrpc', 405],
    ['PUT', '/', 405],
    ['OPTIONS', '/a2a/jsonrpc', 204],
    ['OPTIONS', '/', 204],
    ['HEAD', '/', 200],
    ['GET', '/a2a/nothing', 404],
    ['GET', '/a2a', 404],
    ['POST', '/message:send', 404],
    ['GET', '/favicon.ico', 404],
  ])('answers %s %s with %i', async (method, path, status) => {
    const response = await handler().fetch(new Request(`${URL_BASE}${path}`, { method }));
    expect(response.status).toBe(status);
    if (status >= 400) expect(await response.json()).toMatchObject({ error: { code: status } });
    if (status === 405 || status === 204) expect(response.headers.get('allow')).toContain('OPTIONS');
  });

  it('may be a request handler of the application', async () => {
    const newTasks: unknown[] = [];
    class Fixed extends BaseRequestHandler {
      override sendMessage = async (_: unknown, { newTask }: ServerCallContext) => {
        newTasks.push(newTask);
        return { message: { messageId: 'r', role: 'ROLE_AGENT' as const, parts: [{ text: 'fixed' }] } };
      };
      override getTask = () => Promise.reject(new Error('none'));
      override cancelTask = () => Promise.reject(new Error('none'));
    }
    const { fetch, agentCard } = createAgentHandler({ handler: new Fixed(), url: URL_BASE });
    const response = await fetch(post('/', call('SendMessage', { message })));
    expect(await response.json()).toMatchObject({ result: { message: { parts: [{ text: 'fixed' }] } } });
    expect(newTasks).toEqual([{ taskId: expect.any(String), contextId: expect.any(String) }]);
    expect(agentCard.capabilities.extensions).toEqual([]);
  });
});

describe('an extended card', () => {
  const admin = { id: 'admin', name: 'Admin', description: 'For some', tags: [] };
  const { fetch, agentCard } = handler({
    authenticator: new BearerTokens([{ token: 'good', subject: 'ada' }]),
    extendedAgentCard: (card, user) =>
      user.id === 'bearer|ada' ? { ...card, skills: [...card.skills, admin] } : undefined,
  });

  it('is announced with the way to authenticate (Spec §3.1.11)', () => {
    expect(agentCard.capabilities.extendedAgentCard).toBe(true);
    expect(agentCard.securitySchemes).toEqual({ bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } });
    expect(agentCard.capabilities.extensions?.map(({ uri }) => uri)).toContain(IDEMPOTENT_SEND_EXTENSION);
  });

  it('goes to those who authenticate, with the addresses of the public one (Spec §3.1.11)', async () => {
    const headers = { authorization: 'Bearer good' };
    const overRest = await fetch(get('/a2a/rest/extendedAgentCard', headers));
    expect(await overRest.json()).toEqual({ ...agentCard, skills: [admin] });
    const overRpc = await fetch(post('/', call('GetExtendedAgentCard', {}), headers));
    expect(await overRpc.json()).toMatchObject({ result: { ...agentCard, skills: [admin] } });
  });

  it.each([undefined, 'Bearer bad'])('is refused with a challenge to %s (Spec §3.1.11)', async (authorization) => {
    const response = await fetch(get('/a2a/rest/extendedAgentCard', authorization ? { authorization } : {}));
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await response.text()).not.toContain('admin');
  });

  it('refuses callers without a credential for every operation', async () => {
    expect((await fetch(post('/', call('SendMessage', { message })))).status).toBe(401);
  });
});

it('tasks are kept as long as it is told', async () => {
  const { fetch, close } = handler({ retention: { taskRetentionMs: 1, everyMs: 1 } });
  const sent = await (await fetch(post('/', call('SendMessage', { message })))).json();
  const { id } = (sent as { result: { task: { id: string } } }).result.task;
  await vi.waitUntil(async () => (await fetch(get(`/a2a/rest/tasks/${id}`))).status === 404, 15_000);
  await close();
});

it('agents that cannot be started are unavailable, in JSON, until they can', async () => {
  const storage = new MemoryStorage({ clock: systemClock });
  let broken = true;
  const claim = storage.claim.bind(storage);
  storage.claim = (request) => (broken ? Promise.reject(new StorageError('a secret')) : claim(request));
  const { fetch } = handler({ storage });
  const refused = await fetch(post('/', call('SendMessage', { message })));
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await refused.json()).toEqual({
    error: { code: 503, status: 'UNAVAILABLE', message: 'The agents cannot be reached now' },
  });
  broken = false;
  expect((await fetch(post('/', call('SendMessage', { message })))).status).toBe(200);
});

it('a storage that is full says so, and when to come again', async () => {
  const storage = new MemoryStorage({ clock: systemClock, maxTasks: 1 });
  const { fetch } = handler({ storage, agent: { execute: async (_context, events) => events.inputRequired('More?') } });
  const send = () => fetch(post('/a2a/rest/message:send', { message: { ...message, messageId: crypto.randomUUID() } }));
  expect((await send()).status).toBe(200);
  const refused = await send();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toMatchObject({
    error: {
      status: 'UNAVAILABLE',
      message: expect.stringContaining('The storage is full of tasks that have not ended'),
    },
  });
});

it('ends its streams between two events when it is closed, and those that begin later at once', async () => {
  const { fetch, close } = handler({ agent: { execute: async (_context, events) => events.inputRequired('More?') } });
  const sent = (await (await fetch(post('/a2a/rest/message:send', { message }))).json()) as { task: { id: string } };
  const subscribe = () => fetch(get(`/a2a/rest/tasks/${sent.task.id}:subscribe`));
  const open = await subscribe();
  const text = open.text();
  await close({ graceMs: 0 });
  expect(await text).toMatch(/^id: 3\ndata: .*INPUT_REQUIRED.*\n\n$/);
  expect(await (await subscribe()).text()).toBe('');
});

it('without a url it has an exchange, but no fetch', async () => {
  const made = handler({ url: undefined } as unknown as Partial<AgentHandlerOptions>);
  const { exchange, agentCard } = made;
  expect(agentCard.supportedInterfaces).toEqual([]);
  expect(() => made.fetch).toThrow('createAgentHandler: url: is needed for fetch');
  // A host that is given the function fails when the application is set up, not with its first request.
  expect(() => toHono(made)).toThrow('toHono: the agent needs a url');
  expect({ ...made }).not.toHaveProperty('fetch');
  const request = {
    method: 'GET',
    path: '/.well-known/agent-card.json',
    query: '',
    header: () => undefined,
    body: async () => new Uint8Array(0),
    signal: new AbortController().signal,
    local: 'http://127.0.0.1:8080',
    mount: '/agents/echo',
  };
  const { body } = await exchange(request);
  const { supportedInterfaces } = JSON.parse(String(body)) as AgentCard;
  expect(supportedInterfaces.slice(0, 2).map(({ url }) => url)).toEqual([
    'http://127.0.0.1:8080/agents/echo/a2a/jsonrpc',
    'http://127.0.0.1:8080/agents/echo/a2a/rest',
  ]);
});

describe('options', () => {
  const failing: [string, Record<string, unknown>, RegExp][] = [
    ['an unknown one', { skils: [] }, /createAgentHandler: unknown option "skils" \(did you mean "skills"\?\)/],
    ['one of a server', { allowAnonymous: true }, /unknown option "allowAnonymous"/],
    ['an unknown limit', { limits: { bodyByte: 1 } }, /unknown option "limits\.bodyByte"/],
    ['an odd agent', { agent: 7 }, /agent: must be an AgentExecutor, a function, or an object/],
    ['an odd url', { url: 'agents.example.com' }, /url: must be an absolute http or https URL/],
    ['a url with a query', { url: 'https://x/?a' }, /url: must have no query/],
    ['a path with a slash at its end', { path: '/a/' }, /path: must be "\/" or a path/],
    ['a skill without a name', { skills: [{ id: 'a', description: '' }] }, /skills\[0\]\.name: /],
    ['two skills of one id', { skills: [skill('a'), skill('a')] }, /skills: must have different ids/],
    ['an odd media type', { defaultInputModes: ['text'] }, /defaultInputModes\[0\]: must be a media type/],
    ['an odd scheme', { securitySchemes: { x: { bearer: {} } } }, /unknown option "securitySchemes\.x\.bearer"/],
    ['an extension with a comma', { extensions: [{ uri: 'a,b' }] }, /extensions\[0\]\.uri: must be a URI/],
    ['an odd version', { versionWhenAbsent: '1' }, /versionWhenAbsent: must be Major\.Minor/],
    ['an odd storage', { storage: {} }, /storage: needs a method accept/],
    ['agent and handler', { handler: { sendMessage() {} } }, /has an agent and a handler: give one/],
    ['neither', { agent: undefined }, /needs an agent: a function, such as/],
    ['an extended card for nobody', { extendedAgentCard: () => undefined }, /extendedAgentCard needs an authenticator/],
  ];

  it.each(failing)('with %s are refused by name', (_, options, message) => {
    expect(() => handler(options)).toThrow(message);
  });

  it('take every kind of agent', async () => {
    const agents: AgentHandlerOptions['agent'][] = [
      { execute: (_context, events) => events.complete('Echo: hello') },
      { run: (prompt) => `Echo: ${prompt}` },
      async function* (prompt: string) {
        yield `Echo: ${prompt}`;
      },
      async (prompt: string) => `Echo: ${prompt}`,
    ];
    for (const agent of agents) {
      const response = await handler({ agent } as Partial<AgentHandlerOptions>).fetch(
        post('/', call('SendMessage', { message })),
      );
      expect(await response.text()).toMatch(/COMPLETED.*Echo: hello|Echo: hello.*COMPLETED/);
    }
  });
});

function skill(id: string) {
  return { id, name: id, description: id };
}
