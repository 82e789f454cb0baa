import { afterEach, describe, expect, it } from 'vitest';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { type A2AHostOptions, createA2AHost } from '../../packages/parley/src/exports/node.js';
import type { RateLimiter } from '../../packages/parley/src/exports/server.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const HOUR = 3_600_000;
const MESSAGE = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } };
const JSON_HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

async function serveLimited(options: Omit<Partial<A2AHostOptions>, 'agents'>, agents?: A2AHostOptions['agents']) {
  const server = createA2AHost({
    agents: agents ?? { '/': { agent: () => 'ok' } },
    trustProxy: ['loopback'],
    ...options,
  });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers });
  const call = (headers: Record<string, string> = {}, path = '/', method = 'SendMessage') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: MESSAGE }),
    });
  const statuses = async (times: number, send: () => Promise<Response>) => {
    const all: number[] = [];
    for (let sent = 0; sent < times; sent++) {
      const answer = await send();
      await answer.text();
      all.push(answer.status);
    }
    return all;
  };
  return { url, get, call, statuses };
}

const from = (address: string) => ({ 'x-forwarded-for': address });
const token = (user: string) => ({ authorization: `Bearer token-of-${user}` });
const users = () => new BearerTokens(['ada', 'bob'].map((subject) => ({ token: `token-of-${subject}`, subject })));

describe('the rate of an address', () => {
  const rateLimit = { perAddress: { requests: 3, windowMs: HOUR } };

  it('refuses what comes beyond it, over every endpoint, and no other address', async () => {
    const { call, get, statuses } = await serveLimited({ rateLimit });
    expect(await statuses(1, () => call(from('192.0.2.1')))).toEqual([200]);
    expect(await statuses(2, () => get('/.well-known/agent-card.json', from('192.0.2.1')))).toEqual([200, 200]);
    for (const path of ['/.well-known/agent-card.json', '/', '/a2a/rest/tasks', '/nowhere']) {
      expect((await get(path, from('192.0.2.1'))).status).toBe(429);
    }
    expect((await call(from('192.0.2.2'))).status).toBe(200);
  });

  it('refuses in the form of the binding, with the time to wait and the RateLimit fields', async () => {
    const { call, get, statuses } = await serveLimited({ rateLimit });
    const first = await call(from('192.0.2.1'));
    expect(first.headers.get('ratelimit-policy')).toBe('"address";q=3;w=3600');
    expect(first.headers.get('ratelimit')).toMatch(/^"address";r=2;t=3\d{3}$/);
    await statuses(2, () => call(from('192.0.2.1')));
    const jsonRpc = await call(from('192.0.2.1'));
    expect(jsonRpc.status).toBe(429);
    expect(Number(jsonRpc.headers.get('retry-after'))).toBeGreaterThan(3_500);
    expect(jsonRpc.headers.get('ratelimit')).toMatch(/^"address";r=0;t=3\d{3}$/);
    expect(await jsonRpc.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32603,
        message: 'Too many requests: 3 in 3600 s are allowed',
        data: [{ reason: 'RESOURCE_EXHAUSTED', metadata: { limit: 'address' } }, { retryDelay: expect.any(String) }],
      },
    });
    const httpJson = await get('/a2a/rest/tasks', { ...from('192.0.2.1'), 'a2a-version': '1.0' });
    expect(await httpJson.json()).toMatchObject({
      error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ reason: 'RESOURCE_EXHAUSTED' }, {}] },
    });
    const card = await get('/.well-known/agent-card.json', from('192.0.2.1'));
    expect(await card.json()).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });
  });

  it('counts the client behind trusted proxies, whatever the client writes into the headers', async () => {
    const { call, statuses } = await serveLimited({ rateLimit });
    let spoofed = 0;
    const spoofChain = () => {
      spoofed += 1;
      return call(from(`198.51.100.${spoofed}, 192.0.2.1`));
    };
    expect(await statuses(5, spoofChain)).toEqual([200, 200, 200, 429, 429]);
    expect(await statuses(1, () => call({ forwarded: 'for=192.0.2.1' }))).toEqual([429]);
  });

  it('counts the peer without a trusted proxy', async () => {
    const { call, statuses } = await serveLimited({ rateLimit, trustProxy: [] });
    let spoofed = 0;
    const spoofAddress = () => {
      spoofed += 1;
      return call(from(`192.0.2.${spoofed}`));
    };
    expect(await statuses(4, spoofAddress)).toEqual([200, 200, 200, 429]);
  });

  it('counts the /64 of an IPv6 address', async () => {
    const { call, statuses } = await serveLimited({ rateLimit });
    let host = 0;
    const rotateAddress = () => {
      host += 1;
      return call(from(`[2001:db8::${host}]:443`));
    };
    expect(await statuses(4, rotateAddress)).toEqual([200, 200, 200, 429]);
  });

  it('is checked before any credential and any body', async () => {
    let authenticated = 0;
    const authenticator = {
      challenges: ['Bearer'],
      authenticate: () => {
        authenticated += 1;
        return { kind: 'refused' as const, reason: 'wrong' };
      },
    };
    const { url, call, statuses } = await serveLimited({ rateLimit, authenticator });
    expect(await statuses(5, () => call({ ...from('192.0.2.1'), ...token('eve') }))).toEqual([401, 401, 401, 429, 429]);
    expect(authenticated).toBe(3);
    // The request is refused after its head, because the body is never sent.
    const head = 'POST / HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 192.0.2.1\r\ncontent-length: 1000000\r\n\r\n';
    using connection = await RawConnection.open(Number(new URL(url).port), head);
    expect(await connection.until(/HTTP\/1.1 429/)).toContain('429');
  });

  it('does not hold for probes', async () => {
    const { get, call, statuses } = await serveLimited({ rateLimit });
    await statuses(3, () => call());
    expect(await statuses(10, () => get('/healthz'))).toEqual(Array.from({ length: 10 }, () => 200));
    expect((await get('/readyz')).status).toBe(200);
  });
});

describe('the rate of a principal', () => {
  const perPrincipal = { requests: 2, windowMs: HOUR };

  it('counts a user over all addresses, and each user alone', async () => {
    const { call, statuses } = await serveLimited({ rateLimit: { perPrincipal }, authenticator: users() });
    let host = 0;
    const moveAddress = () => {
      host += 1;
      return call({ ...token('ada'), ...from(`192.0.2.${host}`) });
    };
    expect(await statuses(3, moveAddress)).toEqual([200, 200, 429]);
    expect((await call({ ...token('bob'), ...from('192.0.2.1') })).status).toBe(200);
  });

  it('is not used up by wrong credentials', async () => {
    const { call, statuses } = await serveLimited({ rateLimit: { perPrincipal }, authenticator: users() });
    expect(await statuses(5, () => call(token('eve')))).toEqual([401, 401, 401, 401, 401]);
    expect(await statuses(2, () => call(token('ada')))).toEqual([200, 200]);
  });

  it('can differ for an agent', async () => {
    const { call, statuses } = await serveLimited(
      { rateLimit: { perPrincipal }, authenticator: users() },
      {
        '/slow': { agent: () => 'ok', ratePerPrincipal: { requests: 1, windowMs: HOUR } },
        '/free': { agent: () => 'ok', ratePerPrincipal: false },
        '/usual': { agent: () => 'ok' },
      },
    );
    expect(await statuses(2, () => call(token('ada'), '/slow'))).toEqual([200, 429]);
    expect(await statuses(4, () => call(token('ada'), '/free'))).toEqual([200, 200, 200, 200]);
    expect(await statuses(3, () => call(token('ada'), '/usual'))).toEqual([200, 200, 429]);
  });

  it('stands beside that of the address in the fields and in the metrics', async () => {
    const { call, get } = await serveLimited({
      rateLimit: { requests: 5, windowMs: HOUR, perPrincipal: { requests: 1, windowMs: 1_000_000 } },
      authenticator: users(),
    });
    const headers = { ...token('ada'), ...from('192.0.2.1') };
    const { headers: answer } = await call(headers);
    expect(answer.get('ratelimit-policy')).toBe('"address";q=5;w=3600, "principal";q=1;w=1000');
    expect(answer.get('ratelimit')).toMatch(/^"address";r=4;t=\d+, "principal";r=0;t=\d+$/);
    expect((await call(headers)).status).toBe(429);
    const figures = await get('/metrics', { ...token('bob'), accept: 'text/plain;version=0.0.4' });
    expect(await figures.text()).toContain('a2a_server_limits_reached_total{limit="principal"} 1');
  });
});

describe('a limiter of the application', () => {
  it('may answer later, and decides', async () => {
    const keys: string[] = [];
    const limiter: RateLimiter = {
      take: async (key) => {
        keys.push(key);
        return { allowed: keys.length < 2, remaining: 0, resetMs: 5_000 };
      },
    };
    const { call, statuses } = await serveLimited({
      rateLimit: { perAddress: { requests: 9, windowMs: HOUR }, limiter },
    });
    expect(await statuses(2, () => call(from('192.0.2.1')))).toEqual([200, 429]);
    expect(keys).toEqual(['address|192.0.2.1', 'address|192.0.2.1']);
  });

  it('that fails limits nothing, and is logged once', async () => {
    const logger = new CapturingLogger();
    const limiter: RateLimiter = { take: () => Promise.reject(new Error('out of reach')) };
    const { call, statuses } = await serveLimited({
      logger,
      rateLimit: { perAddress: { requests: 1, windowMs: HOUR }, limiter },
    });
    expect(await statuses(3, () => call())).toEqual([200, 200, 200]);
    expect(logger.lines.filter(({ message }) => message.includes('rate limiter'))).toHaveLength(1);
  });
});
