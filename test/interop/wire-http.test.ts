import { CAPNWEB_BATCH_BINDING, CAPNWEB_BINDING } from 'parley-a2a-capnweb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.js';
import { type Answer, type Body, sendParams, Wire } from './wire.js';

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
});

describe('addresses', () => {
  it.each(['/spec', '/spec/', '/tck', '/tck/', '/', '/a2a/jsonrpc', '/a2a/jsonrpc/'])(
    'POST %s is JSON-RPC',
    async (path) => {
      const answer = await wire.rpc(
        path,
        'SendMessage',
        sendParams('message-only', { messageId: `tck-message-response-${path}` }),
      );
      expect(answer).toMatchObject({ status: 200, body: { id: 1, result: { message: { role: 'ROLE_AGENT' } } } });
    },
  );

  it.each(['/spec', '/tck', '/hello', '/a2a/rest'])('%s has the routes of HTTP+JSON', async (base) => {
    const sent = await wire.send(`${base}/message:send`, {
      body: sendParams('task-lifecycle', { messageId: 'tck-complete-task' }),
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
});

describe('tenants', () => {
  it('have tasks of their own (Spec §13.1), by path, body or query', async () => {
    const sent = await wire.send('/spec/acme/message:send', { body: sendParams('task-failure') });
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
});

describe('requests', () => {
  it.each(['HTTP+JSON', 'JSON-RPC'])('to cancel over %s leave their metadata in the task', async (binding) => {
    const { id } = taskOf(await wire.send('/spec/message:send', { body: sendParams('multi-turn') }));
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
      body: { ...sendParams('multi-turn', { kind: 'message', generation: 7 }), unknown: { a: 1 } },
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
});
