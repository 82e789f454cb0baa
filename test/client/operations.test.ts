import { describe, expect, it } from 'vitest';
import { type Client, connect } from '../../packages/parley/src/exports/client.js';
import type { TaskPushNotificationConfig } from '../../packages/parley/src/model/push-notification-config.js';
import { StubAgent, task } from './stub-agent.js';

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hé 🎉' }] } as const;
const config: TaskPushNotificationConfig = { id: 'p/1', taskId: 't 1', url: 'https://x.example/hook?a=b', token: 'é' };
const card = new StubAgent(() => ({})).card({ name: 'Extended', supportedInterfaces: [] });
const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
const options = {
  metadata: { from: 'test' },
  extensions: ['urn:x', 'urn:y'],
  headers: { 'X-Extra': '1' },
  traceparent,
};
const metadata = { from: 'test' };
const filters = {
  contextId: 'c+1&x',
  pageSize: 5,
  includeArtifacts: false,
  statusTimestampAfter: '2026-01-02T03:04:05.678Z',
};

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

interface Row {
  readonly method: string;
  readonly call: (client: Client) => Promise<unknown>;
  readonly params: object;
  /** Verb, path and body over HTTP+JSON. */
  readonly http: readonly [verb: string, path: string, body?: object];
  readonly answer: unknown;
  readonly gives?: unknown;
}

/** Each operation as it goes over the wire, literally, and what the caller gets of the answer. */
const rows: readonly Row[] = [
  {
    method: 'SendMessage',
    call: (client) => client.sendMessage({ message, configuration: { historyLength: 0 }, metadata: { a: 1 } }, options),
    params: { tenant: 'a b', message, configuration: { historyLength: 0 }, metadata: { a: 1, from: 'test' } },
    http: [
      'POST',
      '/a%20b/message:send',
      { message, configuration: { historyLength: 0 }, metadata: { a: 1, from: 'test' } },
    ],
    answer: { task: task() },
  },
  {
    method: 'SendStreamingMessage',
    call: (client) => all(client.sendStreamingMessage({ message }, options)),
    params: { tenant: 'a b', message, metadata },
    http: ['POST', '/a%20b/message:stream', { message, metadata }],
    answer: { message: { ...message, role: 'ROLE_AGENT' } },
    gives: [{ message: { ...message, role: 'ROLE_AGENT' } }],
  },
  {
    method: 'GetTask',
    call: (client) => client.getTask({ id: 'a/b:c%', historyLength: 0 }, options),
    params: { tenant: 'a b', id: 'a/b:c%', historyLength: 0 },
    http: ['GET', '/a%20b/tasks/a%2Fb%3Ac%25?historyLength=0'],
    answer: task(),
  },
  {
    method: 'ListTasks',
    call: (client) => client.listTasks(filters, options),
    params: { tenant: 'a b', ...filters },
    http: [
      'GET',
      '/a%20b/tasks?contextId=c%2B1%26x&pageSize=5&includeArtifacts=false&statusTimestampAfter=2026-01-02T03%3A04%3A05.678Z',
    ],
    answer: { tasks: [task()] },
    gives: { tasks: [task()], nextPageToken: '', pageSize: 0, totalSize: 0 },
  },
  {
    method: 'CancelTask',
    call: (client) => client.cancelTask('t1', options),
    params: { tenant: 'a b', id: 't1', metadata },
    http: ['POST', '/a%20b/tasks/t1:cancel', { metadata }],
    answer: task('TASK_STATE_CANCELED'),
  },
  {
    method: 'SubscribeToTask',
    call: (client) => all(client.subscribeToTask('t1', options)),
    params: { tenant: 'a b', id: 't1' },
    http: ['POST', '/a%20b/tasks/t1:subscribe', {}],
    answer: { task: task() },
    gives: [{ task: task() }],
  },
  {
    method: 'CreateTaskPushNotificationConfig',
    call: (client) => client.createTaskPushNotificationConfig(config, options),
    params: { tenant: 'a b', ...config },
    http: [
      'POST',
      '/a%20b/tasks/t%201/pushNotificationConfigs',
      { id: config.id, url: config.url, token: config.token },
    ],
    answer: config,
  },
  {
    method: 'GetTaskPushNotificationConfig',
    call: (client) => client.getTaskPushNotificationConfig({ taskId: 't 1', id: 'p/1' }, options),
    params: { tenant: 'a b', taskId: 't 1', id: 'p/1' },
    http: ['GET', '/a%20b/tasks/t%201/pushNotificationConfigs/p%2F1'],
    answer: config,
  },
  {
    method: 'ListTaskPushNotificationConfigs',
    call: (client) => client.listTaskPushNotificationConfigs({ taskId: 't 1' }, options),
    params: { tenant: 'a b', taskId: 't 1' },
    http: ['GET', '/a%20b/tasks/t%201/pushNotificationConfigs'],
    answer: {},
    gives: { configs: [], nextPageToken: '' },
  },
  {
    method: 'DeleteTaskPushNotificationConfig',
    call: (client) => client.deleteTaskPushNotificationConfig({ taskId: 't 1', id: 'p/1' }, options),
    params: { tenant: 'a b', taskId: 't 1', id: 'p/1' },
    http: ['DELETE', '/a%20b/tasks/t%201/pushNotificationConfigs/p%2F1'],
    answer: null,
    gives: undefined,
  },
  {
    method: 'GetExtendedAgentCard',
    call: (client) => client.getExtendedAgentCard(options),
    params: { tenant: 'a b' },
    http: ['GET', '/a%20b/extendedAgentCard'],
    answer: card,
  },
];

describe.each(rows)('$method', (row) => {
  const gives = 'gives' in row ? row.gives : row.answer;
  const connectTo = (stub: StubAgent, binding: string) =>
    connect(stub.card({}, [binding]), { tenant: 'a b', extensions: ['urn:x'] });

  it('over JSON-RPC', async () => {
    await using stub = await StubAgent.start(() => ({ body: { jsonrpc: '2.0', id: 1, result: row.answer } }));
    expect(await row.call(await connectTo(stub, 'JSONRPC'))).toEqual(gives);
    expect(stub.calls).toHaveLength(1);
    expect(stub.calls[0]).toMatchObject({
      method: 'POST',
      url: '/',
      json: { jsonrpc: '2.0', id: 1, method: row.method, params: row.params },
      headers: {
        'a2a-version': '1.0',
        'a2a-extensions': 'urn:x, urn:y',
        'x-extra': '1',
        traceparent,
        'content-type': 'application/json',
      },
    });
    expect(stub.calls[0]?.json?.params).toEqual(row.params);
  });

  it('over HTTP+JSON', async () => {
    const [verb, path, body] = row.http;
    // Some agents answer a deletion with an empty body.
    await using stub = await StubAgent.start(() =>
      row.answer === null ? { status: 204 } : { status: 200, body: row.answer as object },
    );
    expect(await row.call(await connectTo(stub, 'HTTP+JSON'))).toEqual(gives);
    expect(stub.calls).toHaveLength(1);
    expect(stub.calls[0]).toMatchObject({
      method: verb,
      url: path,
      headers: { 'a2a-version': '1.0', 'a2a-extensions': 'urn:x, urn:y', 'x-extra': '1', traceparent },
    });
    expect(stub.calls[0]?.json).toEqual(body);
    expect(stub.calls[0]?.headers['content-type']).toBe(body === undefined ? undefined : 'application/a2a+json');
  });
});

it('a route is tried by its other verb where the server knows only that one, and remembered', async () => {
  await using stub = await StubAgent.start(({ method }) =>
    method === 'POST' ? { status: 405, body: { message: 'no' } } : { body: { task: task() } },
  );
  const client = await connect(stub.card({}, ['HTTP+JSON']));
  for (let time = 0; time < 2; time++) expect(await all(client.subscribeToTask('t1'))).toEqual([{ task: task() }]);
  expect(stub.calls.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
});

it('a tenant that no path can hold stays in the request (Spec §11.5)', async () => {
  await using stub = await StubAgent.start(({ method }) => ({ body: method === 'GET' ? task() : { task: task() } }));
  const client = await connect(stub.card({}, ['HTTP+JSON']), { tenant: 'a/b' });
  await client.getTask('t1');
  await client.sendMessage({ message });
  expect(stub.calls.map(({ url, json }) => [url, json])).toEqual([
    ['/tasks/t1?tenant=a%2Fb', undefined],
    ['/message:send', { tenant: 'a/b', message }],
  ]);
});

it('the extended card is the card from then on (Spec §3.1.11)', async () => {
  await using stub = await StubAgent.start(() => ({ body: { jsonrpc: '2.0', id: 1, result: card } }));
  const client = await connect(stub.card());
  expect(client.card.name).toBe('Stub');
  await client.getExtendedAgentCard();
  expect(client.card.name).toBe('Extended');
});

it('a task that is canceled already counts as canceled', async () => {
  await using stub = await StubAgent.start(({ json }) =>
    String(json?.method) === 'CancelTask'
      ? { body: { jsonrpc: '2.0', id: 1, error: { code: -32002, message: 'no' } } }
      : { body: { jsonrpc: '2.0', id: 1, result: task(String((json?.params as { id: string } | undefined)?.id)) } },
  );
  const client = await connect(stub.card());
  expect(await client.cancelTask('TASK_STATE_CANCELED')).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  await expect(client.cancelTask('TASK_STATE_COMPLETED')).rejects.toMatchObject({ code: 'TASK_NOT_CANCELABLE' });
});
