import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { ApiKeys, BearerTokens } from 'parley-a2a/auth';
import { toExpress } from 'parley-a2a/express';
import { toFastify } from 'parley-a2a/fastify';
import { createA2AServer } from 'parley-a2a/node';
import { type Authenticator, createAgentHandler } from 'parley-a2a/server';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { sendRaw, TOKEN } from './protected-host.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const agent = (prompt: string) => prompt;
const handlerOf = (authenticator: Authenticator) => {
  const handler = createAgentHandler({ agent, authenticator, logger: silentLogger, url: 'https://agents.example' });
  closers.push(() => handler.close());
  return handler;
};

async function serveListener(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The hosts: each gives the url of an agent with an authenticator. */
const HOSTS: Readonly<Record<string, (authenticator: Authenticator) => Promise<string>>> = {
  node: async (authenticator) => {
    const server = createA2AServer({ agent, authenticator, logger: silentLogger });
    closers.push(() => server.close());
    return (await server.listen(0)).url;
  },
  express: async (authenticator) => serveListener(express().use(toExpress(handlerOf(authenticator)))),
  fastify: async (authenticator) => {
    const app = fastify();
    app.register(toFastify(handlerOf(authenticator)));
    closers.push(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  },
  // As servers for web handlers do it, such as that of Hono: each line is appended.
  fetch: async (authenticator) => {
    const handler = handlerOf(authenticator);
    return serveListener(async ({ method = '', url = '', rawHeaders }, response) => {
      const headers = new Headers();
      for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
      const answer = await handler.fetch(new Request(`https://agents.example${url}`, { method, headers }));
      response.writeHead(answer.status).end(await answer.text());
    });
  },
};

/** An authenticator of an application, which accepts any value of a header. */
const trustHeader = (name: string): Authenticator => ({
  challenges: ['Bearer'],
  authenticate: (credentials) => {
    const value = credentials.header(name);
    if (value === undefined) return { kind: 'anonymous' };
    return value.includes(TOKEN) ? { kind: 'user', user: { id: 'test|ada' } } : { kind: 'refused', reason: 'wrong' };
  },
});

const apiKeys = (place: 'header' | 'query' | 'cookie', name: string) =>
  new ApiKeys([{ key: TOKEN, subject: 'ada' }], { place: { location: place, name } });
const read = async (url: string, headers: readonly string[], query = '') => {
  const path = `/a2a/rest/tasks${query}`;
  return (await sendRaw(url, { method: 'GET', path, headers: ['a2a-version', '1.0', ...headers] })).status;
};

describe.each(Object.entries(HOSTS))('on %s', (_, start) => {
  it.each([
    ['Authorization', trustHeader('authorization'), `Bearer ${TOKEN}`],
    ['Authorization', new BearerTokens([{ token: TOKEN, subject: 'ada' }]), `Bearer ${TOKEN}`],
    ['X-API-Key', apiKeys('header', 'X-API-Key'), TOKEN],
  ])('a second line of %s is refused', async (name, authenticator, value) => {
    const url = await start(authenticator);
    expect(await read(url, [name, value])).toBe(200);
    expect(await read(url, [name, value, name, value])).toBe(401);
    expect(await read(url, [name, value, name.toLowerCase(), 'other'])).toBe(401);
    expect(await read(url, [name.toUpperCase(), 'Bearer other', name, value])).toBe(401);
  });

  it('a second cookie or parameter of the same name is refused', async () => {
    const byCookie = await start(apiKeys('cookie', 'session'));
    expect(await read(byCookie, ['cookie', `a=1; session=${TOKEN}; b=2`])).toBe(200);
    expect(await read(byCookie, ['cookie', `session=${TOKEN}; session=${TOKEN}`])).toBe(401);
    expect(await read(byCookie, ['cookie', `session=${TOKEN}`, 'cookie', `session=${TOKEN}`])).toBe(401);
    const byQuery = await start(apiKeys('query', 'key'));
    expect(await read(byQuery, [], `?key=${TOKEN}`)).toBe(200);
    expect(await read(byQuery, [], `?key=${TOKEN}&key=${TOKEN}`)).toBe(401);
    expect(await read(byQuery, [], `?key=${TOKEN}&%6Bey=other`)).toBe(401);
  });
});

// A web Request does not tell how many lines a header had.
it.each(['node', 'express', 'fastify'])(
  'on %s, a header that only the authenticator knows may come once',
  async (host) => {
    const url = await (HOSTS[host] as (typeof HOSTS)[string])(trustHeader('x-session'));
    expect(await read(url, ['x-session', TOKEN])).toBe(200);
    expect(await read(url, ['X-Session', TOKEN, 'x-session', TOKEN])).toBe(401);
    // A header that the authenticator does not read may come twice.
    expect(await read(url, ['x-session', TOKEN, 'x-other', '1', 'x-other', '2'])).toBe(200);
  },
);
