import { describe, expect, it } from 'vitest';
import type { OperationName } from '../../packages/parley/src/operations/operations.js';
import { BoundAgent, HELLO } from '../../packages/parley/test/bound-agent.js';
import { framesOf, jsonOf, MemoryRequest, textOf } from '../../packages/parley/test/exchange-request.js';
import { ANSWERS, EVENTS } from '../../packages/parley/test/recording-handler.js';

const HOOK = { url: 'https://hook.example/x' };

/** §1.3: operation, verb, path, body, and the request that reaches the handler. */
const ROUTES: readonly (readonly [OperationName, string, string, unknown, object])[] = [
  ['sendMessage', 'POST', '/message:send', HELLO, HELLO],
  ['sendStreamingMessage', 'POST', '/message:stream', HELLO, HELLO],
  ['getTask', 'GET', '/tasks/t1?historyLength=3', undefined, { id: 't1', historyLength: 3 }],
  [
    'listTasks',
    'GET',
    '/tasks?contextId=c1&status=TASK_STATE_WORKING&pageSize=10&pageToken=x%2By&historyLength=0&statusTimestampAfter=2026-01-02T03%3A04%3A05Z&includeArtifacts=true',
    undefined,
    {
      contextId: 'c1',
      status: 'TASK_STATE_WORKING',
      pageSize: 10,
      pageToken: 'x+y',
      historyLength: 0,
      statusTimestampAfter: '2026-01-02T03:04:05Z',
      includeArtifacts: true,
    },
  ],
  ['cancelTask', 'POST', '/tasks/t1:cancel', { metadata: { why: 'x' } }, { id: 't1', metadata: { why: 'x' } }],
  ['subscribeToTask', 'GET', '/tasks/t1:subscribe', undefined, { id: 't1' }],
  ['subscribeToTask', 'POST', '/tasks/t1:subscribe', undefined, { id: 't1' }],
  ['createTaskPushNotificationConfig', 'POST', '/tasks/t1/pushNotificationConfigs', HOOK, { ...HOOK, taskId: 't1' }],
  [
    'getTaskPushNotificationConfig',
    'GET',
    '/tasks/t1/pushNotificationConfigs/p1',
    undefined,
    { taskId: 't1', id: 'p1' },
  ],
  [
    'listTaskPushNotificationConfigs',
    'GET',
    '/tasks/t1/pushNotificationConfigs?pageSize=5&pageToken=n',
    undefined,
    { taskId: 't1', pageSize: 5, pageToken: 'n' },
  ],
  [
    'deleteTaskPushNotificationConfig',
    'DELETE',
    '/tasks/t1/pushNotificationConfigs/p1',
    undefined,
    { taskId: 't1', id: 'p1' },
  ],
  ['getExtendedAgentCard', 'GET', '/extendedAgentCard', undefined, {}],
];

/** The request of the only call the handler got. */
function only(agent: BoundAgent): unknown {
  expect(agent.handler.calls).toHaveLength(1);
  return agent.handler.calls[0]?.request;
}

describe('the routes of 1.0 (§1.3)', () => {
  it.each(ROUTES)('%s is %s %s', async (operation, verb, path, body, request) => {
    const agent = new BoundAgent();
    const answer = await agent.call(`${verb} ${path}`, { body });
    expect(answer.status).toBe(200);
    expect(only(agent)).toEqual(request);
    expect(agent.handler.calls[0]?.operation).toBe(operation);
    if (answer.headers['content-type'] === 'text/event-stream') {
      const frames = EVENTS.map(({ seq, event }) => ({ id: String(seq), data: event }));
      expect(framesOf(await textOf(answer))).toEqual(frames);
    } else {
      const expected = ANSWERS[operation as keyof typeof ANSWERS] ?? {};
      expect(await jsonOf(answer)).toEqual(expected);
    }
  });

  it.each(ROUTES)('%s takes a tenant before the path: %s /acme%s', async (operation, verb, path, body, request) => {
    const agent = new BoundAgent();
    expect((await agent.call(`${verb} /acme${path}`, { body })).status).toBe(200);
    expect(only(agent)).toEqual({ ...request, tenant: 'acme' });
    expect(agent.handler.calls[0]?.operation).toBe(operation);
  });

  it.each(ROUTES)('%s takes a tenant from the query, too: %s %s', async (_operation, verb, path, body, request) => {
    const agent = new BoundAgent();
    await agent.call(`${verb} ${path}${path.includes('?') ? '&' : '?'}tenant=acme`, { body });
    expect(only(agent)).toEqual({ ...request, tenant: 'acme' });
  });

  it.each([
    ['/tasks/a%3Acancel:cancel', 'a:cancel'],
    ['/tasks/a:b:c:cancel', 'a:b:c'],
    ['/tasks/urn:uuid:1%3Acancel', 'urn:uuid:1'],
    ['/tasks/a%2Fb:cancel', 'a/b'],
    ['/tasks/%25:cancel', '%'],
    ['/tasks/a%20b+c:cancel', 'a b+c'],
    ['/tasks/%C3%A4%F0%9F%98%80:cancel', 'ä😀'],
    ['/tasks/..:cancel', '..'],
    ['/t%61sks/a%3acancel', 'a'],
  ])('reads the id of POST %s as "%s"', async (path, id) => {
    const agent = new BoundAgent();
    expect((await agent.call(`POST ${path}`)).status).toBe(200);
    expect(only(agent)).toEqual({ id });
    expect(agent.handler.calls[0]?.operation).toBe('cancelTask');
  });

  it.each([
    ['/tasks/a:b', 'a:b'],
    ['/tasks/urn:task:7', 'urn:task:7'],
    ['/tasks/a%3Ab', 'a:b'],
    ['/tasks/a:canceled', 'a:canceled'],
    ['/tasks/a:CANCEL', 'a:CANCEL'],
    ['/tasks/tasks', 'tasks'],
    ['/tasks/extendedAgentCard', 'extendedAgentCard'],
    ['/tasks/__proto__', '__proto__'],
  ])('reads the id of GET %s as "%s"', async (path, id) => {
    const agent = new BoundAgent();
    expect((await agent.call(`GET ${path}`)).status).toBe(200);
    expect(only(agent)).toEqual({ id });
  });

  it.each(['/message%3Asend', '/message%3asend', '/%6dessage:send'])('knows %s for /message:send', async (path) => {
    const agent = new BoundAgent();
    await agent.call(`POST ${path}`, { body: HELLO });
    expect(only(agent)).toEqual(HELLO);
  });

  it('keeps colons and slashes in both ids of a configuration', async () => {
    const agent = new BoundAgent();
    await agent.call('DELETE /tasks/a:b%2Fc/pushNotificationConfigs/d%3Ae');
    expect(only(agent)).toEqual({ taskId: 'a:b/c', id: 'd:e' });
  });

  it('decodes a tenant', async () => {
    const agent = new BoundAgent();
    await agent.call('GET /a%2Fb%20c/tasks');
    expect(only(agent)).toEqual({ tenant: 'a/b c' });
  });

  it.each(['tasks', 'message:send', 'message:stream', 'extendedAgentCard', ''])(
    'has no tenant named "%s"',
    async (tenant) => {
      const agent = new BoundAgent();
      expect((await agent.call(`GET /${tenant}/extendedAgentCard/`)).status).toBe(404);
      expect([404, 405]).toContain((await agent.call(`POST /${tenant}/message:send`, { body: HELLO })).status);
      expect(agent.handler.calls).toEqual([]);
    },
  );

  it.each([
    '/',
    '',
    '/nothing',
    '/tasks/',
    '/tasks/:cancel',
    '/tasks//pushNotificationConfigs',
    '/a/b/tasks',
    '/acme/',
    '//tasks',
    '/message',
    '/v1/nothing',
    '/tasks/t1/x',
  ])('answers the unknown route %s with 404 in the form of §11.6', async (path) => {
    for (const verb of ['GET', 'POST']) {
      const answer = await new BoundAgent().call(`${verb} ${path}`);
      expect(answer.status).toBe(404);
      expect(await jsonOf(answer)).toMatchObject({
        error: { code: 404, status: 'NOT_FOUND', details: [{ reason: 'METHOD_NOT_FOUND' }] },
      });
    }
  });

  it.each([
    ['/message:send', 'GET', 'POST'],
    ['/acme/message:stream', 'DELETE', 'POST'],
    ['/tasks', 'POST', 'GET'],
    ['/tasks/t1', 'POST', 'GET'],
    ['/tasks/t1', 'PUT', 'GET'],
    ['/tasks/t1:cancel', 'GET', 'POST'],
    ['/tasks/t1:subscribe', 'DELETE', 'POST, GET'],
    ['/tasks/t1/pushNotificationConfigs', 'DELETE', 'POST, GET'],
    ['/tasks/t1/pushNotificationConfigs/p1', 'POST', 'GET, DELETE'],
    ['/extendedAgentCard', 'HEAD', 'GET'],
  ])('answers %s with the verb %s with 405 and allows %s', async (path, verb, allow) => {
    const answer = await new BoundAgent().call(`${verb} ${path}`);
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe(allow);
    expect(await jsonOf(answer)).toMatchObject({ error: { code: 405, details: [{ reason: 'METHOD_NOT_ALLOWED' }] } });
  });

  it('answers a path that cannot be decoded with 400', async () => {
    for (const path of ['/tasks/%', '/tasks/%zz', '/%ff/tasks']) {
      const answer = await new BoundAgent().call(`GET ${path}`);
      expect(answer.status).toBe(400);
      expect(await jsonOf(answer)).toMatchObject({ error: { status: 'INVALID_ARGUMENT' } });
    }
  });

  it('serves nothing outside of its base path', async () => {
    for (const url of ['/tasks/t1', '/agents/tasks/t1', '/agent', '/agenttasks']) {
      expect((await new BoundAgent().call('GET /', { url })).status).toBe(404);
    }
  });
});

it('keeps the extended card out of shared caches (Spec §13.3)', async () => {
  const answer = await new BoundAgent().call('GET /extendedAgentCard');
  expect(answer.headers['cache-control']).toBe('private, no-cache');
});

describe('what stands in the url', () => {
  it.each([
    ['POST /tasks/t1/pushNotificationConfigs', { ...HOOK, taskId: 't2' }, 'taskId'],
    ['POST /tasks/t1/pushNotificationConfigs', { ...HOOK, task_id: 't2' }, 'taskId'],
    ['POST /tasks/t1:cancel', { id: 't2' }, 'id'],
    ['POST /acme/message:send', { ...HELLO, tenant: 'other' }, 'tenant'],
    ['POST /message:send?tenant=acme', { ...HELLO, tenant: 'other' }, 'tenant'],
    ['POST /acme/message:send?tenant=other', HELLO, 'tenant'],
    ['GET /tasks/t1?id=t2', undefined, 'id'],
    ['GET /acme/tasks?tenant=other', undefined, 'tenant'],
    ['GET /tasks/t1/pushNotificationConfigs/p1?task_id=t2', undefined, 'taskId'],
    ['GET /tasks/t1?id=t1&id=t2', undefined, 'id'],
  ])('must not contradict the rest of the request: %s (REC 22, 44)', async (line, body, field) => {
    const agent = new BoundAgent();
    const answer = await agent.call(line, { body });
    expect(answer.status).toBe(400);
    expect(await jsonOf(answer)).toMatchObject({
      error: { details: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field }] }] },
    });
    expect(agent.handler.calls).toEqual([]);
  });

  it.each([
    ['POST /tasks/t1/pushNotificationConfigs', { ...HOOK, taskId: 't1' }, { ...HOOK, taskId: 't1' }],
    ['POST /tasks/t1/pushNotificationConfigs', { ...HOOK, task_id: 't1' }, { ...HOOK, taskId: 't1' }],
    ['POST /tasks/t1/pushNotificationConfigs', { ...HOOK, taskId: '' }, { ...HOOK, taskId: 't1' }],
    ['POST /acme/message:send', { ...HELLO, tenant: null }, { ...HELLO, tenant: 'acme' }],
    ['POST /message:send?tenant=', HELLO, HELLO],
  ])('may repeat it or fill it in: %s', async (line, body, request) => {
    const agent = new BoundAgent();
    expect((await agent.call(line, { body })).status).toBe(200);
    expect(only(agent)).toEqual(request);
  });

  it.each([
    ['/tasks?unknown=1&__proto__=x&__proto__=y&constructor=z&A2A-Version=1.0', {}],
    ['/tasks?page_size=7&include_artifacts=false', { pageSize: 7, includeArtifacts: false }],
    ['/tasks?contextId=a+b%26c', { contextId: 'a b&c' }],
    ['/tasks?', {}],
    ['/tasks?&&=', {}],
  ])('GET %s is read as a query is, unknown names ignored', async (path, request) => {
    const agent = new BoundAgent();
    expect((await agent.call(`GET ${path}`)).status).toBe(200);
    expect(only(agent)).toEqual(request);
  });

  it.each([
    ['/tasks?pageSize=ten', 'pageSize'],
    ['/tasks?pageSize=0', 'pageSize'],
    ['/tasks?pageSize=101', 'pageSize'],
    ['/tasks?includeArtifacts=yes', 'includeArtifacts'],
    ['/tasks?status=RUNNING', 'status'],
    ['/tasks?statusTimestampAfter=yesterday', 'statusTimestampAfter'],
    ['/tasks/t1?historyLength=-1', 'historyLength'],
    ['/tasks/t1?historyLength=1&historyLength=2', 'historyLength'],
  ])('GET %s names the member %s as invalid', async (path, field) => {
    const answer = await new BoundAgent().call(`GET ${path}`);
    expect(answer.status).toBe(400);
    expect(await textOf(answer)).toContain(`"field":"${field}"`);
  });
});

describe('bodies', () => {
  it.each([
    ['none', undefined, undefined],
    ['none, typed as JSON', undefined, 'application/json'],
    ['none, typed as something else', undefined, 'text/plain'],
    ['{}', '{}', 'application/json'],
    ['{} without a type', '{}', undefined],
    ['null', 'null', 'application/json'],
    ['null without a type', 'null', undefined],
    ['{} as A2A JSON', '{}', 'application/a2a+json'],
  ])('may be %s where the route needs none (REC 17)', async (_name, body, type) => {
    for (const line of ['POST /tasks/t1:cancel', 'POST /tasks/t1:subscribe', 'POST /acme/tasks/t1:cancel']) {
      const agent = new BoundAgent();
      const [method = '', path = ''] = line.split(' ');
      const headers = { 'a2a-version': '1.0', ...(type !== undefined && { 'content-type': type }) };
      const answer = await agent.rest(new MemoryRequest({ method, url: `/agent${path}`, headers, body }));
      expect(answer.status).toBe(200);
      expect(only(agent)).toMatchObject({ id: 't1' });
    }
  });

  it('of GET and DELETE are not even read', async () => {
    for (const [method, url] of [
      ['GET', '/agent/tasks/t1'],
      ['DELETE', '/agent/tasks/t1/pushNotificationConfigs/p1'],
    ] as const) {
      const agent = new BoundAgent();
      const headers = { 'a2a-version': '1.0', 'content-type': 'text/plain' };
      const request = new MemoryRequest({ method, url, headers, body: '{' });
      expect((await agent.rest(request)).status).toBe(200);
      expect(request.bodyRead).toBe(false);
    }
  });

  it.each(['application/json', 'application/a2a+json', 'application/json; charset=utf-8', 'APPLICATION/A2A+JSON'])(
    'are read as %s',
    async (type) => {
      const answer = await new BoundAgent().call('POST /message:send', {
        body: HELLO,
        headers: { 'content-type': type },
      });
      expect(answer.status).toBe(200);
    },
  );

  it.each(['text/plain', 'application/xml', 'multipart/form-data', ''])(
    'of type "%s" are refused with 400',
    async (type) => {
      for (const line of ['POST /message:send', 'POST /tasks/t1/pushNotificationConfigs']) {
        const answer = await new BoundAgent().call(line, { body: HELLO, headers: { 'content-type': type } });
        expect(answer.status).toBe(400);
        expect(await jsonOf(answer)).toMatchObject({ error: { details: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] } });
      }
    },
  );

  it.each([
    ['{', 'PARSE_ERROR'],
    ['', 'PARSE_ERROR'],
    ['null', 'INVALID_PARAMS'],
    ['[]', 'INVALID_PARAMS'],
    ['"x"', 'INVALID_PARAMS'],
    ['{}', 'INVALID_PARAMS'],
  ])('of a message that are %s are refused as %s', async (body, reason) => {
    const answer = await new BoundAgent().call('POST /message:send', { body });
    expect(answer.status).toBe(400);
    expect(await textOf(answer)).toContain(`"reason":"${reason}"`);
  });
});

describe('the media type of an answer (§4.3)', () => {
  it.each([
    ['application/json', undefined, 'application/json'],
    ['application/a2a+json', 'application/json', 'application/a2a+json'],
    ['application/json', 'application/a2a+json', 'application/json'],
    ['text/html, application/json;q=0.5', 'application/a2a+json', 'application/json'],
    ['application/a2a+json, application/json', 'application/json', 'application/json'],
    ['application/a2a+json, application/json', 'application/a2a+json', 'application/a2a+json'],
    ['application/a2a+json, application/json', undefined, 'application/a2a+json'],
    ['application/a2a+json;q=0, application/json', undefined, 'application/json'],
    ['*/*', 'application/json; charset=utf-8', 'application/json'],
    ['*/*', undefined, 'application/a2a+json'],
    ['text/event-stream', 'application/json', 'application/json'],
    [undefined, 'application/json', 'application/json'],
    [undefined, 'application/a2a+json', 'application/a2a+json'],
    [undefined, undefined, 'application/a2a+json'],
  ])('with Accept %s and a body of %s is %s, for results and errors', async (accept, type, expected) => {
    const agent = new BoundAgent();
    const headers = { ...(accept !== undefined && { accept }), ...(type !== undefined && { 'content-type': type }) };
    const body = type === undefined ? undefined : '{}';
    for (const line of ['POST /tasks/t1:cancel', 'POST /tasks/t1:nothing', 'PUT /tasks']) {
      const answer = await agent.call(line, { body, headers: { 'content-type': '', ...headers } });
      expect(answer.headers['content-type']).toBe(expected);
    }
  });
});
