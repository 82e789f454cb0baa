import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type AgentExecutor, connect, createA2AServer } from 'parley-a2a';
import { type AgentMcpServerOptions, type McpEndpoint, type McpEndpointOptions, mcpEndpointOf } from 'parley-a2a-mcp';
import { TestClock } from 'parley-a2a-testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { McpEndpoint as PlainEndpoint } from '../../packages/mcp/src/mcp-endpoint.js';
import { mcpServer } from '../../packages/mcp/src/mcp-server.js';
import { SkilledAgent } from './skill-world.js';

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const PLACE = 'http://localhost/mcp';
type Answer = { readonly id?: unknown; readonly result?: Record<string, unknown>; readonly error?: { code: number } };

async function openEndpoint(options: AgentMcpServerOptions & McpEndpointOptions = {}) {
  const agent = await SkilledAgent.start();
  const endpoint = mcpEndpointOf(await connect(agent.url), options);
  onTestFinished(async () => {
    await endpoint.close();
    await agent[Symbol.asyncDispose]();
  });
  return { agent, endpoint };
}

/** A client that writes its requests by hand. */
class RawClient {
  readonly #endpoint: Pick<McpEndpoint, 'handle'>;
  #session: Record<string, string> = {};
  #last = 0;

  constructor(endpoint: Pick<McpEndpoint, 'handle'>) {
    this.#endpoint = endpoint;
  }

  get session(): string {
    return this.#session['mcp-session-id'] ?? '';
  }

  async begin(protocolVersion = VERSIONS[0], capabilities: object = {}): Promise<Answer> {
    const { answer, response } = await this.call('initialize', {
      protocolVersion,
      capabilities,
      clientInfo: { name: 'raw', version: '1' },
    });
    this.#session = {
      'mcp-session-id': response.headers.get('mcp-session-id') ?? '',
      'mcp-protocol-version': String(answer?.result?.protocolVersion ?? protocolVersion),
    };
    await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer as Answer;
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.#endpoint.handle(
      new Request(PLACE, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...this.#session,
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  }

  send(method: string, headers: Record<string, string> = {}): Promise<Response> {
    const accept = { accept: 'text/event-stream' };
    return this.#endpoint.handle(new Request(PLACE, { method, headers: { ...accept, ...this.#session, ...headers } }));
  }

  async call(method: string, params: object = {}): Promise<{ answer: Answer | undefined; response: Response }> {
    this.#last += 1;
    const response = await this.post({ jsonrpc: '2.0', id: this.#last, method, params });
    const answers = messagesIn(await response.clone().text());
    return { answer: answers.find(({ id }) => id === this.#last) ?? answers[0], response };
  }
}

function messagesIn(text: string): readonly Answer[] {
  if (text.startsWith('{') || text.startsWith('[')) return [JSON.parse(text)].flat();
  return text.split('\n').flatMap((line) => (/^data: \{/.test(line) ? [JSON.parse(line.slice(6))] : []));
}

async function beginSession(options: AgentMcpServerOptions & McpEndpointOptions = {}, version = VERSIONS[0]) {
  const { agent, endpoint } = await openEndpoint(options);
  const client = new RawClient(endpoint);
  const answer = await client.begin(version);
  return { agent, endpoint, client, answer };
}

describe('the protocol of an MCP endpoint', () => {
  it.each(VERSIONS)('is spoken in version %s', async (version) => {
    const { client, answer } = await beginSession({}, version);
    expect(answer.result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'Skilled' } });
    expect(answer.result?.capabilities).toEqual({
      tools: {},
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    });
    expect((await client.call('ping')).answer?.result).toEqual({});
    const { answer: called } = await client.call('tools/call', { name: 'talk', arguments: { message: 'hi' } });
    expect(called?.result?.structuredContent).toMatchObject({ text: 'You said: hi []' });
  });

  it('offers its newest version to a client of another one, and refuses unknown versions later', async () => {
    const { client, answer } = await beginSession({}, '1999-01-01');
    expect(answer.result?.protocolVersion).toBe(VERSIONS[0]);
    const ping = { jsonrpc: '2.0', id: 9, method: 'ping' };
    expect((await client.post(ping, { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
  });

  it.each([
    'resources/list',
    'resources/templates/list',
    'prompts/list',
    'logging/setLevel',
    'completion/complete',
    'no/method',
  ])('has no %s', async (method) => {
    const { client } = await beginSession();
    const params = method === 'logging/setLevel' ? { level: 'debug' } : {};
    expect((await client.call(method, params)).answer?.error?.code).toBe(-32601);
  });

  it('reads batches, as version 2025-03-26 has them, up to 100 messages', async () => {
    const { client } = await beginSession({}, '2025-03-26');
    const pings = (number: number) =>
      Array.from({ length: number }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    const response = await client.post(pings(2));
    expect(messagesIn(await response.text()).map(({ id }) => id)).toEqual([0, 1]);
    expect((await client.post(pings(101))).status).toBe(400);
  });

  it.each([
    ['no JSON', '{"jsonrpc"', {}, 400],
    ['no message', '{}', {}, 400],
    ['another media type', '{}', { 'content-type': 'text/plain' }, 415],
    ['a client that takes no stream', '{}', { accept: 'application/json' }, 406],
    ['a foreign host', '{}', { host: 'evil.example' }, 403],
    ['a page of another origin', '{}', { origin: 'https://evil.example' }, 403],
    ['an unknown session', '{}', { 'mcp-session-id': 'unknown' }, 404],
  ])('refuses %s', async (_, body, headers, status) => {
    const { client } = await beginSession();
    expect((await client.post(body, headers)).status).toBe(status);
  });

  it('takes pages and hosts that it is told to take', async () => {
    const { client } = await beginSession({ hosts: ['localhost', 'tools.example'], origins: ['https://chat.example'] });
    const ping = { jsonrpc: '2.0', id: 9, method: 'ping' };
    const status = async (headers: Record<string, string>) => (await client.post(ping, headers)).status;
    expect(await status({ host: 'tools.example:8080', origin: 'https://chat.example' })).toBe(200);
    expect(await status({ host: 'tools.example.evil.example' })).toBe(403);
    expect(await status({ origin: 'https://chat.example.evil.example' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
  });

  it('ends a session on DELETE', async () => {
    const { client } = await beginSession();
    expect((await client.send('DELETE')).status).toBe(200);
    expect((await client.post({ jsonrpc: '2.0', id: 9, method: 'ping' })).status).toBe(404);
    expect((await client.send('DELETE')).status).toBe(404);
  });

  it('has one stream of a session for messages of its own', async () => {
    const { client } = await beginSession();
    const stream = await client.send('GET');
    expect(stream.status).toBe(200);
    expect((await client.send('GET')).status).toBe(409);
    await stream.body?.cancel();
  });
});

describe('a call whose connection is lost', () => {
  /** Reads a stream up to its first id, and leaves it. */
  async function firstId(response: Response): Promise<string> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (reader !== undefined && !/^id: .+\n/m.test(text)) text += (await reader.read()).value ?? '';
    await reader?.cancel();
    return /^id: (.+)$/m.exec(text)?.[1] ?? '';
  }

  const held = {
    jsonrpc: '2.0',
    id: 'h',
    method: 'tools/call',
    params: { name: 'talk', arguments: { message: 'hold' } },
  };

  it('gives its result to a client that resumes with Last-Event-ID, and to no other session', async () => {
    const { agent, endpoint, client } = await beginSession();
    const began = once(agent.told, 'turn');
    const id = await firstId(await client.post(held));
    await began;
    const other = new RawClient(endpoint);
    await other.begin();
    expect((await other.send('GET', { 'last-event-id': id })).status).toBe(400);
    const resumed = await client.send('GET', { 'last-event-id': id });
    agent.release();
    const [answer] = messagesIn(await resumed.text());
    expect(answer).toMatchObject({ id: 'h', result: { structuredContent: { text: 'Released' } } });
  });

  it('cannot be resumed once its events have given way to newer ones', async () => {
    const { agent, client } = await beginSession({ replayBytes: 10_000 });
    const id = await firstId(await client.post(held));
    for (let call = 0; call < 20; call += 1) await client.call('tools/list');
    expect((await client.send('GET', { 'last-event-id': id })).status).toBe(400);
    agent.release();
  });

  it('is resumed by the official client', async () => {
    const { agent, endpoint } = await openEndpoint();
    let lost: (() => void) | undefined;
    const transport = new StreamableHTTPClientTransport(new URL(PLACE), {
      reconnectionOptions: {
        initialReconnectionDelay: 1,
        maxReconnectionDelay: 1,
        reconnectionDelayGrowFactor: 1,
        maxRetries: 3,
      },
      fetch: async (url, init) => {
        const response = await endpoint.handle(new Request(url, init));
        if (!String(init?.body).includes('hold') || response.body === null) return response;
        // The connection breaks on demand, without an end of the stream.
        const reader = response.body.getReader();
        const body = new ReadableStream({
          start: (controller) => {
            lost = () => {
              controller.error(new Error('lost'));
              void reader.cancel();
            };
          },
          pull: async (controller) => {
            const { done, value } = await reader.read();
            if (!done) controller.enqueue(value);
          },
        });
        return new Response(body, response);
      },
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    const began = once(agent.told, 'turn');
    const result = client.callTool({ name: 'talk', arguments: { message: 'hold' } });
    await began;
    lost?.();
    agent.release();
    expect((await result).structuredContent).toMatchObject({ text: 'Released' });
    await client.close();
  });
});

describe('the limits of an MCP endpoint', () => {
  it('bound the bytes of a request', async () => {
    const { client } = await beginSession({ requestBytes: 1_000 });
    const call = (message: string) => client.call('tools/call', { name: 'talk', arguments: { message } });
    expect((await call('x'.repeat(2_000))).response.status).toBe(413);
    expect((await call('short')).answer?.result).toBeDefined();
  });

  it('bound the calls of a session at the same time', async () => {
    const { agent, endpoint, client } = await beginSession({ calls: 1 });
    const began = once(agent.told, 'turn');
    const call = (message: string, by = client) =>
      by.call('tools/call', { name: 'talk', arguments: { message } }).then(({ answer }) => answer?.result);
    const held = call('hold');
    await began;
    expect(await call('more')).toMatchObject({
      isError: true,
      content: [{ text: 'Too many calls at the same time; the most are 1.' }],
    });
    const other = new RawClient(endpoint);
    await other.begin();
    expect(await call('mine', other)).not.toHaveProperty('isError');
    agent.release();
    expect(await held).toMatchObject({ structuredContent: { text: 'Released' } });
    expect(await call('after')).not.toHaveProperty('isError');
  });

  it('bound the sessions: the one that was unused for longest ends', async () => {
    const { endpoint, client } = await beginSession({ sessions: 2 });
    const [second, third] = [new RawClient(endpoint), new RawClient(endpoint)];
    await second.begin();
    await client.call('ping');
    await third.begin();
    const status = async (one: RawClient) => (await one.call('ping')).response.status;
    expect([await status(client), await status(second), await status(third)]).toEqual([200, 404, 200]);
  });

  it('end idle sessions before those with a running call, though their clients keep a stream open', async () => {
    const { endpoint, client: busy } = await beginSession({ sessions: 2 });
    const call = busy.call('tools/call', { name: 'talk', arguments: { message: 'hold' } });
    const [idle, later] = [new RawClient(endpoint), new RawClient(endpoint)];
    await idle.begin();
    const streams = await Promise.all([busy, idle].map((one) => one.send('GET')));
    await later.begin();
    expect((await idle.call('ping')).response.status).toBe(404);
    expect((await busy.call('ping')).response.status).toBe(200);
    await endpoint.close();
    expect((await call).answer?.error?.code).toBe(-32000);
    await Promise.all(streams.map(({ body }) => body?.cancel()));
  });

  it('answer a call whose session ends with an error', async () => {
    const { endpoint, client } = await beginSession({ sessions: 1 });
    const call = client.call('tools/call', { name: 'talk', arguments: { message: 'hold' } });
    await new RawClient(endpoint).begin();
    const { answer } = await call;
    expect(answer).toMatchObject({
      id: expect.any(Number),
      error: { code: -32000, message: 'The session has ended. Begin a new one, and read the task of the call there.' },
    });
  });

  it('end no session for a client that does not begin one', async () => {
    const { endpoint, client } = await beginSession({ sessions: 1 });
    const stranger = new RawClient(endpoint);
    expect((await stranger.call('tools/list')).response.status).toBe(400);
    expect((await client.call('ping')).response.status).toBe(200);
  });

  it('end sessions that are idle for too long, and not those with an open stream', async () => {
    const agent = await SkilledAgent.start();
    onTestFinished(() => agent[Symbol.asyncDispose]());
    const clock = new TestClock();
    const client = await connect(agent.url);
    let number = 0;
    const ids = { random: () => `id-${++number}` };
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const endpoint = new PlainEndpoint(
      { idleMs: 1_000 },
      { server: () => mcpServer([client], {}, { clock, ids, logger }), clock, ids },
    );
    onTestFinished(() => endpoint.close());
    const [idle, open, later] = [new RawClient(endpoint), new RawClient(endpoint), new RawClient(endpoint)];
    await idle.begin();
    await open.begin();
    const stream = await open.send('GET');
    await clock.advance(1_001);
    await later.begin();
    const status = async (one: RawClient) => (await one.call('ping')).response.status;
    expect([await status(idle), await status(open), await status(later)]).toEqual([404, 200, 200]);
    await stream.body?.cancel();
  });

  it('refuses all requests after its close', async () => {
    const { endpoint, client } = await beginSession();
    await endpoint.close();
    expect((await client.call('ping')).response.status).toBe(503);
  });
});

describe('the tools of an MCP server', () => {
  const agent: AgentExecutor = { execute: (_, events) => events.complete('done') };
  const skill = (id: string) => ({ id, name: id, description: '', tags: [] });
  const serveSkills = (name: string, ids: readonly string[], path: string) => {
    const server = createA2AServer({ agent, name, skills: ids.map(skill), url: `https://${path}.example` });
    return connect(server);
  };

  async function namesOf(clients: Parameters<typeof mcpEndpointOf>[0]): Promise<readonly string[]> {
    const endpoint = mcpEndpointOf(clients);
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(PLACE), {
      fetch: (url, init) => endpoint.handle(new Request(url, init)),
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      expect(page.tools.length).toBeLessThanOrEqual(100);
      names.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    await expect(client.listTools({ cursor: 'no such tool' })).rejects.toThrow('The cursor names no page');
    await client.close();
    await endpoint.close();
    return names;
  }

  it('are listed in pages', async () => {
    const many = Array.from({ length: 150 }, (_, number) => `skill-${number}`);
    const names = await namesOf([await serveSkills('A', many, 'a'), await serveSkills('B', many, 'b')]);
    expect(names).toHaveLength(300);
    expect(new Set(names).size).toBe(300);
    expect([names[0], names[299]]).toEqual(['A_skill-0', 'B_skill-149']);
  });

  it('have unique names that do not depend on the order of the agents', async () => {
    const long = 'x'.repeat(80);
    const one = await serveSkills('Same', ['talk', 'only here', `${long}1`, `${long}2`], 'one');
    const other = await serveSkills('Same', ['talk', 'a b', 'a!b'], 'other');
    const none = await serveSkills('Same', [], 'none');
    const names = await namesOf([one, other, none]);
    expect(new Set(names).size).toBe(8);
    expect(names.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
    expect(names).toContain('Same_only_here');
    expect([...(await namesOf([none, other, one]))].sort()).toEqual([...names].sort());
    // A further agent of another name changes no name.
    expect(await namesOf([one, other, none, await serveSkills('New', ['talk'], 'new')])).toEqual([
      ...names,
      'New_talk',
    ]);
  });
});
