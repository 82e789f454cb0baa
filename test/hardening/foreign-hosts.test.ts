import { afterEach, describe, expect, it } from 'vitest';
import { forKnownHosts } from '../../packages/parley/src/app/middleware/known-hosts.js';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { type A2AServer, type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AnswerCache } from '../../packages/parley/src/exports/server.js';
import { MemoryRequest } from '../../packages/parley/test/exchange-request.js';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';

const CARD = '/.well-known/agent-card.json';
const servers: A2AServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close({ graceMs: 0 }))));

/** A server that listens, and how it answers a request with these headers. */
async function startServer(options: Partial<A2AServerOptions> = {}, host?: string) {
  const server = createA2AServer({
    agent: (prompt: string) => prompt,
    logRequests: false,
    ...options,
  } as A2AServerOptions);
  servers.push(server);
  const port = Number(new URL((await server.listen(0, host)).url).port);
  const ask = async (headers: Readonly<Record<string, string>>, target = `GET ${CARD}`) => {
    const lines = Object.entries({ connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    using connection = await RawConnection.open(port, `${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
    const [head = '', ...body] = (await connection.untilEnd()).split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), text: body.join('\r\n\r\n') };
  };
  return { port, ask };
}

describe('a server on loopback that asks nobody for a credential', () => {
  it.each(['evil.example', 'evil.example:8080', '127.0.0.1.evil.example', '192.168.1.5', '[::2]', 'a@localhost'])(
    'refuses the host %s with 421, wherever the request goes',
    async (host) => {
      const { ask } = await startServer({ baseServer: { cors: '*', cacheChanges: true }, openapi: true });
      const targets = [CARD, '/', '/healthz', '/metrics', '/docs', '/discover', '/cache/stats', '/a2a/rest/tasks'];
      for (const target of targets) {
        const answer = await ask({ host }, `GET ${target}`);
        expect([target, answer.status]).toEqual([target, 421]);
        expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 421 } });
        expect(answer.head).not.toContain('access-control');
      }
    },
  );

  it.each(['localhost', 'LOCALHOST:1', 'agents.localhost:3000', '127.0.0.1', '127.9.9.9:80', '[::1]:8080'])(
    'answers for its own machine under the name %s',
    async (host) => {
      expect((await (await startServer()).ask({ host })).status).toBe(200);
    },
  );

  it('answers for the hosts that its operator names', async () => {
    const { ask } = await startServer({ publicHosts: ['agents.example.com'] });
    expect((await ask({ host: 'agents.example.com:8443' })).status).toBe(200);
    expect((await ask({ host: 'evil.example' })).status).toBe(421);
  });

  it('answers for the host of its configured url', async () => {
    const exchange = forKnownHosts(async () => ({ status: 200, headers: {} }), {
      isPublicHost: undefined,
      publicUrl: 'https://agents.example.com:8443/a2a',
      boundHost: () => '127.0.0.1',
      isOpen: () => true,
    });
    const statusFor = async (host: string) => (await exchange(new MemoryRequest({ headers: { host } }))).status;
    expect(await statusFor('agents.example.com:8443')).toBe(200);
    expect(await statusFor('agents.example.com')).toBe(421);
  });

  it('lets pages of no other origin in by default, at any endpoint', async () => {
    const { ask } = await startServer({ baseServer: {}, openapi: true });
    const origin = 'https://page.example';
    for (const target of [CARD, '/', '/metrics', '/discover', '/info', '/health', '/cache/stats', '/openapi.json']) {
      const { head, status } = await ask({ host: 'localhost', origin }, `GET ${target}`);
      expect([target, status, head.includes('access-control')]).toEqual([target, 200, false]);
      const preflight = { host: 'localhost', origin, 'access-control-request-method': 'POST' };
      expect((await ask(preflight, `OPTIONS ${target}`)).head).not.toContain('access-control');
    }
  });

  it('lets nobody change the cache by default', async () => {
    const { ask } = await startServer({ baseServer: {} });
    for (const target of ['POST /cache/warmup', 'POST /cache/invalidate']) {
      expect((await ask({ host: 'localhost', 'content-length': '0' }, target)).status).toBe(403);
    }
  });
});

describe('other servers', () => {
  it('with authentication answer for any host: a page has no credential', async () => {
    const authenticator = new BearerTokens([{ token: 'right-token-0123456789', subject: 'operator' }]);
    expect((await (await startServer({ authenticator })).ask({ host: 'any.example' })).status).toBe(200);
  });

  it('beyond loopback answer for any host, as their operator has allowed', async () => {
    const { ask } = await startServer({ allowAnonymous: true }, '0.0.0.0');
    expect((await ask({ host: 'any.example' })).status).toBe(200);
  });
});

describe('a card behind a proxy', () => {
  const trusting = { trustProxy: ['127.0.0.1'] };
  const forwarded = { host: 'localhost', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };

  it('that may name any host is kept by no shared cache', async () => {
    const { ask } = await startServer(trusting);
    for (const headers of [forwarded, { host: 'localhost' }]) {
      const { head } = await ask(headers);
      expect(head).toMatch(/\r\ncache-control: private, max-age=\d+\r\n/);
      for (const name of ['forwarded', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-prefix'])
        expect(head).toMatch(new RegExp(`\r\nvary: [^\r]*\\b${name}\\b`));
    }
  });

  it('names only the hosts that are listed, and may be kept', async () => {
    const { ask } = await startServer({ ...trusting, publicHosts: ['agents.example.com'] });
    const listed = await ask({ ...forwarded, 'x-forwarded-host': 'agents.example.com' });
    expect(listed.text).toContain('https://agents.example.com/a2a/jsonrpc');
    expect(listed.head).toMatch(/\r\ncache-control: public, [^\r]*\r\n/);
    expect(listed.head).toMatch(/\r\nvary: [^\r]*x-forwarded-host/);
    expect((await ask(forwarded)).text).not.toContain('evil.example');
  });

  const OF_FORWARDED = ['forwarded', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-prefix'];
  const ADDRESSED = [
    CARD,
    '/',
    '/discover',
    '/agent.json',
    '/info',
    '/openapi.json',
    '/openapi-3.0.json',
    '/docs',
    '/.well-known/oauth-protected-resource',
    '/nowhere',
  ];

  it.each([
    ['public hosts', ['agents.example.com']],
    ['any host', undefined],
  ])('depends on forwarded headers, and so does every answer with an address: %s', async (_, publicHosts) => {
    const options = { ...trusting, ...(publicHosts && { publicHosts }), baseServer: {}, openapi: true };
    const { ask } = await startServer(options);
    const page = { accept: 'text/html' };
    const asked = [...ADDRESSED.map((target) => [target, {}] as const), ['/', page] as const];
    for (const [target, headers] of asked) {
      const { head } = await ask({ host: 'localhost', ...headers }, `GET ${target}`);
      const vary = /\r\nvary: ([^\r]*)/.exec(head)?.[1]?.split(', ') ?? [];
      expect([target, vary]).toEqual([target, expect.arrayContaining(OF_FORWARDED)]);
      if (publicHosts === undefined)
        expect([target, head]).toEqual([target, expect.stringMatching(/cache-control: (?:private|no-store)/)]);
      expect([target, head]).toEqual([target, expect.not.stringMatching(/^vary: [^\r]*forwarded[^$]*^vary:/m)]);
    }
  });

  it('takes a prefix from a trusted proxy only, and only if it is listed with the host', async () => {
    const listed = await startServer({ ...trusting, publicHosts: ['agents.example.com/a2a', 'agents.example.com'] });
    const baseFor = async (prefix: string, further: Record<string, string> = {}, { ask } = listed) => {
      const headers = {
        ...forwarded,
        'x-forwarded-host': 'agents.example.com',
        'x-forwarded-prefix': prefix,
        ...further,
      };
      const { text } = await ask(headers);
      return String(/"url":\s*"([^"]*)\/a2a\/jsonrpc"/.exec(text)?.[1]);
    };
    expect(await baseFor('/a2a')).toBe('https://agents.example.com/a2a');
    expect(await baseFor('/a2a/')).toBe('https://agents.example.com/a2a');
    for (const prefix of [
      '/evil',
      '/a2a/more',
      '/A2A',
      '/a2',
      '//a2a',
      '/a2a/../b',
      'a2a',
      '/a2a?x',
      '/a2a%2f',
      '/a2a#',
    ])
      expect([prefix, await baseFor(prefix)]).toEqual([prefix, 'https://agents.example.com']);
    // The last entry is that of the proxy.
    expect(await baseFor('/a2a, /evil')).toBe('https://agents.example.com');
    expect(await baseFor('/evil, /a2a')).toBe('https://agents.example.com/a2a');
    const other = await startServer({ ...trusting, publicHosts: ['a.example/a2a', 'agents.example.com'] });
    expect(await baseFor('/a2a', {}, other)).toBe('https://agents.example.com');
    const untrusting = await startServer({ publicHosts: ['agents.example.com/a2a'], trustProxy: ['192.0.2.1'] });
    expect(await baseFor('/a2a', {}, untrusting)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('takes any valid prefix without public hosts, but none that is long', async () => {
    const { ask } = await startServer(trusting);
    const cardWith = async (prefix: string) => (await ask({ ...forwarded, 'x-forwarded-prefix': prefix })).text;
    expect(await cardWith('/a2a')).toContain('https://evil.example/a2a/a2a/jsonrpc');
    expect(await cardWith(`/${'a'.repeat(300)}`)).not.toContain('aaaa');
    for (const host of [`${'a'.repeat(300)}.example`, 'a.example:0', 'a.example:65536', 'a.example:99999'])
      expect((await ask({ ...forwarded, 'x-forwarded-host': host })).text).not.toContain(host);
  });

  it.each([
    ['any port of a listed host', { 'x-forwarded-host': (at: number) => `agents.example.com:${at + 1000}` }],
    ['any prefix', { 'x-forwarded-prefix': (at: number) => `/p${at}` }],
    [
      'any scheme and spelling',
      { 'x-forwarded-host': (at: number) => `${at % 2 ? 'AGENTS' : 'agents'}.example.com:${at + 1}` },
    ],
  ])('takes few entries of a shared cache, whatever clients forward: %s', async (_, headers) => {
    const texts = new Map<string, string>();
    const cache: AnswerCache = {
      get: async (key) => texts.get(key),
      set: async (key, text) => void texts.set(key, text),
      invalidate: async () => 0,
      close: async () => {},
    };
    const { ask } = await startServer({ ...trusting, publicHosts: ['agents.example.com'], baseServer: { cache } });
    for (let at = 0; at < 200; at++) {
      const made = Object.fromEntries(Object.entries(headers).map(([name, make]) => [name, make(at)]));
      await ask({ host: 'localhost', 'x-forwarded-host': 'agents.example.com', ...made }, 'GET /discover');
    }
    expect(texts.size).toBeLessThanOrEqual(20);
    expect([...texts].join('').length).toBeLessThan(40_000);
  });

  it('takes no entry of the cache for each host', async () => {
    const { ask } = await startServer({ ...trusting, baseServer: {} });
    for (let host = 0; host < 20; host++) {
      const { text } = await ask({ ...forwarded, 'x-forwarded-host': `h${host}.example` }, 'GET /discover');
      expect(text).toContain(`https://h${host}.example`);
    }
    const stats = JSON.parse((await ask({ host: 'localhost' }, 'GET /cache/stats')).text);
    expect(JSON.stringify(stats)).toContain('"operations":0');
  });
});
