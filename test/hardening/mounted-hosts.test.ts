import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { capnwebBinding } from '../../packages/capnweb/src/index.js';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { toExpress } from '../../packages/parley/src/exports/express.js';
import { toFastify } from '../../packages/parley/src/exports/fastify.js';
import { fileTransfer, memoryFileStore } from '../../packages/parley/src/exports/files.js';
import { toHono } from '../../packages/parley/src/exports/hono.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import {
  type AgentHandler,
  type AgentHandlerOptions,
  createAgentHandler,
} from '../../packages/parley/src/exports/server.js';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Options = Partial<AgentHandlerOptions>;

/** An open agent with all endpoints that a mount may have. The url is that of a public host behind a proxy. */
function handlerOf(options: Options): AgentHandler {
  const handler = createAgentHandler({
    agent: (prompt: string) => prompt,
    url: 'https://agents.example.com',
    path: '/',
    health: true,
    metrics: true,
    ...options,
  } as AgentHandlerOptions);
  closers.push(() => handler.close({ graceMs: 0 }));
  return handler;
}

async function portOf(server: Server, host = '127.0.0.1'): Promise<number> {
  if (!server.listening) await once(server.listen(0, host), 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A web server of this machine whose handlers get no facts of the connection, as in Next.js. */
function bareFetch(handler: AgentHandler): Promise<number> {
  const server = createServer(async (incoming, response) => {
    const url = `http://${incoming.headers.host ?? 'localhost'}${incoming.url}`;
    const answer = await handler.fetch(
      new Request(url, { method: String(incoming.method), headers: incoming.headers as never }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  return portOf(server);
}

/** The same agent on each kind of host, all on a loopback address. */
const HOSTS: Readonly<Record<string, (handler: AgentHandler) => Promise<number>>> = {
  Express: (handler) => portOf(createServer(express().use('/', ...toExpress(handler)))),
  'Express on all addresses': (handler) => portOf(createServer(express().use('/', ...toExpress(handler))), '::'),
  Fastify: async (handler) => {
    const app = fastify();
    app.register(toFastify(handler));
    await app.ready();
    await app.listen({ port: 0, host: '127.0.0.1' });
    closers.push(() => app.close());
    return (app.server.address() as AddressInfo).port;
  },
  Hono: (handler) => {
    const app = new Hono();
    app.use('/*', toHono(handler));
    return portOf(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server);
  },
  'a mount of fetch in Hono': (handler) => {
    const app = new Hono();
    app.mount('/', handler.fetch);
    return portOf(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server);
  },
  'fetch without facts of the connection': bareFetch,
};

async function ask(port: number, headers: Readonly<Record<string, string>>, target = `GET ${CARD}`) {
  const lines = Object.entries({ connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  using connection = await RawConnection.open(port, `${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const [head = '', ...body] = (await connection.untilEnd()).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, text: body.join('\r\n\r\n') };
}

const CARD = '/.well-known/agent-card.json';

describe.each(Object.entries(HOSTS))('an open agent on loopback: %s', (_, mounted) => {
  it('refuses the hosts of other machines at every endpoint, and names the option', async () => {
    const files = fileTransfer({ store: memoryFileStore() });
    const port = await mounted(handlerOf({ files, bindings: [capnwebBinding()] }));
    const targets = [
      `GET ${CARD}`,
      'GET /',
      'GET /healthz',
      'GET /readyz',
      'GET /metrics',
      'GET /a2a/rest/tasks',
      'POST /a2a/jsonrpc',
      'POST /a2a/rest/message:send',
      'GET /a2a/capnweb',
      'POST /a2a/capnweb',
      'POST /a2a/files',
      `GET /a2a/files/${'0'.repeat(32)}`,
    ];
    for (const target of targets) {
      const answer = await ask(port, { host: 'evil.example', 'content-length': '0' }, target);
      expect([target, answer.status]).toEqual([target, 421]);
      expect(answer.text).toContain('publicHosts');
    }
  });

  it.each([
    'evil.example:8080',
    '127.0.0.1.evil.example',
    '192.168.1.5',
    '0.0.0.0',
    'agents.example.com.evil.example',
    'evil.example:443',
  ])('refuses the host %s', async (host) => {
    expect((await ask(await mounted(handlerOf({})), { host })).status).toBe(421);
  });

  it('does not learn a host that it has refused, or that came with forwarded headers of no proxy', async () => {
    const port = await mounted(handlerOf({}));
    for (let times = 0; times < 2; times++) {
      const forged = {
        'x-forwarded-host': 'agents.example.com',
        forwarded: 'host=localhost',
        'x-forwarded-for': '1.1.1.1',
      };
      expect((await ask(port, { host: 'evil.example', ...forged })).status).toBe(421);
      expect((await ask(port, { host: 'localhost' })).status).toBe(200);
    }
  });

  it('answers for its own machine, for its url, and for publicHosts', async () => {
    const port = await mounted(handlerOf({ publicHosts: ['upstream:8080', 'other.example'] }));
    for (const host of [`127.0.0.1:${port}`, 'localhost', '[::1]:1', 'a.localhost', 'agents.example.com']) {
      expect([host, (await ask(port, { host })).status]).toEqual([host, 200]);
    }
    for (const host of ['upstream:8080', 'other.example:1', 'OTHER.example']) {
      expect([host, (await ask(port, { host })).status]).toEqual([host, 200]);
    }
    expect((await ask(port, { host: 'upstream:8081' })).status).toBe(421);
  });

  it('answers for any host if it asks for a credential: a page has none', async () => {
    const authenticator = new BearerTokens([{ token: 'right-token-0123456789', subject: 'operator' }]);
    expect((await ask(await mounted(handlerOf({ authenticator })), { host: 'any.example' })).status).toBe(200);
  });
});

describe.each(Object.entries(HOSTS).slice(0, -1))('a proxy before a server on loopback: %s', (_, mounted) => {
  it('may name any host if it is trusted, and those of publicHosts only if there are some', async () => {
    const any = await mounted(handlerOf({ trustProxy: ['loopback'] }));
    expect((await ask(any, { host: 'agents.internal' })).status).toBe(200);
    const listed = await mounted(handlerOf({ trustProxy: ['loopback'], publicHosts: ['agents.internal'] }));
    expect((await ask(listed, { host: 'agents.internal' })).status).toBe(200);
    expect((await ask(listed, { host: 'evil.example', 'x-forwarded-host': 'agents.internal' })).status).toBe(421);
  });

  it('that is not the trusted one may not', async () => {
    const port = await mounted(handlerOf({ trustProxy: ['192.0.2.7'] }));
    expect((await ask(port, { host: 'agents.internal', 'x-forwarded-for': '192.0.2.7' })).status).toBe(421);
  });
});

describe('web handlers', () => {
  const card = (host: string) => new Request(`http://${host}${CARD}`);

  it.each<readonly [string, object, number]>([
    ['Deno, from this machine', { remoteAddr: { transport: 'tcp', hostname: '127.0.0.1', port: 1 } }, 421],
    ['Deno, from this machine over IPv6', { remoteAddr: { transport: 'tcp', hostname: '::1', port: 1 } }, 421],
    ['Deno, from elsewhere', { remoteAddr: { transport: 'tcp', hostname: '203.0.113.9', port: 1 } }, 200],
    ['Bun, from this machine', { requestIP: () => ({ address: '::ffff:127.0.0.1', family: 'IPv6', port: 1 }) }, 421],
    ['Bun, from elsewhere', { requestIP: () => ({ address: '203.0.113.9', family: 'IPv4', port: 1 }) }, 200],
    ['Bun, with a request of its own', { requestIP: () => null }, 421],
    ['an environment of Workers', { AGENTS: {}, URL: 'https://agents.example.com' }, 421],
    ['parameters of Next.js', { params: Promise.resolve({}) }, 421],
  ])('use what the runtime tells of the connection: %s', async (_, platform, status) => {
    const { fetch } = handlerOf({});
    expect((await fetch(card('other.example'), platform)).status).toBe(status);
    expect((await fetch(card('agents.example.com'), platform)).status).toBe(200);
  });

  it('look at the Host header before the url, which the runtime may have made itself', async () => {
    const { fetch } = handlerOf({});
    const request = new Request(`http://localhost:3000${CARD}`, { headers: { host: 'evil.example' } });
    expect((await fetch(request)).status).toBe(421);
  });

  it('of a server check the hosts while it listens on loopback', async () => {
    const server = createA2AServer({ agent: (prompt: string) => prompt });
    closers.push(() => server.close({ graceMs: 0 }));
    await server.listen(0);
    expect((await server.fetch(card('evil.example'))).status).toBe(421);
    expect((await server.fetch(card('localhost'))).status).toBe(200);
  });
});
