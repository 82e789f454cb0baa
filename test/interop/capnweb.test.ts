import { newHttpBatchRpcSession, newWebSocketRpcSession, type RpcStub } from 'capnweb';
import type { AgentCard } from 'parley-a2a';
import { CAPNWEB_BATCH_BINDING, CAPNWEB_BINDING } from 'parley-a2a-capnweb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CapnwebPlainPeer, type PlainService } from './capnweb-plain-peer.js';
import { ExampleServer } from './example-server.js';
import { MODES, play } from './play.js';
import { SCENARIOS } from './scenarios.js';

let server: ExampleServer;
beforeAll(async () => {
  server = await ExampleServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

/** The objects of a session, as a client without types of Parley describes them. */
interface Entrance {
  authenticate(hello: object): Agent;
}
interface Agent {
  sendMessage(request: object): { readonly task?: object; readonly message?: object };
  sendStreamingMessage(request: object): {
    readonly events: ReadableStream<{ readonly seq: number; readonly event: object }>;
  };
}

const HELLO = { parameters: { 'A2A-Version': '1.0' } };
const message = () => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] });

async function interfaceOf(mount: string, binding: string): Promise<string | undefined> {
  const response = await fetch(`${server.url}${mount}/.well-known/agent-card.json`);
  const { supportedInterfaces } = (await response.json()) as Partial<AgentCard>;
  return supportedInterfaces?.find(({ protocolBinding }) => protocolBinding === binding)?.url;
}

/** A session of the stock client, without any code of ours. */
async function session<Main extends object>(mount: string): Promise<RpcStub<Main>> {
  // A card of 0.3 does not list the address.
  const url = mount === '/spec03' ? `${server.url}${mount}/capnweb` : await interfaceOf(mount, CAPNWEB_BINDING);
  const socket = new WebSocket((url ?? '').replace('http', 'ws'));
  onTestFinished(() => socket.close());
  return newWebSocketRpcSession(socket) as unknown as RpcStub<Main>;
}

/** Every scenario of the example agents with plain arguments. The agent of `/spec` speaks 0.3 at `/spec03`. */
const PLAYS = SCENARIOS.filter(({ once }) => once !== true).flatMap((scenario) =>
  scenario.agents
    .flatMap((agent) => (agent === '/spec' ? [agent, '/spec03'] : [agent]))
    .filter((agent) => agent !== '/tck')
    .flatMap((agent) =>
      MODES.filter((mode) => mode === 'blocking' || scenario.turns[0]?.stream !== undefined).map((mode) => ({
        title: `${agent} ${scenario.name}, ${mode}`,
        agent,
        scenario,
        mode,
      })),
    ),
);

describe("the stock client of Cap'n Web with plain arguments: every scenario of the example agents", () => {
  it.each(PLAYS)('$title', { timeout: 60_000 }, async ({ agent, scenario, mode }) => {
    const service = await session<PlainService>(agent === '/' ? '' : agent);
    await play(new CapnwebPlainPeer(service), scenario, mode);
  });
});

describe.each(['', '/tck', '/echo', '/hello', '/spec'])(
  "the stock client of Cap'n Web calls the agent at %s/",
  (mount) => {
    it('over a WebSocket', async () => {
      const agent = (await session<Entrance>(mount)).authenticate(HELLO);
      expect(Object.keys(await agent.sendMessage({ message: message() }))).toEqual([
        mount === '/echo' || mount === '/spec' ? 'message' : 'task',
      ]);
      if (mount === '/echo') return;
      const { events } = await agent.sendStreamingMessage({ message: message() });
      const items = [];
      for await (const item of events as unknown as AsyncIterable<object>) items.push(item);
      expect(items.length).toBeGreaterThan(0);
    });

    it('over a batch', async () => {
      const url = (await interfaceOf(mount, CAPNWEB_BATCH_BINDING)) ?? '';
      const request = new Request(url, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' } });
      const entrance = newHttpBatchRpcSession(request) as unknown as RpcStub<Entrance>;
      const agent = entrance.authenticate(HELLO);
      expect(Object.keys(await agent.sendMessage({ message: message() }))).toHaveLength(1);
    });

    it('with plain arguments', async () => {
      const service = await session<PlainService>(mount);
      const parts = [{ kind: 'text', text: 'hello' }] as const;
      const answer = await service.sendMessage({
        kind: 'message',
        messageId: crypto.randomUUID(),
        role: 'user',
        parts,
      });
      expect(['task', 'message']).toContain(answer.kind);
      expect(await service.listTasks({ limit: 1 })).toMatchObject({ total: expect.any(Number) });
    });
  },
);

describe("the interfaces of Cap'n Web", () => {
  it.each([
    ['/spec03', '/spec03/capnweb'],
    ['', '/a2a/capnweb'],
  ])('are in no card of 0.3, which has their capabilities: the agent at %s/', async (mount, path) => {
    const card = await (await fetch(`${server.url}${mount}/.well-known/agent.json`)).json();
    expect(card).toMatchObject({
      preferredTransport: 'JSONRPC',
      capabilities: { bidirectional: true, taskManagement: true, fileTransfer: true },
      authentication: [],
    });
    expect(JSON.stringify(card)).not.toMatch(/"transport":"CAPNWEB"/);
    // A session names its own address.
    expect(await (await session<PlainService & { getAgentCard(): object }>(mount)).getAgentCard()).toMatchObject({
      additionalInterfaces: expect.arrayContaining([{ url: `${server.url}${path}`, transport: 'CAPNWEB' }]),
    });
  });
});
