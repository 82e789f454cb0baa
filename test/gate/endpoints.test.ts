import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { protectedHost, sendRaw, TOKEN, type WireRequest } from './protected-host.js';

const host = protectedHost();
let url = '';
beforeAll(async () => {
  ({ url } = await host.listen(0));
});
afterAll(() => host.close());

const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
const JSON_BODY = ['content-type', 'application/json'];

interface Endpoint extends WireRequest {
  /** The form of a refusal. */
  readonly form: 'jsonrpc' | 'http';
}

function rpc(path: string, method: string, params: object = {}, headers: readonly string[] = []): Endpoint {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
  return { method: 'POST', path, headers: [...JSON_BODY, ...headers], body, form: 'jsonrpc' };
}

function http(line: string, body?: object, headers: readonly string[] = []): Endpoint {
  const [method = '', path = ''] = line.split(' ');
  return { method, path, headers: [...JSON_BODY, ...headers], body: body && JSON.stringify(body), form: 'http' };
}

const V1 = ['a2a-version', '1.0'];

/** Everything that needs a credential. */
const CLOSED: readonly Endpoint[] = [
  rpc('/a2a/jsonrpc', 'SendMessage', { message }, V1),
  rpc('/a2a/jsonrpc', 'SendStreamingMessage', { message }, V1),
  rpc('/a2a/jsonrpc/', 'GetTask', { id: 'x' }, V1),
  rpc('/', 'message/send', { message: { messageId: '2', role: 'user', parts: [] } }, ['a2a-version', '0.3']),
  rpc('/', 'tasks/get', { id: 'x' }, ['a2a-version', '0.2.5']),
  rpc('/a2a/jsonrpc', 'NoSuchMethod', {}, V1),
  rpc('/a2a/jsonrpc', 'SendMessage', { message }, ['a2a-version', '99.0']),
  { method: 'POST', path: '/a2a/jsonrpc', headers: JSON_BODY, body: '{ broken', form: 'jsonrpc' },
  { method: 'POST', path: '/a2a/jsonrpc', headers: ['content-type', 'text/plain'], body: 'hello', form: 'jsonrpc' },
  rpc('/other', 'SendMessage', { message }, V1),
  rpc('/own', 'GetTask', { id: 'x' }, V1),
  http('GET /a2a/jsonrpc'),
  http('POST /a2a/rest/message:send', { message }, V1),
  http('POST /a2a/rest/message:stream', { message }, V1),
  http('GET /a2a/rest/tasks', undefined, V1),
  http('GET /a2a/rest/tasks/x', undefined, V1),
  http('POST /a2a/rest/tasks/x:cancel', {}, V1),
  http('GET /a2a/rest/tasks/x:subscribe', undefined, V1),
  http('GET /a2a/rest/extendedAgentCard', undefined, V1),
  http('GET /a2a/rest/v1/card', undefined, ['a2a-version', '0.3']),
  http('POST /a2a/rest/v1/message:send', { message }, ['a2a-version', '0.3']),
  http('GET /agent/authenticatedExtendedCard'),
  http('GET /a2a/rest/no/such/route', undefined, V1),
  http('DELETE /a2a/rest/tasks/x', undefined, V1),
  http('POST /other/message:send', { message }, V1),
  http('GET /own/tasks', undefined, V1),
  http('GET /other', undefined, ['accept', 'text/html']),
  http('GET /'),
  http('HEAD /'),
  http('OPTIONS /'),
  http('PUT /'),
  http('GET /', undefined, ['accept', 'text/html']),
  http('GET /docs'),
  http('GET /openapi.json'),
  http('GET /openapi-3.0.json'),
  http('GET /metrics'),
  http('GET /metrics', undefined, ['accept', 'text/plain']),
  rpc('/communicate', 'message/send', { message }),
  rpc('/delegate', 'tasks/get', { id: 'x' }),
  rpc('/a2a/jsonrpc/communicate', 'message/send', { message }),
  rpc('/a2a/jsonrpc/delegate', 'tasks/get', { id: 'x' }),
  { method: 'GET', path: '/communicate', form: 'jsonrpc' },
  http('GET /operator/v1/status'),
  http('GET /operator/v1/counts'),
  http('GET /operator/v1/tasks'),
  http('GET /operator/v1/tasks/x?agent=/'),
  http('GET /operator/v1/deliveries'),
  http('POST /operator/v1/replays', { agent: '/', taskId: 'x', configId: 'y' }),
  http('GET /info'),
  http('GET /cache/stats'),
  http('POST /cache/invalidate', { pattern: '*' }),
  http('POST /cache/warmup', {}),
  http('GET /no/such/path'),
  http('POST /no/such/path', {}),
  http('GET /.well-known/no-such-thing'),
];

/** Everything that needs none. */
const OPEN: readonly WireRequest[] = [
  http('GET /.well-known/agent-card.json'),
  http('GET /.well-known/agent.json'),
  http('GET /other/.well-known/agent-card.json'),
  http('GET /other/.well-known/agent.json'),
  http('GET /own/.well-known/agent-card.json'),
  http('GET /own/.well-known/agent.json'),
  http('GET /healthz'),
  http('GET /readyz'),
  http('GET /discover'),
  http('GET /agent.json'),
  http('GET /a2a/jsonrpc/discover'),
  http('GET /health'),
  { method: 'OPTIONS', path: '/a2a/jsonrpc', headers: preflight('https://page.example') },
  { method: 'OPTIONS', path: '/docs', headers: preflight('https://page.example') },
  { method: 'OPTIONS', path: '/communicate', headers: preflight('https://elsewhere.example') },
];

function preflight(origin: string): readonly string[] {
  return ['origin', origin, 'access-control-request-method', 'POST'];
}

const auth = (...values: string[]) => values.flatMap((value) => ['authorization', value]);
const WRONG: Readonly<Record<string, readonly string[]>> = {
  'no credential': [],
  'an empty credential': auth(''),
  'a wrong credential': auth('Bearer wrong'),
  'a longer credential': auth(`Bearer ${TOKEN}1`),
  'a scheme alone': auth('Bearer'),
  'another scheme': auth(`Basic ${btoa(`ada:${TOKEN}`)}`),
  'a credential with a comma': auth(`Bearer ${TOKEN}, Bearer ${TOKEN}`),
  'the right credential twice': auth(`Bearer ${TOKEN}`, `Bearer ${TOKEN}`),
  'the right one before a wrong one': auth(`Bearer ${TOKEN}`, 'Bearer wrong'),
  'the right one in the query only': [],
};

const nameOf = ({ method, path, headers = [] }: WireRequest) => `${method} ${path} ${headers.slice(2).join(' ')}`;
const addCredential = (request: WireRequest, credential: readonly string[]) => ({
  ...request,
  headers: [...(request.headers ?? []), ...credential],
});

describe.each(CLOSED.map((endpoint) => [nameOf(endpoint), endpoint] as const))('%s', (_, endpoint) => {
  it.each(Object.entries(WRONG))('Spec §3.3.2: refuses %s in the form of its binding', async (name, credential) => {
    const path = name.includes('query') ? `${endpoint.path}?access_token=${TOKEN}` : endpoint.path;
    const answer = await sendRaw(url, addCredential({ ...endpoint, path }, credential));
    expect([answer.status, answer.headers['www-authenticate']?.includes('Bearer')]).toEqual([401, true]);
    expect(answer.headers['cache-control']).toContain('no-store');
    if (endpoint.method === 'HEAD') return;
    const body = JSON.parse(answer.text) as object;
    expect(body).toMatchObject(
      endpoint.form === 'jsonrpc'
        ? { jsonrpc: '2.0', id: null, error: { code: -31401 } }
        : endpoint.path.includes('/rest/v1/')
          ? { code: -31401, message: expect.any(String) }
          : { error: { code: 401, status: 'UNAUTHENTICATED' } },
    );
  });

  it('lets the right credential pass, and no cache share the answer', async () => {
    const answer = await sendRaw(url, addCredential(endpoint, auth(`bearer ${TOKEN}`)));
    expect(answer.status).not.toBe(401);
    expect(answer.headers['cache-control']).toContain('no-store');
    if (endpoint.method === 'GET') expect(answer.headers.vary?.toString().toLowerCase()).toContain('authorization');
  });
});

describe.each(OPEN.map((request) => [nameOf(request), request] as const))('%s', (_, request) => {
  it.each(Object.entries(WRONG))('is open to %s', async (_name, credential) => {
    const { status, headers } = await sendRaw(url, addCredential(request, credential));
    expect(status).toBe(request.method === 'OPTIONS' ? 204 : 200);
    if (request.path.includes('.well-known')) expect(headers['cache-control']).toContain('public');
  });
});

it('nothing that the host describes is open by accident', async () => {
  const described = await sendRaw(url, { method: 'GET', path: '/openapi.json', headers: auth(`Bearer ${TOKEN}`) });
  const { paths } = JSON.parse(described.text) as { paths: Record<string, Record<string, unknown>> };
  const open = OPEN.map(({ path }) => path);
  const asked: Promise<unknown>[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    if (open.includes(path)) continue;
    for (const method of Object.keys(methods)) {
      const line = { method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, 'x') };
      asked.push(sendRaw(url, line).then(({ status }) => expect([nameOf(line), status]).toEqual([nameOf(line), 401])));
    }
  }
  await Promise.all(asked);
  expect(asked.length).toBeGreaterThan(50);
});

it('a page may read a refusal of a base server', async () => {
  const answer = await sendRaw(url, {
    ...rpc('/communicate', 'message/send'),
    headers: ['origin', 'https://x.example'],
  });
  expect(answer.status).toBe(401);
  expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'x-powered-by': 'BaseA2AServer/2.0' });
  expect(JSON.parse(answer.text)).toMatchObject({ error: { data: { timestamp: expect.any(String) as string } } });
});
