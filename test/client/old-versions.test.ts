import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { connect, type TaskStream } from '../../packages/parley/src/exports/client.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { StreamResponse } from '../../packages/parley/src/model/stream-response.js';
import { result, StubAgent, task } from './stub-agent.js';

const agent = async function* (prompt: string) {
  for (const word of prompt.split(' ')) yield word;
};

/** Without what the versions cannot carry, and what differs from task to task. */
function comparable(events: readonly StreamResponse[]): unknown {
  const text = JSON.stringify(events, (name, value: unknown) =>
    /^(id|taskId|contextId|messageId|artifactId|timestamp)$/.test(name) ? '*' : value,
  );
  return JSON.parse(text);
}

async function readStream(stream: TaskStream): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe.each([
  { version: '0.3', binding: 'JSONRPC' },
  { version: '0.3', binding: 'HTTP+JSON' },
  { version: '0.2.5', binding: 'JSONRPC' },
] as const)('an agent that speaks $version only, over $binding', ({ version, binding }) => {
  it('is called like any other', async () => {
    const server = createA2AServer({ agent, versions: [version] });
    const current = createA2AServer({ agent, versions: ['1.0'] });
    const [{ url }, { url: currentUrl }] = await Promise.all([server.listen(0), current.listen(0)]);
    try {
      const client = await connect(url, { binding });
      expect(client.agentInterface.protocolVersion).toBe(version.slice(0, 3));
      const stream = client.sendStreamingMessage('one two');
      const events = await readStream(stream);
      expect(stream.lastEventId).toBe('5');
      const model = (await connect(currentUrl)).sendStreamingMessage('one two');
      expect(comparable(events)).toEqual(comparable(await readStream(model)));
      const id = stream.taskId ?? '';
      expect(await client.getTask(id)).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
      expect(await client.ask('hi')).toMatchObject({ task: { artifacts: [{ parts: [{ text: 'hi' }] }] } });
      await expect(client.getTask('nope')).rejects.toMatchObject({ name: 'TaskNotFoundError' });
      await expect(client.cancelTask(id)).rejects.toMatchObject({ name: 'TaskNotCancelableError' });
      await expect(client.sendMessage({ message: { parts: [] } })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      await expect(client.listTasks()).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
      // The client keeps to the pinned version.
      await expect(connect(url, { version: '1.0' })).rejects.toMatchObject({ code: 'VERSION_NOT_SUPPORTED' });
    } finally {
      await Promise.all([server.close({ graceMs: 0 }), current.close({ graceMs: 0 })]);
    }
  });
});

it('an interface of 0.4 is called in 0.3', async () => {
  const server = createA2AServer({ agent, versions: ['0.3'] });
  const { url } = await server.listen(0);
  const { agentCard } = server;
  const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '0.4' }];
  try {
    const client = await connect({ ...agentCard, supportedInterfaces });
    expect(await client.ask('hi')).toMatchObject({ task: { artifacts: [{ parts: [{ text: 'hi' }] }] } });
  } finally {
    await server.close({ graceMs: 0 });
  }
});

it('an agent whose interface of 1.0 does not speak it is called in 0.3', async () => {
  await using stub = await StubAgent.start(({ headers }) =>
    headers['a2a-version'] === '1.0'
      ? { body: { jsonrpc: '2.0', id: 1, error: { code: -32009, message: 'no' } } }
      : result({ kind: 'task', ...task(), status: { state: 'completed' } }),
  );
  const [here] = stub.card().supportedInterfaces;
  if (here === undefined) throw new Error('the card has no interface');
  const client = await connect(stub.card({ supportedInterfaces: [here, { ...here, protocolVersion: '0.3' }] }));
  expect(await client.getTask('t1')).toMatchObject(task());
  expect(stub.calls.map(({ json }) => String(json?.method))).toEqual(['GetTask', 'tasks/get']);
  expect(client.agentInterface.protocolVersion).toBe('0.3');
});

it('schemes of a card are read in the old form, the new one, or both together', async () => {
  const schemes = {
    old: { type: 'apiKey', in: 'header', name: 'x-key' },
    both: { type: 'http', scheme: 'bearer', httpAuthSecurityScheme: { scheme: 'bearer' } },
    current: { httpAuthSecurityScheme: { scheme: 'basic' } },
  };
  const card = {
    ...new StubAgent(() => ({})).card(),
    securitySchemes: schemes,
    url: 'http://old.example',
    protocolVersion: '0.3.0',
  };
  const { supportedInterfaces } = card;
  const read = await connect({
    ...card,
    supportedInterfaces: supportedInterfaces.map((item) => ({ ...item, url: 'http://new.example' })),
  } as never);
  expect(read.agentInterface.url).toBe('http://new.example');
  expect(read.card.securitySchemes).toMatchObject({
    old: { apiKeySecurityScheme: { location: 'header', name: 'x-key' } },
    both: { httpAuthSecurityScheme: { scheme: 'bearer' } },
    current: { httpAuthSecurityScheme: { scheme: 'basic' } },
  });
});

it('a subscription of 0.3 does not repeat a task that the server sends after GetTask was answered', async () => {
  const asked = { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'input-required' } };
  const ended = { kind: 'status-update', taskId: 't1', contextId: 'c1', status: { state: 'completed' }, final: true };
  const frame = (value: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: value })}\n\n`;
  const opened = Promise.withResolvers<ServerResponse>();
  await using stub = await StubAgent.start(({ json }) => {
    if (json?.method !== 'tasks/resubscribe') return result(asked);
    return (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
      opened.resolve(response);
    };
  });
  const card = stub.card({
    supportedInterfaces: [{ url: stub.url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
  });
  const client = await connect(card);
  const stream = client.subscribeToTask('t1');
  const { value: first } = await stream.next();
  (await opened.promise).end(frame(asked) + frame(ended));
  const rest = await readStream(stream);
  expect([first, ...rest].map((event) => Object.keys(event ?? {})[0])).toEqual(['task', 'statusUpdate']);
});
