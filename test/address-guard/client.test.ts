import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CardCache, type ConnectOptions, connect } from '../../packages/parley/src/exports/client.js';
import { result, StubAgent, task } from '../client/stub-agent.js';

/** A public address that is never called: its documents are in the cache. */
const PUBLIC = 'http://93.184.216.34';
const CARD = '/.well-known/agent-card.json';

let stub: StubAgent;
beforeAll(async () => {
  stub = await StubAgent.start(({ method, url }, agent) =>
    method === 'POST' ? result(task()) : url === CARD ? { body: agent.card() } : { status: 404 },
  );
});
afterAll(() => stub[Symbol.asyncDispose]());
beforeEach(() => {
  stub.calls.length = 0;
});

/** Documents as if they had just been fetched. */
function cacheOf(documents: Readonly<Record<string, object>>): CardCache {
  return {
    get: (key) => {
      // A client with a `fetch` of its own adds the name of that function.
      const document = documents[key.split(' ')[0] ?? ''];
      return document && { text: JSON.stringify(document), freshUntil: Number.POSITIVE_INFINITY };
    },
    set: () => {},
  };
}

const catalogOf = (url: string) => ({
  specVersion: '1.0',
  entries: [{ identifier: 'one', mediaType: 'application/a2a-agent-card+json', url }],
});

describe('a url that the caller did not name', () => {
  const foundCard = (options: ConnectOptions = {}) =>
    connect(PUBLIC, { cardCache: cacheOf({ [`${PUBLIC}${CARD}`]: stub.card() }), ...options });
  const foundCatalog = (options: ConnectOptions = {}) =>
    connect(`${PUBLIC}/catalog.json#one`, {
      cardCache: cacheOf({ [`${PUBLIC}/catalog.json`]: catalogOf(`${stub.url}${CARD}`) }),
      ...options,
    });

  it('is not called if a public card or catalog leads to a private address', async () => {
    const refusal = `${stub.url} is not called: its address is not public, and the caller did not name it`;
    const client = await foundCard();
    await expect(client.getTask('t1')).rejects.toThrow(refusal);
    await expect(client.ask('hello')).rejects.toThrow(refusal);
    await expect(foundCatalog()).rejects.toThrow(refusal);
    expect(stub.calls).toEqual([]);
  });

  it('is called if the caller trusts its origin', async () => {
    const trustedOrigins = [stub.url];
    expect(await (await foundCard({ trustedOrigins })).getTask('t1')).toEqual(task());
    expect(await (await foundCatalog({ trustedOrigins })).getTask('t1')).toEqual(task());
  });

  it('is called by the fetch of the caller', async () => {
    const client = await foundCard({ fetch: (url, init) => fetch(url, init) });
    expect(await client.getTask('t1')).toEqual(task());
  });

  it('is called if the caller named a private address already', async () => {
    const elsewhere = { ...stub.card(), supportedInterfaces: stub.card({}).supportedInterfaces };
    const other = stub.url.replace('127.0.0.1', '127.0.0.2');
    const client = await connect(other, { cardCache: cacheOf({ [`${other}${CARD}`]: elsewhere }) });
    expect(await client.getTask('t1')).toEqual(task());
  });
});

it('a url of the caller is called, also if it is private, and so are those of a card that the caller has', async () => {
  expect(await (await connect(stub.url)).getTask('t1')).toEqual(task());
  expect(await (await connect(stub.card())).getTask('t1')).toEqual(task());
});
