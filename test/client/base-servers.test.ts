import { afterEach, describe, expect, it } from 'vitest';
import { connect, fetchAgentCard, memoryCardCache, textOf } from '../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../packages/parley/src/exports/credentials.js';
import { createA2AHost } from '../../packages/parley/src/exports/node.js';
import { result, StubAgent, type StubAnswer } from './stub-agent.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const alone = () => ({ cardCache: memoryCardCache() });
const missing: StubAnswer = { status: 404, body: { error: { code: 404, message: 'Not found' } } };
const unknownMethod: StubAnswer = {
  status: 404,
  body: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found' } },
};

/** A strict server of the base-server interface: each endpoint accepts only its own methods. */
function foreign(paths: readonly string[], prefix = ''): Promise<StubAgent> {
  const task = { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed' }, history: [], artifacts: [] };
  const answers: Readonly<Record<string, object>> = {
    '/communicate message/send': {
      ...task,
      artifacts: [{ artifactId: 'a', parts: [{ kind: 'text', text: 'Hello' }] }],
    },
    '/delegate tasks/get': task,
    '/delegate tasks/cancel': { ...task, status: { state: 'canceled' } },
    '/delegate tasks/pushNotificationConfig/list': [],
  };
  const frame = (event: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: event })}\n\n`;
  return StubAgent.start(({ method, url, json }, stub) => {
    const path = url.startsWith(prefix) ? url.slice(prefix.length) : '';
    if (method === 'GET' && paths.includes(path))
      return {
        body: {
          name: 'HelloWorld',
          description: '',
          version: '1.0.0',
          protocolVersion: '0.2.5',
          url: `${stub.url}${prefix}`,
          capabilities: { streaming: true },
          defaultInputModes: ['text/plain'],
          defaultOutputModes: ['text/plain'],
          skills: [],
        },
      };
    if (method === 'GET') return missing;
    if (`${path} ${json?.method}` === '/communicate message/stream' || json?.method === 'tasks/resubscribe')
      return {
        headers: { 'content-type': 'text/event-stream' },
        body: `${frame({ ...task, status: { state: 'working' } })}${frame({
          kind: 'status-update',
          taskId: 't1',
          contextId: 'c1',
          status: { state: 'completed' },
          final: true,
        })}`,
      };
    const answer = answers[`${path} ${json?.method}`];
    return answer === undefined ? unknownMethod : result(answer);
  });
}

const posts = (stub: StubAgent) =>
  stub.calls.filter(({ method }) => method === 'POST').map(({ url, json }) => `${url} ${json?.method}`);

describe('a server of the base-server interface by others is called at its two endpoints', () => {
  it.each<readonly [string, string, readonly string[]]>([
    ['named by its base url, with /discover', '', ['/discover']],
    ['named by its base url, with /agent.json', '', ['/agent.json']],
    ['named by /discover', '/discover', ['/discover', '/agent.json']],
    ['named by /agent.json', '/agent.json', ['/discover', '/agent.json']],
  ])('%s', async (_, path, documents) => {
    for (const prefix of ['', '/agents/one']) {
      await using stub = await foreign(documents, prefix);
      const client = await connect(stub.url + prefix + path, alone());
      expect(client.card).toMatchObject({ name: 'HelloWorld', supportedInterfaces: [{ protocolVersion: '0.2' }] });
      expect(client.agentInterface).toMatchObject({ url: `${stub.url}${prefix}/communicate`, protocolVersion: '0.2' });
      const answer = await client.sendMessage('hi');
      expect(answer.task !== undefined && textOf(answer.task)).toBe('Hello');
      const stream = client.sendStreamingMessage('hi');
      for await (const event of stream) void event;
      expect(stream.state).toBe('TASK_STATE_COMPLETED');
      expect(await client.getTask('t1')).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
      expect(await client.cancelTask('t1')).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
      expect(await client.listTaskPushNotificationConfigs({ taskId: 't1' })).toMatchObject({ configs: [] });
      const subscription = client.subscribeToTask('t1');
      for await (const event of subscription) void event;
      expect(subscription.state).toBe('TASK_STATE_COMPLETED');
      for (const call of posts(stub)) {
        const endpoint = call.includes(' message/') ? 'communicate' : 'delegate';
        expect(call).toMatch(new RegExp(`^${prefix}/${endpoint} `));
      }
    }
  });

  it('with the credentials of the origin that the caller named', async () => {
    await using stub = await foreign(['/discover']);
    const client = await connect(stub.url, { ...alone(), credentials: bearerToken('t') });
    await client.sendMessage('hi');
    expect(stub.calls.at(-1)?.headers.authorization).toBe('Bearer t');
  });

  it('and its card is shown as it was published', async () => {
    await using stub = await foreign(['/agent.json']);
    expect(await fetchAgentCard(stub.url, alone())).toMatchObject({
      supportedInterfaces: [{ url: stub.url, protocolBinding: 'JSONRPC' }],
    });
  });
});

describe('what is no base server is not taken for one', () => {
  it.each<readonly [string, StubAnswer]>([
    ['a page', { headers: { 'content-type': 'text/html' }, body: '<html>' }],
    ['some JSON', { body: { results: [] } }],
    ['a card of another version', { body: { name: 'x', url: 'http://x.example', protocolVersion: '0.3.0' } }],
  ])('%s at /discover', async (_, answer) => {
    await using stub = await StubAgent.start(({ url }) => (url === '/discover' ? answer : missing));
    await expect(connect(stub.url, alone())).rejects.toMatchObject({ name: 'AgentCardError', fault: 'not-found' });
  });

  it('an agent of 0.2 whose card is at /agent.json is called at the address of its card', async () => {
    await using stub = await StubAgent.start(({ method, url }, stub) => {
      if (method === 'POST')
        return url === '/rpc'
          ? result({ kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed' } })
          : missing;
      return url === '/agent.json'
        ? { body: { name: 'Old', url: `${stub.url}/rpc`, protocolVersion: '0.2.5', capabilities: {} } }
        : missing;
    });
    const client = await connect(`${stub.url}/agent.json`, alone());
    expect(await client.sendMessage('hi')).toMatchObject({ task: { id: 't1' } });
    expect(client.agentInterface.url).toBe(`${stub.url}/rpc`);
    expect(posts(stub)).toEqual(['/communicate message/send', '/rpc message/send']);
  });
});

it.each(['/discover', '/agent.json'])('our own base server is called by its endpoints: %s', async (path) => {
  const seen: string[] = [];
  const server = createA2AHost({
    agents: {
      '/hello': {
        name: 'Greeter',
        agent: async function* (prompt) {
          yield 'Hello, ';
          yield `${prompt}!`;
        },
      },
      '/other': { name: 'Other', agent: (prompt) => prompt },
    },
    baseServer: { agent: '/hello' },
  });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const client = await connect(url + path, {
    ...alone(),
    fetch: (address, init) => {
      if (init.method === 'POST') seen.push(new URL(address).pathname);
      return fetch(address, init);
    },
  });
  expect(client.card.name).toBe('Greeter');
  const answer = await client.ask('Ada');
  expect(answer.task !== undefined && textOf(answer.task)).toBe('Hello, Ada!');
  const id = answer.task !== undefined ? answer.task.id : '';
  expect(await client.getTask(id)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  await expect(client.getTask('nobody')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  expect(new Set(seen)).toEqual(new Set(['/communicate', '/delegate']));
});
