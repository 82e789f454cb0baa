import type { AgentExecutor } from 'parley-a2a';
import { type AgentCard, type ConnectOptions, connect } from 'parley-a2a/client';
import { bearerToken } from 'parley-a2a/credentials';
import { type A2AServerOptions, createA2AServer } from 'parley-a2a/node';
import { type Authenticator, systemClock } from 'parley-a2a/server';
import { MemoryStorage } from 'parley-a2a/storage';
import { CAPNWEB_BINDING, type CapnwebTransportOptions, capnwebBinding, capnwebTransport } from 'parley-a2a-capnweb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Client } from '../../packages/parley/src/client/client.js';
import { ResettingProxy } from '../support/resetting-proxy.js';
import { freePort } from '../support/servers/free-port.js';

const EVENTS = 1_500;
const QUICK = { attempts: 200, firstMs: 1, longestMs: 4 };

/** An agent that streams numbered chunks of an artifact. */
const counting: AgentExecutor = {
  execute: async (_context, events) => {
    await events.working();
    const id = await events.artifact('0 ');
    for (let at = 1; at < EVENTS; at++) await events.append(id, `${at} `);
    await events.complete();
  },
};

async function serveAgent(
  options: Pick<A2AServerOptions, 'authenticator' | 'storage'> & { agent?: AgentExecutor } = {},
) {
  const server = createA2AServer({
    agent: counting,
    health: false,
    bindings: [capnwebBinding()],
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const port = await freePort();
  const { url } = await server.listen(port);
  return { server, url, port };
}

/** A client that reaches the agent over Cap'n Web at another port. */
async function clientAt(
  card: AgentCard,
  port: number,
  { transport = {}, ...options }: ConnectOptions & { readonly transport?: CapnwebTransportOptions } = {},
): Promise<Client> {
  const supportedInterfaces = card.supportedInterfaces
    .filter(({ protocolBinding }) => protocolBinding === CAPNWEB_BINDING)
    .map((item) => ({ ...item, url: item.url.replace(/:\d+/, `:${port}`) }));
  const client = await connect(
    { ...card, supportedInterfaces },
    {
      bindings: [capnwebTransport(transport)],
      resume: QUICK,
      retry: QUICK,
      ...options,
    },
  );
  onTestFinished(() => client.close());
  return client;
}

describe('streams over Cap’n Web', () => {
  it('bring every event once and in order through connections that are reset', { timeout: 60_000 }, async () => {
    const { server, port } = await serveAgent();
    let resets = 0;
    await using proxy = await ResettingProxy.open(port, () => (++resets <= 30 ? 3_000 + resets * 700 : 1e9));
    const client = await clientAt(server.agentCard, proxy.port);
    const stream = client.sendStreamingMessage('count');
    const numbers: string[] = [];
    const ids: number[] = [];
    for await (const event of stream) {
      if (event.artifactUpdate !== undefined)
        numbers.push(...event.artifactUpdate.artifact.parts.map((part) => (part.text !== undefined ? part.text : '')));
      ids.push(Number(stream.lastEventId));
    }
    expect(numbers).toEqual(Array.from({ length: EVENTS }, (_, at) => `${at} `));
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => at + 1));
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
    expect(stream.breaks).toBeGreaterThan(5);
    expect(proxy.resets).toBe(stream.breaks);
  });

  it('go on after a path that swallowed everything', async () => {
    const release = Promise.withResolvers<void>();
    const agent: AgentExecutor = {
      execute: async (_context, events) => {
        await events.working();
        await release.promise;
        await events.complete();
      },
    };
    const { server, port } = await serveAgent({ agent });
    await using proxy = await ResettingProxy.open(port);
    const client = await clientAt(server.agentCard, proxy.port, { transport: { pingMs: 100, connectMs: 500 } });
    const stream = client.sendStreamingMessage('wait');
    const states: unknown[] = [];
    const read = (async () => {
      for await (const event of stream)
        states.push(event.statusUpdate !== undefined ? event.statusUpdate.status.state : 'task');
    })();
    await vi.waitFor(() => expect(states).toContain('TASK_STATE_WORKING'), 15_000);
    proxy.isFrozen = true;
    await vi.waitFor(() => expect(stream.breaks).toBeGreaterThan(0), 10_000);
    proxy.isFrozen = false;
    release.resolve();
    await read;
    expect(states).toEqual(['task', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });

  it('go on with the next process after one that shuts down', async () => {
    const release = Promise.withResolvers<void>();
    const storage = new MemoryStorage({ clock: systemClock });
    const agent: AgentExecutor = {
      execute: async (_context, events) => {
        await events.working();
        await release.promise;
        await events.complete();
      },
    };
    const first = await serveAgent({ agent, storage });
    const client = await clientAt(first.server.agentCard, first.port);
    const stream = client.sendStreamingMessage('wait');
    const states: unknown[] = [];
    const read = (async () => {
      for await (const event of stream)
        states.push(event.statusUpdate !== undefined ? event.statusUpdate.status.state : 'task');
    })();
    await vi.waitFor(() => expect(states).toContain('TASK_STATE_WORKING'), 15_000);
    // The turn is interrupted, and the next process tells its outcome.
    await first.server.close({ graceMs: 0 });
    const second = createA2AServer({ agent, storage, health: false, bindings: [capnwebBinding()] });
    onTestFinished(() => second.close({ graceMs: 0 }));
    await second.listen(first.port);
    release.resolve();
    await read;
    expect(stream.breaks).toBeGreaterThan(0);
    expect(states).toEqual(['task', 'TASK_STATE_WORKING', 'TASK_STATE_FAILED']);
  });

  it('go on with a new token after the old one has expired', async () => {
    const release = Promise.withResolvers<void>();
    const agent: AgentExecutor = {
      execute: async (_context, events) => {
        await events.working();
        await release.promise;
        await events.complete();
      },
    };
    // The time of a token begins with its first use: a busy machine may take long to connect.
    const ends = new Map<string, number>();
    const authenticator: Authenticator = {
      challenges: ['Bearer'],
      securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
      authenticate: (request) => {
        const token = request.header('authorization')?.slice('Bearer '.length) ?? '';
        const expiresAt = ends.get(token) ?? Date.now() + (token === issued[0] ? 400 : 60_000);
        if (!issued.includes(token) || expiresAt <= Date.now()) return { kind: 'refused', reason: 'expired' };
        ends.set(token, expiresAt);
        return { kind: 'user', user: { id: 'test|ada', expiresAt } };
      },
    };
    const { server, port } = await serveAgent({ agent, authenticator });
    const issued: string[] = [];
    const issue = (): string => {
      const token = `pl4nted-s3cret-${issued.length + 1}`;
      issued.push(token);
      return token;
    };
    let token = issue();
    const client = await clientAt(server.agentCard, port, {
      credentials: bearerToken(() => {
        if ((ends.get(token) ?? Number.POSITIVE_INFINITY) <= Date.now()) token = issue();
        return token;
      }),
    });
    const stream = client.sendStreamingMessage('wait');
    const states: unknown[] = [];
    for await (const event of stream) {
      states.push(event.statusUpdate !== undefined ? event.statusUpdate.status.state : 'task');
      if (states.length === 2)
        void vi.waitFor(() => expect(stream.breaks).toBeGreaterThan(0), 10_000).then(() => release.resolve());
    }
    expect(states).toEqual(['task', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(issued).toHaveLength(2);
  });
});
