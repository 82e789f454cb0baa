import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { globMatcher } from '../../packages/parley/src/cache/glob.js';
import type { Logger } from '../../packages/parley/src/telemetry/logger.js';
import { openRedisCache, type RedisCache } from '../../packages/redis/src/index.js';
import { cacheContract } from '../contract/cache-contract.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { endingOf, endingsWhile } from './call-endings.js';

const PATIENCE = { timeout: 15_000, interval: 20 };

let server: RedisServer;
let client: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  client = new Redis(server.url);
});
afterAll(async () => {
  client?.disconnect();
  await server?.[Symbol.asyncDispose]();
});

cacheContract('in Redis', async () => {
  await client.flushall();
  return openRedisCache({ url: server.url });
});

/** Records the log of a cache. */
function recorder(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (message: string, fields: object = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { logger: { debug: write, info: write, warn: write, error: write }, lines };
}

describe('a cache in Redis', () => {
  it('reads patterns as Redis does', async () => {
    const piece = fc.constantFrom('*', '?', 'a', 'b', 'c', '-', '[ab]', '[^a]', '[a-c]', '\\*', '\\a', '[\\]a]');
    const key = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '*', ']', '-'), minLength: 1, maxLength: 6 });
    const pattern = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(pattern, fc.uniqueArray(key, { minLength: 1, maxLength: 8 }), async (glob, keys) => {
        await client.flushall();
        await client.mset(...keys.flatMap((name) => [name, 'x']));
        expect(keys.filter(globMatcher(glob)).sort()).toEqual((await client.keys(glob)).sort());
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  it('leaves the keys of others alone, and its own go by themselves', async () => {
    await client.flushall();
    await client.set('theirs', 'x');
    await using cache = disposable(await openRedisCache({ url: server.url, prefix: 'mine:' }));
    await cache.set('a', '1', 60_000);
    expect((await client.keys('*')).sort()).toEqual(['mine:keys', 'mine:text:a', 'theirs']);
    expect(await client.pttl('mine:text:a')).toBeGreaterThan(50_000);
    expect(await client.pttl('mine:keys')).toBeGreaterThan(60_000);
    expect(await cache.invalidate('*')).toBe(1);
    expect(await client.keys('*')).toEqual(['theirs']);
  });

  it('is shared by processes with the same prefix', async () => {
    await using one = disposable(await openRedisCache({ url: server.url }));
    await using other = disposable(await openRedisCache({ url: server.url }));
    await one.set('shared', 'x', 60_000);
    expect(await other.get('shared')).toBe('x');
    expect(await other.invalidate('shared')).toBe(1);
    expect(await one.get('shared')).toBeUndefined();
  });

  it('shows the connections that there are, and which of them work', async () => {
    await using cache = disposable(await openRedisCache({ url: server.url, connections: 3 }));
    expect(cache.link).toEqual({ status: 'connected', connections: { active: 0, idle: 3, total: 3 } });
    const calls = [cache.get('a'), cache.get('b')];
    expect(cache.link.connections).toEqual({ active: 2, idle: 1, total: 3 });
    await Promise.all(calls);
    expect(cache.link.connections).toEqual({ active: 0, idle: 3, total: 3 });
    const names = String(await client.client('LIST'))
      .split('\n')
      .filter((line) => line !== '');
    expect(names.length).toBeGreaterThanOrEqual(4);
  });

  it('refuses options that cannot work', async () => {
    for (const options of [
      { url: 'http://127.0.0.1' },
      { url: 'nonsense' },
      { url: server.url, connections: 1 },
      { url: server.url, timeoutMs: 101 },
    ]) {
      await expect(openRedisCache(options)).rejects.toThrow('The cache in Redis');
    }
  });
});

/** Sets a text until the cache gives it back. A command takes 40 ms at most, which a busy machine may miss. */
async function untilKept(cache: Pick<RedisCache, 'get' | 'set'>, text: string): Promise<void> {
  const keep = () => cache.set('a', text, 60_000).then(() => cache.get('a'));
  await expect.poll(() => keep().catch(() => undefined), PATIENCE).toBe(text);
}

describe('a Redis that fails', () => {
  it('is killed and started again while calls go on: each ends at once, and it is used again', async () => {
    await using redis = await RedisServer.start();
    const { logger, lines } = recorder();
    await using cache = disposable(await openRedisCache({ url: redis.url, logger }));
    await untilKept(cache, '1');
    const calls = endingsWhile(() => cache.get('a'));
    await redis.kill();
    await expect
      .poll(() => cache.link, PATIENCE)
      .toEqual({
        status: 'disconnected',
        connections: { active: 0, idle: 0, total: 0 },
      });
    await calls.more(20);
    await redis.startAgain();
    await expect.poll(() => cache.link.connections.total, PATIENCE).toBe(2);
    expect(await calls.stop()).toEqual(new Set(['answered', 'failed']));
    // A missed command is told in the same way.
    const told = ['the cache cannot be reached: answers are made without it', 'the cache is back'];
    expect(lines.map((line) => line.replace(/ \{.*/, ''))).toEqual(
      Array.from({ length: Math.max(2, lines.length) }, (_, at) => told[at % 2]),
    );
    await untilKept(cache, '2');
  });

  it('is frozen: the first calls wait a moment, later ones not at all, and it is used again when it thaws', async () => {
    await using redis = await RedisServer.start();
    const { logger } = recorder();
    await using cache = disposable(await openRedisCache({ url: redis.url, logger }));
    await untilKept(cache, '1');
    redis.freeze();
    const first = await Promise.all(Array.from({ length: 50 }, () => endingOf(cache.get('a'))));
    expect(new Set(first)).toEqual(new Set(['failed']));
    await expect.poll(() => cache.link.status, PATIENCE).toBe('disconnected');
    const later = await Promise.all(Array.from({ length: 50 }, () => endingOf(cache.invalidate('*'), 0)));
    expect(new Set(later)).toEqual(new Set(['failed']));
    redis.thaw();
    await expect.poll(() => cache.link.connections.idle, PATIENCE).toBe(2);
    await expect.poll(() => cache.get('a').catch(() => undefined), PATIENCE).toBe('1');
  });

  it('is not there from the start: the cache opens all the same, and is used once it comes', async () => {
    await using redis = await RedisServer.start();
    await redis.kill();
    const { logger, lines } = recorder();
    await using cache = disposable(await openRedisCache({ url: redis.url, logger }));
    expect(cache.link.status).toBe('disconnected');
    expect(lines[0]).toContain('cannot be reached');
    await redis.startAgain();
    await expect.poll(() => cache.link.status, PATIENCE).toBe('connected');
    await cache.set('a', '1', 60_000);
  });

  it('has another password: that is told, without any password', async () => {
    await using redis = await RedisServer.start('--requirepass', 'right-secret');
    const { logger, lines } = recorder();
    await using cache = disposable(await openRedisCache({ url: redis.url.replace('//', '//:wrong-secret@'), logger }));
    expect(cache.link.status).toBe('disconnected');
    expect(lines.join('\n')).toMatch(/WRONGPASS/);
    expect(lines.join('\n')).not.toMatch(/secret/);
    await using right = disposable(await openRedisCache({ url: redis.url.replace('//', '//:right-secret@'), logger }));
    await right.set('a', '1', 60_000);
  });

  it('is full: nothing is kept, which is told once, and what is there is still read', async () => {
    await using redis = await RedisServer.start();
    const { logger, lines } = recorder();
    await using cache = disposable(await openRedisCache({ url: redis.url, logger }));
    await cache.set('a', '1', 60_000);
    const admin = new Redis(redis.url);
    await admin.config('SET', 'maxmemory', '1');
    await expect(cache.set('b', '2', 60_000)).rejects.toThrow();
    await expect(cache.set('b', '2', 60_000)).rejects.toThrow();
    expect(cache.link.status).toBe('connected');
    expect(await cache.get('a')).toBe('1');
    expect(lines).toHaveLength(1);
    await admin.config('SET', 'maxmemory', '0');
    await cache.set('b', '2', 60_000);
    admin.disconnect();
  });
});

function disposable(cache: RedisCache): RedisCache & AsyncDisposable {
  return Object.assign(cache, { [Symbol.asyncDispose]: () => cache.close() });
}
