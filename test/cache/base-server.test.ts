import { afterEach, describe, expect, it } from 'vitest';
import { createA2AHost } from '../../packages/parley/src/exports/node.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openRedisCache } from '../../packages/redis/src/index.js';
import { ExampleServer } from '../interop/example-server.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { endingsWhile } from './call-endings.js';

const PATIENCE = { timeout: 15_000, interval: 20 };
/** Limit in ms: a request may wait for several commands on a busy machine. A lost connection takes longer. */
const REQUEST_MS = 500;
const PATHS = ['/discover', '/agent.json', '/health', '/cache/stats', '/metrics', '/info'];

const leftovers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of leftovers.splice(0).reverse()) await end();
});

interface CacheStats {
  readonly cache: { readonly hits: number; readonly misses: number; readonly hitRate: string };
  readonly redis: { readonly status: string; readonly connections: { readonly total: number } };
}

/** A server in this process, asked without a socket, with a real Redis. */
async function serverWithRedis() {
  const redis = await RedisServer.start();
  leftovers.push(() => redis[Symbol.asyncDispose]());
  const cache = await openRedisCache({ url: redis.url, logger: silentLogger });
  leftovers.push(() => cache.close());
  const host = createA2AHost({
    agents: { '/hello': { agent: (prompt) => prompt } },
    baseServer: { cache, cacheChanges: true },
    url: 'http://agents.example',
    logger: silentLogger,
  });
  leftovers.push(() => host.close({ graceMs: 0 }));
  const get = async (path: string) => {
    const answer = await host.fetch(new Request(`http://agents.example${path}`));
    if (answer.status !== 200) throw new Error(`${path} is answered with ${answer.status}`);
    return (await answer.json()) as unknown;
  };
  const stats = () => get('/cache/stats') as Promise<CacheStats>;
  const status = async () => (await stats()).redis.status;
  let turn = 0;
  const requests = () => endingsWhile(() => get(PATHS[turn++ % PATHS.length] as string), REQUEST_MS);
  await expect.poll(status, PATIENCE).toBe('connected');
  return { redis, get, stats, status, requests };
}

describe('a base server whose Redis', () => {
  it('is killed and comes back answers every request in time', async () => {
    const { redis, status, stats, requests } = await serverWithRedis();
    const calls = requests();
    await calls.more(30);
    await redis.kill();
    await expect.poll(status, PATIENCE).toBe('disconnected');
    await calls.more(30);
    await redis.startAgain();
    await expect.poll(status, PATIENCE).toBe('connected');
    await calls.more(30);
    expect(await calls.stop()).toEqual(new Set(['answered']));
    await expect.poll(async () => (await stats()).redis.connections.total, PATIENCE).toBe(2);
    expect((await stats()).cache.hits).toBeGreaterThan(0);
  });

  it('freezes and thaws answers every request in time', async () => {
    const { redis, status, requests } = await serverWithRedis();
    const calls = requests();
    await calls.more(30);
    redis.freeze();
    await expect.poll(status, PATIENCE).toBe('disconnected');
    await calls.more(30);
    redis.thaw();
    await expect.poll(status, PATIENCE).toBe('connected');
    await calls.more(30);
    expect(await calls.stop()).toEqual(new Set(['answered']));
  });

  it('hangs while nobody needs it, and goes on, tells so in its health', async () => {
    const { redis, get, status } = await serverWithRedis();
    const health = () => get('/health') as Promise<{ cache: object; timestamp: string }>;
    const before = await health();
    expect(before.cache).toMatchObject({ status: 'connected', health: 'healthy' });
    expect(await health()).toEqual(before);
    redis.freeze();
    await expect.poll(status, PATIENCE).toBe('disconnected');
    expect((await health()).cache).toMatchObject({ status: 'disconnected', health: 'unhealthy' });
    redis.thaw();
    await expect.poll(status, PATIENCE).toBe('connected');
    const after = await health();
    expect(after.cache).toMatchObject({ status: 'connected', health: 'healthy' });
    expect(after.timestamp).not.toBe(before.timestamp);
  });
});

describe('the example agents with a Redis', () => {
  it('share what is kept between processes, and each tells its own health', async () => {
    await using redis = await RedisServer.start();
    const env = { A2A_REDIS_URL: redis.url, A2A_PUBLIC_URL: 'http://agents.example' };
    await using one = await ExampleServer.start({ env });
    await using other = await ExampleServer.start({ env });
    const json = async (server: ExampleServer, path: string, init?: RequestInit) =>
      (await (await fetch(`${server.url}${path}`, init)).json()) as Record<string, Record<string, unknown>>;
    // A busy machine may answer the first probe too late.
    await expect.poll(async () => (await json(one, '/info')).features, PATIENCE).toMatchObject({ redis_cache: true });
    const card = await json(one, '/discover');
    expect(card).toMatchObject({ name: 'HelloWorld Agent', url: 'http://agents.example/hello/' });
    // The server does not wait for writes.
    const hitsOfOther = async () => {
      await json(other, '/discover');
      return (await json(other, '/cache/stats')).cache?.hits;
    };
    await expect.poll(hitsOfOther, PATIENCE).toBeGreaterThan(0);
    const pids = [await json(one, '/health'), await json(other, '/health')].map(({ server }) => server?.pid);
    expect(new Set(pids).size).toBe(2);
    const invalidate = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"pattern":"*"}' };
    await expect.poll(async () => (await json(other, '/cache/invalidate', invalidate)).invalidated, PATIENCE).toBe(0);
    const { hits } = (await json(one, '/cache/stats')).cache as { hits: number };
    await json(one, '/discover');
    expect((await json(one, '/cache/stats')).cache?.hits).toBe(hits);
  });
});
