import { afterEach, describe, expect, it } from 'vitest';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { type AgentCard, connect } from '../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../packages/parley/src/exports/credentials.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AgentExecutor, ProtocolVersionName } from '../../packages/parley/src/exports/server.js';
import { StubAgent, type StubAnswer } from './stub-agent.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** Asks for input until a message says `done`. */
const asking: AgentExecutor = {
  async execute({ text }, events) {
    if (text === 'wait') {
      await events.working('at it');
      return new Promise(() => {});
    }
    await events.artifact({ data: [text] }, { name: 'said' });
    if (text === 'done') return events.complete('good');
    return events.inputRequired('what else?');
  },
};

async function client(version: ProtocolVersionName, binding: string) {
  const server = createA2AServer({ agent: asking, versions: [version], limits: { cancelGraceMs: 10 } });
  closers.push(() => server.close({ graceMs: 100 }));
  const { url } = await server.listen(0);
  return connect(url, { binding });
}

const WAYS = (['0.3', '0.2.5'] as const).flatMap((version) =>
  ['JSONRPC', 'HTTP+JSON'].map((binding) => ({ version, binding })),
);

describe.each(['/', '/agents/one'])('the extended card of 0.2.5 at %s, which JSON-RPC has no method for', (path) => {
  async function readExtendedCard(token?: string) {
    const server = createA2AServer({
      agent: asking,
      path,
      versions: ['0.2.5'],
      authenticator: new BearerTokens([{ token: 't', subject: 'ada' }]),
      extendedAgentCard: (card) => ({ ...card, skills: [{ id: 'secret', name: 'S', description: '', tags: [] }] }),
    });
    closers.push(() => server.close({ graceMs: 100 }));
    const { url } = await server.listen(0);
    const credentials = token === undefined ? {} : { credentials: bearerToken(token) };
    return connect(new URL(path, url).href, { binding: 'JSONRPC', ...credentials });
  }

  it('is shown to who has authenticated, and to nobody else', async () => {
    const agent = await readExtendedCard('t');
    expect(agent.agentInterface.protocolVersion).toBe('0.2');
    expect((await agent.getExtendedAgentCard()).skills).toMatchObject([{ id: 'secret' }]);
    expect(agent.card.skills).toMatchObject([{ id: 'secret' }]);
    for (const token of ['wrong', undefined])
      await expect((await readExtendedCard(token)).getExtendedAgentCard()).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
      });
  });
});

it.each([
  ['/', '/agent/authenticatedExtendedCard'],
  ['/a2a/rpc', '/a2a/agent/authenticatedExtendedCard'],
  ['/a2a/?x=1', '/a2a/agent/authenticatedExtendedCard'],
])('the extended card of an agent of 0.2.5 at %s is asked for beside it, at %s', async (path, asked) => {
  const card = { name: 'Old', description: '', version: '1', protocolVersion: '0.2.5', preferredTransport: 'JSONRPC' };
  await using stub = await StubAgent.start(({ method }, { url }) =>
    method === 'GET' ? { body: { ...card, name: 'Extended', url } } : { status: 404 },
  );
  const given = { ...card, url: `${stub.url}${path}`, supportsAuthenticatedExtendedCard: true, skills: [] };
  const agent = await connect(given as object as AgentCard);
  expect((await agent.getExtendedAgentCard()).name).toBe('Extended');
  expect(stub.calls.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${asked}`]);
});

describe('an agent whose card does not say that it is of 0.2.5', () => {
  const unsaid = (url: string) =>
    ({
      name: 'Old',
      description: '',
      version: '1',
      url,
      supportsAuthenticatedExtendedCard: true,
    }) as object as AgentCard;
  /** Servers that do not know the method answer with one of these. */
  const agentOf = (code: number, card: StubAnswer) =>
    StubAgent.start(({ method }) =>
      method === 'GET' ? card : { body: { jsonrpc: '2.0', id: 1, error: { code, message: 'no' } } },
    );

  it.each([-32601, -32600])('is asked beside its url once it has answered %d to the method', async (code) => {
    await using stub = await agentOf(code, { body: unsaid('http://old.example') });
    const agent = await connect(unsaid(stub.url));
    expect((await agent.getExtendedAgentCard()).name).toBe('Old');
    expect(stub.calls.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it.each<readonly [number, number, string]>([
    [-32601, 404, 'METHOD_NOT_FOUND'],
    [-32601, 401, 'UNAUTHENTICATED'],
    [-32007, 200, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
  ])('%d there and %d beside are %s', async (code, status, told) => {
    await using stub = await agentOf(code, { status, body: {} });
    await expect((await connect(unsaid(stub.url))).getExtendedAgentCard()).rejects.toMatchObject({ code: told });
  });
});

describe.each(WAYS)('a client of an agent that knows $version alone, over $binding', ({ version, binding }) => {
  it('talks to it in the shapes of 1.0', async () => {
    const agent = await client(version, binding);
    const first = await agent.sendMessage('hello');
    expect(first).toMatchObject({
      task: {
        status: {
          state: 'TASK_STATE_INPUT_REQUIRED',
          message: { role: 'ROLE_AGENT', parts: [{ text: 'what else?' }] },
        },
        artifacts: [{ name: 'said', parts: [{ data: ['hello'] }] }],
      },
    });
    const taskId = first.task !== undefined ? first.task.id : '';
    const second = await agent.sendMessage({ message: { taskId, parts: [{ text: 'done' }] } });
    expect(second).toMatchObject({ task: { id: taskId, status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(await agent.getTask(taskId)).toMatchObject({ history: [{ parts: [{ text: 'hello' }] }, {}, {}] });
  });

  it('follows a stream, cancels, and gets the errors', async () => {
    const agent = await client(version, binding);
    const states: string[] = [];
    let id = '';
    for await (const event of agent.sendStreamingMessage('wait')) {
      if (event.task !== undefined) id = event.task.id;
      if (event.statusUpdate !== undefined) states.push(event.statusUpdate.status.state);
      if (states.length === 1 && states[0] === 'TASK_STATE_WORKING') await agent.cancelTask(id);
    }
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_CANCELED']);
    await expect(agent.getTask('nobody')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(agent.listTasks()).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });
});
