import { afterEach, describe, expect, it } from 'vitest';
import { CapturingLogger } from '../../test/engine.js';
import { MetricRegistry } from '../telemetry/metric-registry.js';
import { BearerTokens } from './auth.js';
import { A2AError, PermissionDeniedError, StorageError, TaskNotFoundError, UnauthenticatedError } from './index.js';
import { type A2AServerOptions, createA2AServer } from './node.js';
import { createAgentHandler, type RequestHandler } from './server.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };
const call = (method: string, params: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const message = (text: string) => ({ message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] } });
const PROMETHEUS = { accept: 'text/plain;version=0.0.4;q=0.5,*/*;q=0.1' };

async function startServer(options: Partial<A2AServerOptions> = {}) {
  const server = createA2AServer({ agent: (prompt: string) => prompt, ...options } as A2AServerOptions);
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const post = async (body: string) => (await fetch(url, { method: 'POST', headers: HEADERS, body })).text();
  const metrics = (headers: Record<string, string> = {}) => fetch(`${url}/metrics`, { headers });
  return { server, url, post, metrics };
}

describe('/metrics', () => {
  it('is JSON unless a scraper asks', async () => {
    const { url, post, metrics } = await startServer();
    await post(call('SendMessage', message('hi')));
    await (await fetch(`${url}/nothing`)).text();
    const response = await metrics();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(response.headers.get('vary')).toBe('Accept');
    expect(await response.json()).toEqual({
      server: {
        uptime: expect.any(Number),
        requests: 2,
        errors: 0,
        errorRate: '0.00%',
        memory: {
          rss: expect.stringMatching(/^\d+MB$/),
          heapUsed: expect.stringMatching(/^\d+MB$/),
          heapTotal: expect.stringMatching(/^\d+MB$/),
        },
      },
      errors: { http: { 404: 1 }, jsonRpc: {}, stream: {} },
      cache: { hits: 0, misses: 0, hitRate: '0.00%' },
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it('counts calls of both bindings with what became of them', async () => {
    const { url, post, metrics } = await startServer();
    for (let sent = 0; sent < 3; sent++) await post(call('SendMessage', message(`m${sent}`)));
    await post(call('GetTask', { id: 'nobody' }));
    await post(call('Unknown', {}));
    await post('not json');
    await (await fetch(`${url}/a2a/rest/tasks/nobody`, { headers: HEADERS })).text();
    await (await fetch(`${url}/a2a/rest/tasks`, { headers: { ...HEADERS, 'a2a-version': '7.0' } })).text();
    const response = await metrics(PROMETHEUS);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const lines = (await response.text()).split('\n').filter((line) => line.startsWith('a2a_server_requests_total'));
    expect(lines.map((line) => line.replace('a2a_server_requests_total', '')).sort()).toEqual([
      '{operation="getTask",binding="HTTP+JSON",version="1.0",code="TASK_NOT_FOUND"} 1',
      '{operation="getTask",binding="JSONRPC",version="1.0",code="TASK_NOT_FOUND"} 1',
      '{operation="listTasks",binding="HTTP+JSON",version="1.0",code="VERSION_NOT_SUPPORTED"} 1',
      '{operation="none",binding="JSONRPC",version="none",code="METHOD_NOT_FOUND"} 1',
      '{operation="none",binding="JSONRPC",version="none",code="PARSE_ERROR"} 1',
      '{operation="sendMessage",binding="JSONRPC",version="1.0",code="OK"} 3',
    ]);
  });

  it.each([
    { name: 'counts no probe, nor itself', options: {}, counted: [] },
    {
      name: 'counts itself as an endpoint of the base-server interface',
      options: { baseServer: {} },
      counted: ['a2a_server_requests_total{operation="none",binding="none",version="none",code="200"} 3'],
    },
  ])('$name', async ({ options, counted }) => {
    const { url, metrics } = await startServer(options);
    for (const path of ['/healthz', '/readyz', '/metrics', '/metrics', '/metrics'])
      await (await fetch(url + path)).text();
    const lines = (await (await metrics(PROMETHEUS)).text()).split('\n');
    expect(lines.filter((line) => line.startsWith('a2a_server_requests_total'))).toEqual(counted);
  });

  it('counts errors by code: of HTTP, of JSON-RPC, and of streams that broke', async () => {
    const handler = {
      sendMessage: () => Promise.reject(new TypeError('secret of the inside')),
      getTask: () => Promise.reject(new TaskNotFoundError('nobody')),
      async *sendStreamingMessage() {
        yield { event: { message: { messageId: 'a1', role: 'ROLE_AGENT', parts: [{ text: 'Hel' }] } } };
        throw new StorageError('disk full');
      },
    };
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    const { url, post, metrics } = await startServer({
      agent: undefined,
      handler: handler as unknown as RequestHandler,
      logger: silent,
    } as unknown as Partial<A2AServerOptions>);
    for (let sent = 0; sent < 2; sent++) await post(call('GetTask', { id: 'nobody' }));
    await post(call('Unknown', {}));
    await post(call('SendMessage', message('m1')));
    await (
      await fetch(url, { method: 'POST', headers: HEADERS, body: call('SendStreamingMessage', message('m2')) })
    ).text();
    const rest = { method: 'POST', headers: HEADERS, body: JSON.stringify(message('m3')) };
    await (await fetch(`${url}/a2a/rest/message:stream`, rest)).text();
    await (await fetch(`${url}/a2a/rest/message:send`, rest)).text();
    await (await fetch(`${url}/a2a/rest/tasks/nobody`, { headers: HEADERS })).text();
    expect(await (await metrics()).json()).toMatchObject({
      server: { requests: 8, errors: 4, errorRate: '50.00%' },
      errors: { http: { 404: 1, 500: 1 }, jsonRpc: { '-32001': 2, '-32601': 1, '-32603': 1 }, stream: { '-32603': 2 } },
    });
    const lines = (await (await metrics(PROMETHEUS)).text()).split('\n');
    expect(lines.filter((line) => line.startsWith('a2a_server_errors_total')).sort()).toEqual([
      'a2a_server_errors_total{kind="http",code="404",reason="none"} 1',
      'a2a_server_errors_total{kind="http",code="500",reason="none"} 1',
      'a2a_server_errors_total{kind="jsonRpc",code="-32001",reason="TASK_NOT_FOUND"} 2',
      'a2a_server_errors_total{kind="jsonRpc",code="-32601",reason="METHOD_NOT_FOUND"} 1',
      'a2a_server_errors_total{kind="jsonRpc",code="-32603",reason="INTERNAL_ERROR"} 1',
      'a2a_server_errors_total{kind="stream",code="-32603",reason="UNAVAILABLE"} 2',
    ]);
  });

  it('shows what runs, waits and streams now', async () => {
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const agent = async function* () {
      yield 'one';
      entered.resolve();
      await leave.promise;
      yield 'two';
    };
    const { url, metrics } = await startServer({ agent });
    const body = call('SendStreamingMessage', message('go'));
    const stream = await fetch(url, { method: 'POST', headers: HEADERS, body });
    await entered.promise;
    const during = await (await metrics(PROMETHEUS)).text();
    expect(during).toContain('a2a_server_task_in_progress{agent="/"} 1\n');
    expect(during).toContain('a2a_server_streams_open 1\n');
    expect(during).toContain('a2a_server_messages_waiting 0\n');
    leave.resolve();
    await stream.text();
    const after = await (await metrics(PROMETHEUS)).text();
    expect(after).toContain('a2a_server_task_in_progress{agent="/"} 0\n');
    expect(after).toContain('a2a_server_streams_open 0\n');
    expect(after).toContain('operation="sendStreamingMessage",binding="JSONRPC",version="1.0",code="OK"} 1');
    for (const name of ['process_memory_usage_bytes', 'process_cpu_time_seconds_total', 'process_uptime_seconds']) {
      expect(Number(new RegExp(`^${name} (.*)$`, 'm').exec(after)?.[1])).toBeGreaterThan(0);
    }
    expect(after).toMatch(/^nodejs_eventloop_delay_seconds\{statistic="p99"\} \d/m);
  });

  it('can be kept for those who authenticate', async () => {
    const authenticator = new BearerTokens([{ subject: 'scraper', token: 'secret' }]);
    const { metrics } = await startServer({ metrics: { authenticator } });
    const refused = await metrics();
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await metrics({ authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await metrics({ authorization: 'Bearer secret' })).status).toBe(200);
  });

  it.each([
    ['with challenges of its own', new UnauthenticatedError(['Bearer realm="figures"']), 401, 'Bearer realm="figures"'],
    ['with those of the authenticator', new UnauthenticatedError([]), 401, 'Basic'],
    ['because they may not', new PermissionDeniedError('Only scrapers'), 403, null],
    ['because it cannot tell now', new A2AError('UNAVAILABLE', 'Come again'), 503, null],
    ['because it is broken', new Error('the directory is away'), 500, null],
  ])('Spec §3.3.2: answers callers for whom the authenticator throws, %s', async (_, thrown, status, challenge) => {
    const logger = new CapturingLogger();
    const authenticator = { challenges: ['Basic'], authenticate: () => Promise.reject(thrown) };
    const url = 'https://example.com';
    const agent = (prompt: string) => prompt;
    const handler = createAgentHandler({ agent, url, logger, metrics: { authenticator } });
    closers.push(() => handler.close());
    const answer = await handler.fetch(new Request(`${url}/metrics`));
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([status, challenge]);
    expect(await answer.text()).not.toContain('directory');
    expect(logger.lines.filter(({ level }) => level === 'error').length).toBe(status >= 500 ? 1 : 0);
  });

  it('can only be read', async () => {
    const { url } = await startServer();
    for (const headers of [{}, PROMETHEUS]) {
      const { status } = await fetch(`${url}/metrics`, { method: 'POST', headers });
      expect(status).toBe(405);
      const head = await fetch(`${url}/metrics`, { method: 'HEAD', headers });
      expect([head.status, await head.text()]).toEqual([200, '']);
    }
  });
});

describe('a meter of the application', () => {
  it('gets the same, and is let go at the end', async () => {
    const meter = new MetricRegistry();
    const { server, post, metrics } = await startServer({ metrics: { meter, endpoint: false } });
    await post(call('SendMessage', message('hi')));
    expect((await metrics()).status).toBe(404);
    const families = await meter.collect();
    const points = (name: string) => families.find((family) => family.name === name)?.points;
    expect(points('a2a.server.requests')).toMatchObject([
      { attributes: { code: 'OK' }, value: 1 },
      { attributes: { code: '404' }, value: 1 },
    ]);
    expect(points('a2a.server.task.in_progress')).toEqual([{ attributes: { agent: '/' }, value: 0 }]);
    await server.close({ graceMs: 0 });
    const left = await meter.collect();
    expect(left.find(({ name }) => name === 'a2a.server.task.in_progress')?.points).toEqual([]);
  });
});

describe('figures are off', () => {
  it('where a server is told so', async () => {
    const { metrics, url } = await startServer({ metrics: false, logRequests: false });
    expect((await metrics()).status).toBe(404);
    expect((await fetch(url)).headers.get('x-request-id')).toBeNull();
  });

  it('behind another host, unless it is told otherwise', async () => {
    const url = 'https://example.com';
    const ask = async (metrics: boolean | undefined) => {
      const handler = createAgentHandler({ agent: (prompt: string) => prompt, url, ...(metrics && { metrics }) });
      closers.push(() => handler.close());
      return handler.fetch(new Request(`${url}/metrics`));
    };
    expect((await ask(undefined)).status).toBe(404);
    const answer = await ask(true);
    expect(await answer.json()).toMatchObject({ server: { requests: 0 } });
  });
});
