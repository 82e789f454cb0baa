import { describe, expect, it } from 'vitest';
import { type LinkedCache, TIMESTAMP, baseServerWorld as world } from '../../../test/base-server-world.js';
import { BearerTokens } from '../../exports/auth.js';

describe('the cache of a base server', () => {
  it('keeps /discover and /health for their time', async () => {
    const { get, clock } = world({ options: { cacheTtlSeconds: 10 } });
    for (const path of ['/discover', '/health']) {
      await get(path);
      await get(path);
    }
    expect((await get('/cache/stats')).json).toMatchObject({ cache: { hits: 2, misses: 2, hitRate: '50.00%' } });
    const { json } = await get('/health');
    await clock.advance(9_999);
    expect((await get('/health')).json).toEqual(json);
    await clock.advance(1);
    expect((await get('/health')).json).not.toEqual(json);
  });

  it('is invalidated by pattern, and tells how much that was', async () => {
    const { get, post } = world();
    await get('/discover');
    await get('/health');
    expect((await post('/cache/invalidate', { pattern: 'discover:*' })).json).toEqual({
      success: true,
      pattern: 'discover:*',
      invalidated: 1,
      timestamp: TIMESTAMP,
    });
    expect((await post('/cache/invalidate', { pattern: '*' })).json).toMatchObject({ invalidated: 1 });
  });

  it.each([
    ['discover', '/discover'],
    ['discovery', '/discover'],
    ['/discover', '/discover'],
    ['discovery:*', '/discover'],
    ['*discovery*', '/discover'],
    ['/agent.json', '/discover'],
    ['agents.example', '/discover'],
    ['http://agents.example', '/discover'],
    ['health', '/health'],
    ['/health', '/health'],
    ['/health*', '/health'],
  ])('drops by the pattern %s the answer of %s, and no other', async (pattern, dropped) => {
    const { get, post } = world();
    const paths = ['/discover', '/health'];
    for (const path of paths) await get(path);
    expect((await post('/cache/invalidate', { pattern })).json).toMatchObject({ success: true, invalidated: 1 });
    const misses = async () => ((await get('/cache/stats')).json.cache as { readonly misses: number }).misses;
    for (const path of paths) {
      const before = await misses();
      await get(path);
      expect((await misses()) - before, path).toBe(path === dropped ? 1 : 0);
    }
  });

  it.each(['nothing like it', 'discover:x*', '[a-z]', '?'])(
    'says if the pattern %s dropped nothing',
    async (pattern) => {
      const { get, post } = world();
      await get('/discover');
      expect((await post('/cache/invalidate', { pattern })).json).toEqual({
        success: true,
        pattern,
        invalidated: 0,
        message: expect.stringMatching(/^No cached answer matches the pattern/),
        timestamp: TIMESTAMP,
      });
    },
  );

  it('is warmed up before anybody asks', async () => {
    const { get, post } = world();
    const warmed = await post('/cache/warmup', undefined);
    expect([warmed.status, warmed.json]).toEqual([200, { success: true, warmed: 2, timestamp: TIMESTAMP }]);
    await get('/discover');
    await get('/health');
    expect((await get('/cache/stats')).json).toMatchObject({ cache: { hits: 2, misses: 0 } });
  });

  it.each([
    ['nothing', undefined, 400],
    ['half an object', '{', 400],
    ['null', 'null', 400],
    ['a list', '[]', 400],
    ['no pattern', {}, 400],
    ['an empty pattern', { pattern: '' }, 400],
    ['a number', { pattern: 5 }, 400],
    ['a list of patterns', { pattern: ['*'] }, 400],
    ['a pattern that is too long', { pattern: 'x'.repeat(1_025) }, 400],
    ['what is nested too deeply', '['.repeat(1_000), 400],
    ['what is not UTF-8', new Uint8Array([0xff, 0xfe]), 400],
    ['too much', { pattern: 'x', more: 'x'.repeat(20_000) }, 413],
  ])('refuses %s as a pattern', async (_, body, status) => {
    const { post } = world();
    const answer = await post('/cache/invalidate', body);
    expect(answer.status).toBe(status);
    expect(answer.json.error).toMatchObject({ code: status, message: expect.stringMatching(/^\w/) as string });
  });

  it('takes JSON only', async () => {
    const { post } = world();
    expect(await post('/cache/invalidate', { pattern: '*' }, { 'content-type': 'text/plain' })).toMatchObject({
      status: 415,
    });
  });

  it('that cannot be reached keeps nobody from an answer, and is told', async () => {
    const { get, post, cache, later } = world({ linked: true });
    (cache as LinkedCache).broken = true;
    expect((await get('/discover')).status).toBe(200);
    expect((await get('/health')).json).toMatchObject({
      status: 'healthy',
      cache: { status: 'disconnected', health: 'unhealthy', connections: { total: 0 } },
    });
    await later();
    expect((await get('/readyz')).json).toMatchObject({ status: 'ready', checks: { cache: { status: 'failing' } } });
    const refused = { success: false, error: 'The cache cannot be reached now', timestamp: TIMESTAMP };
    expect(await post('/cache/invalidate', { pattern: '*' })).toMatchObject({
      status: 503,
      json: { ...refused, pattern: '*', invalidated: 0 },
    });
    expect(await post('/cache/warmup', undefined)).toMatchObject({ status: 503, json: { ...refused, warmed: 0 } });
  });
});

describe('who may change the cache', () => {
  const CHANGES = [
    ['/cache/invalidate', { pattern: '*' }],
    ['/cache/warmup', undefined],
  ] as const;

  it.each(CHANGES)('nobody at %s unless the operator enables it', async (path, body) => {
    const { post, get } = world({ options: { cacheChanges: false } });
    const refused = await post(path, body, {}, '127.0.0.1');
    expect([refused.status, refused.headers['x-powered-by']]).toEqual([403, 'BaseA2AServer/2.0']);
    expect((await get('/info')).json).toMatchObject({ features: { cache_warmup: false } });
  });

  it.each(CHANGES)('without authentication at %s: a program on this machine only', async (path, body) => {
    const { post, send } = world();
    for (const peer of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']) {
      expect((await post(path, body, {}, peer)).status, peer).toBe(200);
    }
    for (const peer of ['10.0.0.1', '192.168.1.5', '::ffff:10.0.0.1', '2001:db8::1', '']) {
      expect((await post(path, body, {}, peer)).status, peer).toBe(403);
    }
    // On the same machine: a proxy with remote callers, and a browser with a foreign page.
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'origin', 'x-real-ip']) {
      expect((await post(path, body, { [name]: 'x' })).status, name).toBe(403);
    }
    const preflight = { origin: 'https://page.example', 'access-control-request-method': 'POST' };
    const asked = await send({ method: 'OPTIONS', url: path, headers: preflight });
    expect(asked.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it.each(CHANGES)('with authentication at %s: whoever has a credential', async (path, body) => {
    const authenticator = new BearerTokens([{ token: 'right-token-0123456789', subject: 'operator' }]);
    const { post, get } = world({ agent: { authenticator } });
    const refused = await post(path, body);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect((await post(path, body, { authorization: 'Bearer wrong' })).status).toBe(401);
    const right = { authorization: 'Bearer right-token-0123456789' };
    expect((await post(path, body, right, '10.0.0.1')).status).toBe(200);
    expect((await get('/cache/stats')).status).toBe(401);
    expect((await get('/cache/stats', right)).status).toBe(200);
  });
});

describe('the health of a base server', () => {
  it('is HTTP 500 while the storage fails, and never an answer from before', async () => {
    const { get, storage, later } = world();
    const before = (await get('/health')).json;
    storage.broken = true;
    await later();
    const failing = await get('/health');
    expect(failing.status).toBe(500);
    expect(failing.json).toEqual({ error: 'Health check failed: storage', status: 'unhealthy', timestamp: TIMESTAMP });
    storage.broken = false;
    await later();
    const after = await get('/health');
    expect(after.status).toBe(200);
    expect(after.json).not.toEqual(before);
    expect((await get('/health')).json).toEqual(after.json);
  });

  it('tells at once that the cache has gone, and that it is back', async () => {
    const { get, cache, later } = world({ linked: true });
    const before = (await get('/health')).json;
    (cache as LinkedCache).broken = true;
    expect((await get('/health')).json).toMatchObject({ cache: { status: 'disconnected' } });
    (cache as LinkedCache).broken = false;
    await later();
    const after = (await get('/health')).json;
    expect(after).toMatchObject({ cache: { status: 'connected' } });
    expect(after).not.toEqual(before);
  });

  it('tells that the server is about to stop', async () => {
    const { get, host } = world();
    await get('/health');
    host.drain();
    expect((await get('/health')).json).toMatchObject({ status: 'healthy', agent: { status: 'stopping' } });
  });
});
