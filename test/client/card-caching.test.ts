import { describe, expect, it } from 'vitest';
import {
  type CachedDocument,
  type CardCache,
  type ConnectOptions,
  connect,
  memoryCardCache,
} from '../../packages/parley/src/exports/client.js';
import { StubAgent } from './stub-agent.js';

/** A cache whose entries a test can see. */
function shownCache(): CardCache & { readonly entries: Map<string, CachedDocument> } {
  const entries = new Map<string, CachedDocument>();
  return {
    entries,
    get: (key) => entries.get(key),
    set: (key, document) => void entries.set(key, document),
  };
}

/** An agent whose card may be kept for a minute, with these headers, and names the caller of each request. */
function startCachingAgent(
  headers: Readonly<Record<string, string>>,
  answers: { status?: number } = {},
): Promise<StubAgent> {
  return StubAgent.start(({ headers: asked, number }, stub) => ({
    ...(number > 1 && answers),
    headers: { 'cache-control': 'max-age=60', ...headers },
    body: stub.card({ name: `${asked['x-user'] ?? asked.authorization ?? 'anyone'} ${number}` }),
  }));
}

const nameAt = async (url: string, options: ConnectOptions) => (await connect(url, options)).card.name;

describe('two clients with different fetch functions', () => {
  /** A fetch that adds the user, as a proxy or a session would. */
  const fetchOf =
    (user: string): NonNullable<ConnectOptions['fetch']> =>
    (url, init) =>
      fetch(url, { ...init, headers: { ...(init.headers as object), 'x-user': user } });

  it.each<readonly [string, (() => CardCache) | undefined]>([
    ['the cache of the process', undefined],
    ['one memory cache', memoryCardCache],
    ['one cache of the caller', shownCache],
  ])('do not share cards in %s', async (_, cacheOf) => {
    await using stub = await startCachingAgent({});
    const shared = cacheOf === undefined ? {} : { cardCache: cacheOf() };
    const [ada, bob] = [fetchOf('ada'), fetchOf('bob')];
    expect(await nameAt(stub.url, { ...shared, fetch: ada })).toBe('ada 1');
    expect(await nameAt(stub.url, { ...shared, fetch: bob })).toBe('bob 2');
    expect(await nameAt(stub.url, shared)).toBe('anyone 3');
    // Each of them finds its own card again.
    expect(await nameAt(stub.url, { ...shared, fetch: ada })).toBe('ada 1');
    expect(await nameAt(stub.url, { ...shared, fetch: bob })).toBe('bob 2');
    expect(await nameAt(stub.url, shared)).toBe('anyone 3');
    expect(stub.calls).toHaveLength(3);
  });

  it('do not share catalogs either', async () => {
    await using stub = await StubAgent.start(({ headers, url }, stub) =>
      url === '/catalog.json'
        ? {
            headers: { 'cache-control': 'max-age=60' },
            body: {
              specVersion: '1.0',
              entries: [
                {
                  identifier: 'x',
                  type: 'application/a2a-agent-card+json',
                  data: stub.card({ name: String(headers['x-user']) }),
                },
              ],
            },
          }
        : { status: 404 },
    );
    const cardCache = memoryCardCache();
    const url = `${stub.url}/catalog.json`;
    expect(await nameAt(url, { cardCache, fetch: fetchOf('ada') })).toBe('ada');
    expect(await nameAt(url, { cardCache, fetch: fetchOf('bob') })).toBe('bob');
  });

  it('are bounded together', async () => {
    const cardCache = memoryCardCache();
    const asked: string[] = [];
    await using stub = await startCachingAgent({});
    const body = JSON.stringify(stub.card());
    const countFetches =
      (name: string): NonNullable<ConnectOptions['fetch']> =>
      async () => {
        asked.push(name);
        return new Response(body, { headers: { 'cache-control': 'max-age=60' } });
      };
    const first = countFetches('first');
    await connect(stub.url, { cardCache, fetch: first });
    for (let at = 0; at < 1_000; at++) await connect(stub.url, { cardCache, fetch: countFetches(`${at}`) });
    await connect(stub.url, { cardCache, fetch: first });
    expect(asked.filter((name) => name === 'first')).toHaveLength(2);
  });
});

describe('a card that varies (RFC 9111 §4.1)', () => {
  it.each(['Authorization', 'x-user', 'Accept, X-User', 'accept,authorization , x-user'])(
    'by %s is not given to a caller with other headers',
    async (vary) => {
      await using stub = await startCachingAgent({ vary });
      const cardCache = shownCache();
      expect(await nameAt(stub.url, { cardCache })).toBe('anyone 1');
      expect(await nameAt(stub.url, { cardCache, cardHeaders: { Authorization: 'ada' } })).toBe('ada 2');
      expect(await nameAt(stub.url, { cardCache, cardHeaders: { 'X-User': 'bob' } })).toBe('bob 3');
      expect(await nameAt(stub.url, { cardCache })).toBe('anyone 1');
    },
  );

  it.each(['*', ' * ', 'Accept, *', '*,accept'])('by %j is asked for each time', async (vary) => {
    await using stub = await startCachingAgent({ vary, etag: '"1"' });
    const cardCache = shownCache();
    expect(await nameAt(stub.url, { cardCache })).toBe('anyone 1');
    expect(await nameAt(stub.url, { cardCache })).toBe('anyone 2');
  });

  it('by headers of the client is kept with their values, and is another one for other values', async () => {
    await using stub = await startCachingAgent({ vary: 'A2A-Version, Accept', etag: '"1"' });
    const cardCache = shownCache();
    await connect(stub.url, { cardCache });
    const [[key, kept] = []] = cardCache.entries;
    expect(kept?.vary).toEqual({ 'a2a-version': '1.0', accept: 'application/json' });
    // As another release of the client stored it, in a cache on disk.
    if (key !== undefined && kept !== undefined)
      cardCache.entries.set(key, { ...kept, vary: { 'a2a-version': '0.3', accept: 'application/json' } });
    expect(await nameAt(stub.url, { cardCache })).toBe('anyone 2');
    expect(stub.calls.at(-1)?.headers['if-none-match']).toBeUndefined();
    expect(await nameAt(stub.url, { cardCache })).toBe('anyone 2');
  });

  it('by cookies, which a browser adds unseen, is asked for again', async () => {
    await using stub = await startCachingAgent({ vary: 'Cookie', etag: '"1"' });
    const cardCache = shownCache();
    expect(await nameAt(stub.url, { cardCache })).toBe('anyone 1');
    expect(await nameAt(stub.url, { cardCache })).toBe('anyone 2');
    expect(stub.calls.at(-1)?.headers['if-none-match']).toBe('"1"');
  });

  it('keeps that after an answer without the header', async () => {
    await using stub = await StubAgent.start(({ number }, stub) =>
      number === 1
        ? { headers: { 'cache-control': 'no-cache', etag: '"1"', vary: 'Accept' }, body: stub.card() }
        : { status: 304, headers: { 'cache-control': 'max-age=60' } },
    );
    const cardCache = shownCache();
    await connect(stub.url, { cardCache });
    await connect(stub.url, { cardCache });
    const [[, kept] = []] = cardCache.entries;
    expect(kept).toMatchObject({ etag: '"1"', vary: { accept: 'application/json' } });
  });
});
