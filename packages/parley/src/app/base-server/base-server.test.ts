import { describe, expect, it } from 'vitest';
import { BASE, MIB, TIMESTAMP, baseServerWorld as world } from '../../../test/base-server-world.js';
import { framesOf, textOf } from '../../../test/exchange-request.js';
import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import { BearerTokens } from '../../exports/auth.js';
import type { AgentExecutor } from '../../server/agent-executor.js';
import type { AgentOptions } from '../options/agent-options.js';
import { type BaseServerOptions, baseServerAgent, ENDPOINT_PATHS } from './base-server-options.js';

const message = (text: string) => ({
  kind: 'message',
  messageId: `m-${text}`,
  role: 'user',
  parts: [{ kind: 'text', text }],
});

describe('what a base server tells', () => {
  it('is the card at /discover and /agent.json, with exactly its members', async () => {
    const { get } = world();
    const { status, json } = await get('/discover');
    expect(status).toBe(200);
    expect(json).toEqual({
      name: 'Greeter',
      version: '1.0.0',
      description: 'A2A Protocol Agent',
      protocolVersion: '0.2.5',
      url: `${BASE}/hello`,
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      capabilities: {
        pushNotifications: false,
        streaming: true,
        stateTransitionHistory: false,
        extensions: expect.any(Array) as unknown,
      },
      skills: [
        {
          id: 'greet',
          name: 'Greet',
          description: 'Greets',
          tags: [],
          examples: ['hi'],
          inputModes: ['text/plain'],
          outputModes: ['text/plain'],
        },
      ],
      provider: { organization: 'Org', url: 'https://org.example' },
    });
    expect((await get('/agent.json')).json).toEqual(json);
    expect((await get('/hello/discover')).json).toEqual(json);
  });

  it('is its health, with exactly its members', async () => {
    const { get, clock } = world();
    await get('/discover');
    await clock.advance(61_500);
    expect((await get('/health')).json).toEqual({
      status: 'healthy',
      agent: { name: 'Greeter', status: 'running', uptime: 61 },
      server: { uptime: 61, memory: { rss: 50 * MIB, heapUsed: 10.4 * MIB, heapTotal: 20 * MIB }, pid: 42 },
      cache: {
        status: 'disabled',
        health: 'healthy',
        connections: { active: 0, idle: 0, total: 0 },
        stats: { hits: 0, misses: 2, hitRate: '0.00%' },
      },
      timestamp: TIMESTAMP,
    });
  });

  it('are its figures, with exactly their members', async () => {
    const { get, send, clock } = world({ linked: true });
    for (let call = 0; call < 4; call++) await get('/discover');
    await clock.advance(2_000);
    await send({ method: 'GET', url: '/nothing' });
    expect((await get('/metrics')).json).toEqual({
      server: {
        uptime: 2,
        requests: 5,
        errors: 0,
        errorRate: '0.00%',
        memory: { rss: '50MB', heapUsed: '10MB', heapTotal: '20MB' },
      },
      errors: { http: { 404: 1 }, jsonRpc: {}, stream: {} },
      cache: { hits: 3, misses: 1, hitRate: '75.00%' },
      timestamp: TIMESTAMP,
    });
    expect((await get('/cache/stats')).json).toEqual({
      cache: { hits: 3, misses: 1, hitRate: '75.00%', operations: 5 },
      redis: { status: 'connected', connections: { active: 0, idle: 2, total: 2 } },
      timestamp: TIMESTAMP,
    });
  });

  it('are its figures as text for scrapers, those of the cache included', async () => {
    const { get, send } = world();
    await get('/discover');
    const answer = await send({ method: 'GET', url: '/metrics', headers: { accept: 'text/plain' } });
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringContaining('text/plain') as string,
      'x-powered-by': 'BaseA2AServer/2.0',
    });
    expect(await textOf(answer)).toMatch(/cache.*misses.* 1|cache.*result="miss".* 1/);
  });

  it('is what it is, with exactly its members', async () => {
    const { get } = world();
    expect((await get('/info')).json).toEqual({
      server: 'BaseA2AServer',
      version: '2.0.0',
      agent: 'Greeter',
      port: 80,
      protocol: 'A2A/1.0',
      features: { redis_cache: false, compression: false, cache_warmup: true },
      endpoints: {
        core: ['/discover', '/communicate', '/delegate', '/agent.json', '/health'],
        cache: ['/cache/stats', '/cache/invalidate', '/cache/warmup'],
        monitoring: ['/metrics', '/info'],
      },
      uptime: 0,
      timestamp: TIMESTAMP,
    });
    expect((await world({ linked: true }).get('/info')).json).toMatchObject({ features: { redis_cache: true } });
  });
});

describe('calls to a base server', () => {
  it('are sent at /communicate and followed up at /delegate, in one version whatever the headers say', async () => {
    const { rpc } = world({ live: true });
    const sent = await rpc('/communicate', 'message/send', { message: message('you') }, { 'a2a-version': '1.0' });
    expect(sent.status).toBe(200);
    const task = sent.json.result as { id: string };
    const got = await rpc('/delegate', 'tasks/get', { id: task.id }, { 'x-a2a-protocol': '9.9' });
    expect(got.json).toMatchObject({ id: 7, result: { kind: 'task', id: task.id, status: { state: 'completed' } } });
    expect((await rpc('/hello/delegate', 'tasks/get', { id: task.id })).json).toEqual(got.json);
  });

  it('show the last message of a finished task in its history too, as far as the caller wants any', async () => {
    const { rpc } = world({
      agent: { agent: { execute: (_context, events) => events.complete('all done') } as AgentExecutor },
      live: true,
    });
    const historyTexts = ({ history = [] }: { id?: string; history?: { parts: { text: string }[] }[] }) =>
      history.map(({ parts }) => parts[0]?.text);
    const { json } = await rpc('/communicate', 'message/send', { message: message('hi') });
    const task = json.result as { id: string };
    expect(historyTexts(task)).toEqual(['hi', 'all done']);
    const getTexts = async (params: object) =>
      historyTexts((await rpc('/delegate', 'tasks/get', { id: task.id, ...params })).json.result as object);
    expect(await getTexts({})).toEqual(['hi', 'all done']);
    expect(await getTexts({ historyLength: 1 })).toEqual(['all done']);
    expect(await getTexts({ historyLength: 0 })).toEqual([]);
  });

  it('may stream', async () => {
    const { send } = world({ live: true });
    const body = { jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message: message('you') } };
    const answer = await send({ url: '/communicate', headers: { 'content-type': 'application/json' }, body });
    expect(answer.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-a2a-protocol': '1.0' });
    const frames = framesOf(await textOf(answer));
    expect(frames[0]).toMatchObject({ data: { id: 1, result: { kind: 'task' } } });
    expect(frames.at(-1)).toMatchObject({ data: { result: { kind: 'status-update', final: true } } });
  });

  it('follow a running task, and end it', async () => {
    const waiting: AgentExecutor = {
      async execute({ signal }, events) {
        await events.working();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
    };
    const { send, rpc } = world({ live: true, agent: { agent: waiting } as Partial<AgentOptions> });
    const started = await rpc('/communicate', 'message/send', {
      message: message('you'),
      configuration: { blocking: false },
    });
    const { id } = started.json.result as { id: string };
    const headers = { 'content-type': 'application/json' };
    const body = { jsonrpc: '2.0', id: 'again', method: 'tasks/resubscribe', params: { id } };
    const stream = await send({ url: '/delegate', headers, body });
    const told = textOf(stream);
    expect((await rpc('/delegate', 'tasks/cancel', { id })).json).toMatchObject({
      result: { status: { state: 'canceled' } },
    });
    expect(framesOf(await told).at(-1)).toMatchObject({
      data: { id: 'again', result: { kind: 'status-update', status: { state: 'canceled' }, final: true } },
    });
    expect((await rpc('/delegate', 'tasks/cancel', { id })).json.error).toMatchObject({
      code: -32002,
      data: { taskId: id, timestamp: TIMESTAMP },
    });
  });

  it('know who calls by the credential, and show nobody the tasks of others', async () => {
    const authenticator = new BearerTokens([{ token: 'right-token-0123456789', subject: 'caller' }]);
    const { rpc, get } = world({ live: true, agent: { authenticator } });
    const right = { authorization: 'Bearer right-token-0123456789' };
    const sent = await rpc('/communicate', 'message/send', { message: message('you') }, right);
    const { id } = sent.json.result as { id: string };
    expect((await rpc('/delegate', 'tasks/get', { id }, right)).json).toMatchObject({ result: { id } });
    expect((await rpc('/delegate', 'tasks/get', { id })).json).toMatchObject({ error: { code: -31401 } });
    expect((await get('/discover')).json).toMatchObject({ securitySchemes: expect.any(Object) as object });
  });

  it('are told where they belong when they come to the wrong endpoint', async () => {
    const { rpc } = world({ live: true });
    const misplaced = await rpc('/communicate', 'tasks/get', { id: 'x' });
    expect(misplaced.json.error).toEqual({
      code: -32601,
      message: 'Method not found: tasks/get belongs to POST /delegate',
      data: { timestamp: TIMESTAMP },
    });
    expect((await rpc('/delegate', 'message/send', {})).json.error).toMatchObject({
      code: -32601,
      message: 'Method not found: message/send belongs to POST /communicate',
    });
    expect((await rpc('/delegate', 'tasks/list', {})).json.error).toMatchObject({
      code: -32601,
      message: 'Method not found',
    });
    // A method of another version is none.
    expect((await rpc('/communicate', 'SendMessage', { message: message('you') })).json.error).toMatchObject({
      code: -32601,
    });
  });

  it('that fail say which task it was about, and when', async () => {
    const { rpc } = world({ live: true });
    const { json, status } = await rpc('/delegate', 'tasks/get', { id: 'nobody' });
    expect(status).toBe(200);
    expect(json.error).toEqual({
      code: -32001,
      message: 'Task not found',
      data: { taskId: 'nobody', timestamp: TIMESTAMP },
    });
    const invalid = await rpc('/communicate', 'message/send', { message: { ...message('you'), parts: [] } });
    expect(invalid.json.error).toEqual({
      code: -32602,
      message: expect.stringMatching(/^Invalid parameters: message\.parts \w/) as string,
      data: { timestamp: TIMESTAMP },
    });
  });

  it('that fail inside are HTTP 500', async () => {
    const handler = { sendMessage: () => Promise.reject(new TypeError('secret of the inside')) };
    const { rpc, logger } = world({
      live: true,
      agent: { agent: undefined, handler } as unknown as Partial<AgentOptions>,
    });
    const { status, json } = await rpc('/communicate', 'message/send', { message: message('you') });
    expect(status).toBe(500);
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32603, message: 'Internal error', data: { timestamp: TIMESTAMP } },
    });
    expect(logger.lines).toHaveLength(1);
  });
});

describe('the headers of a base server', () => {
  const checkHeaders = ({ headers }: ExchangeResponse) =>
    expect(headers).toMatchObject({
      'x-a2a-protocol': '1.0',
      'x-powered-by': 'BaseA2AServer/2.0',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-xss-protection': '1; mode=block',
      'x-response-time': expect.stringMatching(/^\d+ms$/) as string,
    });

  it.each(ENDPOINT_PATHS)('are on every answer of %s, refusals included', async (url) => {
    const { send } = world();
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) checkHeaders(await send({ method, url }));
    const preflight = { origin: 'https://page.example', 'access-control-request-method': 'POST' };
    checkHeaders(await send({ method: 'OPTIONS', url, headers: preflight }));
  });

  it('are not on the answers of anything else', async () => {
    const { send } = world();
    expect((await send({ method: 'GET', url: '/hello/.well-known/agent-card.json' })).headers).not.toHaveProperty(
      'x-powered-by',
    );
  });

  it('let in the pages that the operator names', async () => {
    const origin = 'https://page.example';
    const { send } = world();
    expect((await send({ method: 'GET', url: '/discover', headers: { origin } })).headers).toMatchObject({
      'access-control-allow-origin': '*',
    });
    const preflight = await send({
      method: 'OPTIONS',
      url: '/communicate',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
    for (const cors of [['https://other.example'], undefined]) {
      const closed = world({ options: { cors } as BaseServerOptions });
      const { headers } = await closed.send({ method: 'GET', url: '/discover', headers: { origin } });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  it('tell which methods an endpoint takes', async () => {
    const { send } = world();
    expect(await send({ method: 'GET', url: '/communicate' })).toMatchObject({
      status: 405,
      headers: { allow: 'POST, OPTIONS' },
    });
    expect(await send({ method: 'POST', url: '/discover' })).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
  });
});

describe('the options of a base server', () => {
  const agentOf = (options: BaseServerOptions, paths: readonly string[]) =>
    baseServerAgent({ subject: 'test', options, paths });

  it('name the agent unless there is only one', () => {
    expect(agentOf({}, ['/a'])).toBe('/a');
    expect(agentOf({ agent: '/b' }, ['/a', '/b'])).toBe('/b');
    expect(() => agentOf({}, ['/a', '/b'])).toThrow('baseServer.agent: is needed');
    expect(() => agentOf({ agent: '/c' }, ['/a', '/b'])).toThrow('no agent is served at "/c"');
  });

  it('leave no path to two', () => {
    expect(() => agentOf({}, ['/health'])).toThrow('is one of its own');
    expect(() => agentOf({}, ['/cache'])).toThrow('is one of its own');
    expect(agentOf({}, ['/'])).toBe('/');
  });
});
