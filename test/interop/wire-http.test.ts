import { CAPNWEB_BATCH_BINDING, CAPNWEB_BINDING } from 'parley-a2a-capnweb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.js';
import { type Answer, type Body, reasonOf, saying, Wire } from './wire.js';

let server: ExampleServer;
let wire: Wire;
beforeAll(async () => {
  server = await ExampleServer.start();
  wire = new Wire(server.url);
});
afterAll(() => server[Symbol.asyncDispose]());

const MOUNTS = ['/', '/tck', '/echo', '/hello', '/spec'];
const cardOf = (mount: string) => `${mount.replace(/\/$/, '')}/.well-known/agent-card.json`;
/** The listed interfaces of Cap'n Web under a mount. */
function capnwebInterfaces(mount: string): object[] {
  const url = `${server.url}${mount === '/' ? '/a2a' : mount}/capnweb`;
  return [CAPNWEB_BINDING, CAPNWEB_BATCH_BINDING].map((protocolBinding) => ({
    protocolBinding,
    protocolVersion: '1.0',
    url,
  }));
}
/** The interfaces of 1.0 before those of 0.3. */
function newestFirst(interfaces: readonly object[]): object[] {
  const versionOf = (one: object) => Number((one as { protocolVersion: string }).protocolVersion);
  return interfaces.toSorted((one, other) => versionOf(other) - versionOf(one));
}
const taskOf = ({ body }: Answer) => body.task as Body;

describe('cards', () => {
  it.each(MOUNTS)('of %s say all of it, in order, and nothing that is not served', async (mount) => {
    const { body: card } = await wire.send(cardOf(mount));
    const at =
      mount === '/'
        ? [`${server.url}/a2a/jsonrpc`, `${server.url}/a2a/rest`]
        : [server.url + mount, server.url + mount];
    expect(card).toMatchObject({
      name: expect.stringMatching(/./),
      description: expect.stringMatching(/./),
      version: expect.stringMatching(/./),
      provider: { organization: expect.stringMatching(/./), url: expect.stringMatching(/^https:/) },
      supportedInterfaces: newestFirst([
        { protocolBinding: 'JSONRPC', protocolVersion: '1.0', url: at[0] },
        { protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', url: at[1] },
        ...(mount === '/' || mount === '/tck'
          ? [{ protocolBinding: 'GRPC', protocolVersion: '1.0', url: expect.stringMatching(/^127\.0\.0\.1:\d+$/) }]
          : []),
        ...(mount === '/'
          ? [
              { protocolBinding: 'JSONRPC', protocolVersion: '0.3', url: at[0] },
              { protocolBinding: 'HTTP+JSON', protocolVersion: '0.3', url: at[1] },
              {
                protocolBinding: 'GRPC',
                protocolVersion: '0.3',
                url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
              },
            ]
          : []),
        ...capnwebInterfaces(mount),
      ]),
      capabilities: {
        streaming: mount !== '/echo',
        pushNotifications: ['/', '/tck', '/hello'].includes(mount),
        extendedAgentCard: mount === '/spec',
      },
    });
    for (const skill of card.skills as Body[]) {
      expect(skill).toMatchObject({
        id: expect.any(String),
        name: expect.any(String),
        description: expect.any(String),
      });
      expect((skill.tags as unknown[]).length).toBeGreaterThan(0);
      expect((skill.examples as unknown[]).length).toBeGreaterThan(0);
    }
  });

  it.each([
    ['/echo', ['echo']],
    ['/hello', ['hello_world']],
    [
      '/spec',
      [
        'message-only',
        'task-lifecycle',
        'task-failure',
        'task-cancel',
        'multi-turn',
        'streaming',
        'long-running',
        'data-types',
      ],
    ],
  ])('of %s list its skills', async (mount, skills) => {
    const { body } = await wire.send(cardOf(mount));
    expect((body.skills as Body[]).map(({ id }) => id)).toEqual(skills);
  });

  it('of the compliance agent accept every media type; that of hello names its organization and tags', async () => {
    expect(((await wire.send(cardOf('/tck'))).body.defaultInputModes as unknown[]).at(-1)).toBe('*/*');
    expect((await wire.send(cardOf('/hello'))).body).toMatchObject({
      provider: { organization: 'A2A Project' },
      skills: [
        {
          tags: ['greeting', 'hello', 'basic'],
          examples: [expect.any(String), expect.any(String), expect.any(String)],
        },
      ],
    });
  });

  it.each(['/echo', '/spec', '/tck'])('of %s are the same for every version asked for', async (mount) => {
    const [plain, old, current] = await Promise.all([
      wire.send(cardOf(mount), { unversioned: true }),
      wire.send(cardOf(mount), { headers: { 'a2a-version': '0.3' } }),
      wire.send(cardOf(mount)),
    ]);
    expect(plain.text).toBe(current.text);
    expect(old.text).toBe(current.text);
  });

  it.each(MOUNTS)('of %s can be kept and asked for again (Spec §8.6)', async (mount) => {
    const first = await wire.send(cardOf(mount));
    expect(first.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    const etag = first.headers.get('etag') ?? '';
    const modified = first.headers.get('last-modified') ?? '';
    for (const condition of [{ 'if-none-match': etag }, { 'if-modified-since': modified }]) {
      const again = await wire.send(cardOf(mount), { headers: condition });
      expect([again.status, again.text]).toEqual([304, '']);
      expect(again.headers.get('etag')).toBe(etag);
    }
    expect((await wire.send(cardOf(mount), { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('never tell an address that the Host header made up', async () => {
    const { text } = await wire.send(cardOf('/spec'), {
      headers: { 'x-forwarded-host': 'evil.example', host: 'evil.example' },
    });
    expect(text).not.toContain('evil.example');
  });
});

describe('addresses', () => {
  it.each(['/spec', '/spec/', '/tck', '/tck/', '/', '/a2a/jsonrpc', '/a2a/jsonrpc/'])(
    'POST %s is JSON-RPC',
    async (path) => {
      const answer = await wire.rpc(
        path,
        'SendMessage',
        saying('message-only', { messageId: `tck-message-response-${path}` }),
      );
      expect(answer).toMatchObject({ status: 200, body: { id: 1, result: { message: { role: 'ROLE_AGENT' } } } });
    },
  );

  it.each(['/spec', '/tck', '/hello', '/a2a/rest'])('%s has the routes of HTTP+JSON', async (base) => {
    const sent = await wire.send(`${base}/message:send`, {
      body: saying('task-lifecycle', { messageId: 'tck-complete-task' }),
    });
    const read = await wire.send(`${base}/tasks/${taskOf(sent).id}`);
    expect(read.body).toEqual(taskOf(sent));
  });

  it.each([
    ['GET', '/nowhere', 404],
    ['GET', '/specs/tasks', 404],
    ['GET', '/spec/nothing/at/all', 404],
    ['DELETE', '/spec/tasks', 405],
    ['GET', '/spec/message:send', 405],
    ['GET', '/spec', 405],
    ['PUT', '/a2a/jsonrpc', 405],
    ['POST', '/spec/.well-known/agent-card.json', 405],
  ])('%s %s is refused in JSON with %i', async (method, path, status) => {
    const answer = await wire.send(path, { method });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/(a2a\+)?json/);
    expect(answer.body).toMatchObject({ error: expect.anything() });
    if (status === 405) expect(answer.headers.get('allow')).toMatch(/[A-Z]/);
  });

  it.each(['/spec', '/spec/message:send'])('%s refuses a body over 10 MB with 413', async (path) => {
    const message = saying('x'.repeat(11_000_000));
    const body = path === '/spec' ? { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message } : message;
    const answer = await wire.send(path, { body });
    expect(answer.status).toBe(413);
    expect(reasonOf(answer)).toBe('PAYLOAD_TOO_LARGE');
  });
});

describe('ids', () => {
  it.each([
    ['GET', '/spec/tasks/a:b:c', 'a:b:c'],
    ['GET', '/spec/tasks/a%3Ab', 'a:b'],
    ['GET', '/spec/tasks/a%2Fb', 'a/b'],
    ['POST', '/spec/tasks/a:b:cancel', 'a:b'],
    ['POST', '/spec/tasks/a:cancel:cancel', 'a:cancel'],
    ['POST', '/spec/tasks/a%3Acancel', 'a'],
    ['GET', '/spec/tasks/a:b:subscribe', 'a:b'],
  ])('%s %s is about the task %s', async (method, path, taskId) => {
    const answer = await wire.send(path, { method });
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ error: { details: [{ reason: 'TASK_NOT_FOUND', metadata: { taskId } }] } });
  });
});

describe('tenants', () => {
  it('have tasks of their own (Spec §13.1), by path, body or query', async () => {
    const sent = await wire.send('/spec/acme/message:send', { body: saying('task-failure') });
    const { id } = taskOf(sent);
    for (const path of [`/spec/acme/tasks/${id}`, `/spec/tasks/${id}?tenant=acme`]) {
      expect((await wire.send(path)).body).toMatchObject({ id });
    }
    expect(await wire.rpc('/spec', 'GetTask', { id, tenant: 'acme' })).toMatchObject({ body: { result: { id } } });
    for (const path of [`/spec/tasks/${id}`, `/spec/other/tasks/${id}`])
      expect((await wire.send(path)).status).toBe(404);
    const listed = await wire.send('/spec/acme/tasks');
    expect((listed.body.tasks as Body[]).map((task) => task.id)).toContain(id);
  });

  it('of path and body must agree', async () => {
    const answer = await wire.send('/spec/acme/message:send', { body: { ...saying('x'), tenant: 'other' } });
    expect(reasonOf(answer)).toBe('INVALID_PARAMS');
  });
});

describe('media types', () => {
  it.each([
    ['application/json', 'application/json'],
    ['application/a2a+json', 'application/a2a+json'],
  ])('are answered as asked: %s', async (accept, type) => {
    const { id } = taskOf(await wire.send('/spec/message:send', { body: saying('task-failure') }));
    for (const path of [`/spec/tasks/${id}`, '/spec/tasks/unknown']) {
      expect((await wire.send(path, { headers: { accept } })).headers.get('content-type')).toMatch(type);
    }
  });

  it('that are no JSON are refused in the manner of each binding', async () => {
    const headers = { 'content-type': 'text/plain' };
    const rest = await wire.send('/spec/message:send', { body: saying('x'), headers });
    expect([rest.status, reasonOf(rest)]).toEqual([400, 'CONTENT_TYPE_NOT_SUPPORTED']);
    const rpc = await wire.rpc('/spec', 'SendMessage', saying('x'), { headers });
    expect([rpc.status, reasonOf(rpc)]).toEqual([200, 'CONTENT_TYPE_NOT_SUPPORTED']);
  });
});

describe('versions', () => {
  it('must be said, in the header or the query (Spec §3.6.1, §3.6.2)', async () => {
    const refused = await wire.send('/spec/tasks', { unversioned: true });
    expect(reasonOf(refused)).toBe('VERSION_NOT_SUPPORTED');
    expect(refused.text).toContain('"supportedVersions":"1.0"');
    expect((await wire.send('/spec/tasks?A2A-Version=1.0', { unversioned: true })).status).toBe(200);
    expect((await wire.send('/spec/tasks', { headers: { 'a2a-version': '1.0.7' } })).status).toBe(200);
    expect(reasonOf(await wire.rpc('/spec', 'ListTasks', {}, { headers: { 'a2a-version': '9.9' } }))).toBe(
      'VERSION_NOT_SUPPORTED',
    );
  });
});

describe('requests', () => {
  it('that need no body may have none, with a JSON type or without', async () => {
    for (const request of [
      {},
      { headers: { 'content-type': 'application/json' } },
      { body: '' },
      { body: 'null' },
      { body: '{}' },
    ]) {
      const { id } = taskOf(await wire.send('/spec/message:send', { body: saying('multi-turn') }));
      const canceled = await wire.send(`/spec/tasks/${id}:cancel`, { method: 'POST', ...request });
      expect(canceled.body).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
    }
  });

  it.each(['HTTP+JSON', 'JSON-RPC'])('to cancel over %s leave their metadata in the task', async (binding) => {
    const { id } = taskOf(await wire.send('/spec/message:send', { body: saying('multi-turn') }));
    const metadata = { reason: 'test-cancel-reason', requestedBy: 'the test', nested: { list: [1, null, 'x'] } };
    const answer =
      binding === 'JSON-RPC'
        ? ((await wire.rpc('/spec', 'CancelTask', { id, metadata })).body.result as Body)
        : (await wire.send(`/spec/tasks/${id}:cancel`, { body: { metadata } })).body;
    expect(answer).toMatchObject({ metadata });
    expect((await wire.send(`/spec/tasks/${id}`)).body).toMatchObject({ metadata });
  });

  it('may hold members that nobody knows, and names in the protobuf spelling', async () => {
    const first = await wire.send('/spec/message:send', {
      body: { ...saying('multi-turn', { kind: 'message', generation: 7 }), unknown: { a: 1 } },
    });
    const { id } = taskOf(first);
    const message = {
      message_id: 'snake',
      role: 'ROLE_USER',
      task_id: id,
      parts: [{ text: 'done', media_type: 'text/plain' }],
    };
    const second = await wire.send('/spec/message:send', { body: { message } });
    expect(taskOf(second)).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('that lack something are told which field (Spec §5.7)', async () => {
    const answer = await wire.send('/spec/message:send', {
      body: { message: { messageId: 'x', role: 'ROLE_USER', parts: [] } },
    });
    expect(answer.text).toContain('"field":"message.parts"');
  });

  it('that are no JSON are refused in JSON', async () => {
    for (const path of ['/spec', '/spec/message:send']) {
      expect(reasonOf(await wire.send(path, { body: '{"message": ' }))).toBe('PARSE_ERROR');
    }
  });
});

describe('the extended card', () => {
  it.each([
    ['GET', undefined],
    ['GET', 'Bearer wrong'],
    ['POST', undefined],
    ['POST', 'Bearer wrong'],
  ])('by %s with %s is refused and shows nothing (Spec §3.1.11)', async (method, authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    const answer =
      method === 'GET'
        ? await wire.send('/spec/extendedAgentCard', { headers })
        : await wire.rpc('/spec', 'GetExtendedAgentCard', undefined, { headers });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(answer.text).not.toContain('skills');
  });

  it('is kept by nobody else', async () => {
    const headers = { authorization: 'Bearer acceptance-token' };
    const answer = await wire.send('/spec/extendedAgentCard', { headers });
    expect((answer.body.skills as Body[]).at(-1)?.id).toBe('admin-status');
    expect(answer.headers.get('cache-control')).toMatch(/private|no-store/);
  });
});
