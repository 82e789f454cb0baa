import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  AgentCardError,
  type CachedDocument,
  connect,
  memoryCardCache,
} from '../../packages/parley/src/exports/client.js';
import { result, StubAgent, type StubAnswer, task } from './stub-agent.js';

const CARD = '/.well-known/agent-card.json';
const CATALOG = '/.well-known/ai-catalog.json';
const missing: StubAnswer = { status: 404 };

/** A stub with these documents under their paths, and calls answered everywhere else. */
function serveDocuments(documents: (stub: StubAgent) => Readonly<Record<string, StubAnswer>>): Promise<StubAgent> {
  return StubAgent.start(({ method, url }, stub) => {
    if (method === 'POST') return result(task());
    return documents(stub)[url] ?? missing;
  });
}

/** With a cache of its own, so that tests do not share cards. */
function alone(cached = new Map<string, CachedDocument>()) {
  return {
    cardCache: {
      get: (url: string) => cached.get(url),
      set: (url: string, card: CachedDocument) => void cached.set(url, card),
    },
  };
}

const gets = (stub: StubAgent) => stub.calls.filter(({ method }) => method === 'GET').map(({ url }) => url);

describe('the card of an agent is found', () => {
  it.each<readonly [string, string, readonly string[], readonly string[]]>([
    ['at the origin', '/', [CARD], [CARD]],
    ['below a path', '/agents/one', [`/agents/one${CARD}`], [`/agents/one${CARD}`]],
    ['below a path with a slash', '/agents/one/', [`/agents/one${CARD}`], [`/agents/one${CARD}`]],
    ['where version 0.2 has it', '/', ['/.well-known/agent.json'], [CARD, '/.well-known/agent.json']],
    ['by its own url', '/somewhere/card.json?v=2', ['/somewhere/card.json?v=2'], ['/somewhere/card.json?v=2']],
    ['behind a page that stands for everything', '/', ['/.well-known/agent.json'], [CARD, '/.well-known/agent.json']],
  ])('%s', async (what, path, there, asked) => {
    const page: StubAnswer = { headers: { 'content-type': 'text/html' }, body: '<html>' };
    await using stub = await serveDocuments((stub) => ({
      ...(what.includes('page') && { [CARD]: page }),
      ...Object.fromEntries(there.map((url) => [url, { body: stub.card() }])),
    }));
    const client = await connect(stub.url + path, alone());
    expect(client.card.name).toBe('Stub');
    expect(gets(stub)).toEqual(asked);
    expect(await client.getTask('t1')).toEqual(task());
  });

  it('with members that nobody knows, at any depth, and without those that may be absent', async () => {
    const strange = { tomorrow: { is: ['another', 'day'] } };
    await using stub = await serveDocuments((stub) => ({
      [CARD]: {
        body: {
          ...stub.card({
            skills: [{ id: 's', name: 'S', description: '', tags: [], ...strange }],
            capabilities: { streaming: true, extensions: [{ uri: 'urn:x', ...strange }], ...strange },
            securitySchemes: { odd: { quantumSecurityScheme: {} } as never },
            provider: { organization: 'O', url: 'https://o.example', ...strange } as never,
          }),
          supportedInterfaces: [{ url: stub.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', ...strange }],
          ...strange,
        },
      },
      '/old/.well-known/agent-card.json': {
        body: { name: 'Old', url: stub.url, protocolVersion: '0.3.0', ...strange, skills: [strange] },
      },
      '/bare/.well-known/agent-card.json': {
        body: {
          name: 'Bare',
          supportedInterfaces: [{ url: stub.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        },
      },
    }));
    expect(await (await connect(stub.url, alone())).getTask('t1')).toEqual(task());
    expect((await connect(`${stub.url}/old`, alone())).card.name).toBe('Old');
    expect(await (await connect(`${stub.url}/bare`, alone())).getTask('t1')).toEqual(task());
  });

  it('at the origin, for the url of one of its interfaces and no other', async () => {
    await using stub = await serveDocuments((stub) => ({
      [CARD]: {
        body: stub.card({
          supportedInterfaces: [{ url: `${stub.url}/a2a/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        }),
      },
    }));
    expect((await connect(`${stub.url}/a2a/rpc`, alone())).agentInterface.url).toBe(`${stub.url}/a2a/rpc`);
    await expect(connect(`${stub.url}/another`, alone())).rejects.toMatchObject({
      name: 'AgentCardError',
      fault: 'not-found',
    });
  });

  it('over a redirect, which gets none of the headers meant for the first origin', async () => {
    await using other = await serveDocuments((stub) => ({ '/card.json': { body: stub.card() } }));
    await using stub = await serveDocuments(() => ({
      [CARD]: { status: 301, headers: { location: `${other.url}/card.json` } },
    }));
    const client = await connect(stub.url, { ...alone(), cardHeaders: { 'x-secret': 'a' } });
    expect(client.agentInterface.url).toBe(other.url);
    expect(stub.calls.at(-1)?.headers['x-secret']).toBe('a');
    expect(other.calls.at(-1)?.headers['x-secret']).toBeUndefined();
  });

  it('not over plain http once it was asked for over https, and not over more than three redirects', async () => {
    const asked: string[] = [];
    const redirectTo = (next: (url: string) => string) => async (url: string | URL | Request) => {
      asked.push(String(url));
      return new Response(null, { status: 302, headers: { location: next(String(url)) } });
    };
    const fetch = redirectTo((url) => url.replace('https:', 'http:'));
    await expect(connect('https://agent.example', { ...alone(), fetch })).rejects.toThrow('redirects to plain http');
    expect(asked.filter((url) => url.startsWith('http:'))).toEqual([]);
    asked.length = 0;
    const longer = redirectTo((url) => `${url}x`);
    await expect(connect('https://agent.example/card.json', { ...alone(), fetch: longer })).rejects.toThrow(
      'redirects more than 3 times',
    );
    expect(asked.filter((url) => /card\.jsonx*$/.test(url)).length).toBeLessThanOrEqual(4);
  });

  it('not by anything that is no url of the web', async () => {
    for (const reference of ['ftp://x.example', 'agent', './card.json', 'mailto:a@b.example', '']) {
      await expect(connect(reference)).rejects.toMatchObject({ name: 'AgentCardError', fault: 'invalid' });
    }
  });

  it('not where the server says so, and the error says what it said', async () => {
    await using stub = await StubAgent.start(({ number }) => ({ status: [401, 403, 500, 503][number - 1] ?? 404 }));
    for (const code of ['UNAUTHENTICATED', 'PERMISSION_DENIED', 'UNAVAILABLE', 'UNAVAILABLE']) {
      await expect(connect(stub.url, alone())).rejects.toMatchObject({ code });
    }
    await expect(connect(stub.url, alone())).rejects.toBeInstanceOf(AgentCardError);
  });
});

describe('in an AI catalog', () => {
  const entry = (identifier: string, more: object) => ({
    identifier,
    type: 'application/a2a-agent-card+json',
    ...more,
  });
  const catalog = (...entries: object[]): StubAnswer => ({ body: { specVersion: '1.0', entries } });

  it('the only agent is taken, by its url or as it stands there', async () => {
    await using stub = await serveDocuments((stub) => ({
      [CATALOG]: catalog({ identifier: 'x', type: 'text/html', url: '/x' }, entry('one', { url: '/card' })),
      '/card': { body: stub.card({ name: 'By url' }) },
      '/inline.json': catalog(entry('two', { data: stub.card({ name: 'Inline' }) })),
    }));
    expect((await connect(stub.url, alone())).card.name).toBe('By url');
    expect((await connect(`${stub.url}/inline.json`, alone())).card.name).toBe('Inline');
  });

  it('of several, the one named by its identifier, also in a catalog within, in its newest version', async () => {
    await using stub = await serveDocuments((stub) => ({
      [CATALOG]: catalog(
        entry('one', { data: stub.card({ name: 'One' }), version: '1.9.0' }),
        entry('one', { data: stub.card({ name: 'One, later' }), version: '1.10.0' }),
        { identifier: 'more', type: 'application/ai-catalog+json', url: '/more.json' },
      ),
      '/more.json': catalog(entry('two', { data: stub.card({ name: 'Two' }) }), {
        identifier: 'back',
        type: 'application/ai-catalog+json',
        url: CATALOG,
      }),
    }));
    expect((await connect(`${stub.url}#one`, alone())).card.name).toBe('One, later');
    expect((await connect(`${stub.url}#two`, alone())).card.name).toBe('Two');
    await expect(connect(stub.url, alone())).rejects.toMatchObject({ fault: 'ambiguous', choices: ['one', 'two'] });
    await expect(connect(`${stub.url}#three`, alone())).rejects.toMatchObject({
      fault: 'not-found',
      choices: ['one', 'two'],
    });
  });

  it('no more than 20 documents are asked for, however the catalogs are nested', async () => {
    const nestCatalog = (path: string): StubAnswer =>
      catalog(
        ...Array.from({ length: 50 }, (_, at) => ({
          identifier: `${at}`,
          type: 'application/ai-catalog+json',
          url: `${path}${at}.json`,
        })),
      );
    await using stub = await StubAgent.start(({ url }) =>
      url === CATALOG || /\d/.test(url) ? nestCatalog(url) : missing,
    );
    await expect(connect(stub.url, alone())).rejects.toMatchObject({
      name: 'AgentCardError',
      fault: 'invalid',
      message: expect.stringContaining('20 documents'),
    });
    expect(stub.calls).toHaveLength(20);
  });

  it('an address that is no http or https url is not asked', async () => {
    const data = `data:application/json,${encodeURIComponent(JSON.stringify({ name: 'x' }))}`;
    await using stub = await serveDocuments(() => ({
      [CATALOG]: catalog(entry('data', { url: data }), entry('file', { url: 'file:///etc/hostname' })),
      '/broken.json': catalog(entry('one', { url: 'http://' })),
    }));
    for (const identifier of ['data', 'file'])
      await expect(connect(`${stub.url}#${identifier}`, alone())).rejects.toMatchObject({
        name: 'AgentCardError',
        fault: 'invalid',
        message: expect.stringContaining(`${identifier}:`),
      });
    await expect(connect(`${stub.url}/broken.json`, alone())).rejects.toMatchObject({ fault: 'not-found' });
  });

  it('named by a fragment that is broken, nothing is asked for', async () => {
    await expect(connect('http://127.0.0.1:9#%')).rejects.toMatchObject({ fault: 'invalid' });
  });

  it('of a later kind, nothing is guessed', async () => {
    await using stub = await serveDocuments(() => ({ [CATALOG]: { body: { specVersion: '2.0', entries: [] } } }));
    await expect(connect(stub.url, alone())).rejects.toMatchObject({ fault: 'invalid' });
  });
});

describe('a document that is too much', () => {
  const LIMIT = 1024 * 1024;
  const padCard = (stub: StubAgent, bytes: number) => {
    const card = JSON.stringify(stub.card({ description: 'd' }));
    return card.replace('"d"', JSON.stringify('d'.repeat(bytes - card.length + 1)));
  };
  const tooLong = {
    name: 'AgentCardError',
    fault: 'invalid',
    message: expect.stringContaining(`${LIMIT} bytes`),
  };

  it('is read up to 1 MiB, not a byte further', async () => {
    await using stub = await serveDocuments((stub) => ({
      '/most.json': { body: padCard(stub, LIMIT) },
      '/more.json': { body: padCard(stub, LIMIT + 1) },
    }));
    expect((await connect(`${stub.url}/most.json`, alone())).card.name).toBe('Stub');
    await expect(connect(`${stub.url}/more.json`, alone())).rejects.toMatchObject(tooLong);
  });

  it('is refused as soon as it passes that, also where it is compressed', async () => {
    let sent = 0;
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    await using stub = await StubAgent.start(() => (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.on('close', resolve);
      const gzip = createGzip();
      const zeros = Readable.from(
        (function* () {
          // 10 GB, far beyond the limit of the client.
          for (; sent < 10_000; sent++) yield Buffer.alloc(1024 * 1024);
        })(),
      );
      pipeline(zeros, gzip, response).catch(() => {});
    });
    await expect(connect(stub.url, alone())).rejects.toMatchObject(tooLong);
    await gone;
    expect(sent).toBeLessThan(1_000);
  });

  it('is no extended card either', async () => {
    await using stub = await StubAgent.start((_, stub) => result({ ...stub.card(), description: 'd'.repeat(LIMIT) }));
    const client = await connect(stub.card({ capabilities: { extendedAgentCard: true } }));
    await expect(client.getExtendedAgentCard()).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
  });

  it('is not where a redirect leads that is no http or https url', async () => {
    for (const location of ['data:application/json,{}', 'file:///etc/hostname', 'blob:x', 'http://']) {
      await using stub = await serveDocuments(() => ({ [CARD]: { status: 302, headers: { location } } }));
      await expect(connect(stub.url, alone())).rejects.toMatchObject({ name: 'AgentCardError', fault: 'invalid' });
    }
  });
});

describe('cards in memory', () => {
  it('are bounded by their bytes, the ones used last being kept', async () => {
    const cache = memoryCardCache();
    const text = 'x'.repeat(1024 * 1024);
    for (let at = 0; at < 100; at++) {
      cache.set(`https://agent.example/${at}`, { text, freshUntil: 0 });
      expect(await cache.get('https://agent.example/0')).toBeDefined();
    }
    const kept = Array.from({ length: 100 }, (_, at) => cache.get(`https://agent.example/${at}`) !== undefined);
    expect(kept.filter(Boolean).length).toBeLessThanOrEqual(16);
    expect([kept[0], kept[1], kept[99]]).toEqual([true, false, true]);
  });

  it('are bounded by their number', () => {
    const cache = memoryCardCache();
    for (let at = 0; at < 2_000; at++) cache.set(`https://agent.example/${at}`, { text: '{}', freshUntil: 0 });
    expect([cache.get('https://agent.example/0'), cache.get('https://agent.example/1999')]).toEqual([
      undefined,
      { text: '{}', freshUntil: 0 },
    ]);
  });
});

describe('a card is kept', () => {
  const headers = (more: object) => ({ date: new Date().toUTCString(), ...more });

  it.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ['as long as it says', { 'cache-control': 'public, max-age=60' }, 1],
    ['until its time', { expires: new Date(Date.now() + 60_000).toUTCString() }, 1],
    ['for a while where it says nothing', {}, 1],
    ['only to be asked for again', { 'cache-control': 'no-cache', etag: '"1"' }, 2],
    ['no longer than it has been under way', { 'cache-control': 'max-age=60', age: '60' }, 2],
    ['not at all', { 'cache-control': 'no-store', etag: '"1"' }, 2],
    ['not beyond a time in the past', { expires: '0' }, 2],
  ])('%s (RFC 9111)', async (_, said, asked) => {
    await using stub = await serveDocuments((stub) => ({ [CARD]: { headers: headers(said), body: stub.card() } }));
    const cache = alone();
    await connect(stub.url, cache);
    await connect(stub.url, cache);
    expect(gets(stub)).toHaveLength(asked);
  });

  it('and asked for by what is known of it', async () => {
    const changed = new Date(Date.now() - 10_000).toUTCString();
    await using stub = await StubAgent.start(({ headers: asked, number }, stub) =>
      number > 1 && asked['if-none-match'] === '"1"' && asked['if-modified-since'] === changed
        ? { status: 304, headers: headers({ 'cache-control': 'max-age=60' }) }
        : {
            headers: headers({ 'cache-control': 'max-age=0', etag: '"1"', 'last-modified': changed }),
            body: stub.card(),
          },
    );
    const cache = alone();
    for (let time = 0; time < 4; time++) expect((await connect(stub.url, cache)).card.name).toBe('Stub');
    expect(stub.calls.map(({ headers: { 'if-none-match': tag } }) => tag)).toEqual([undefined, '"1"']);
  });

  it('for nobody else where it was asked for with headers', async () => {
    await using stub = await serveDocuments((stub) => ({
      [CARD]: { headers: headers({ 'cache-control': 'max-age=60' }), body: stub.card() },
    }));
    const cached = new Map<string, CachedDocument>();
    await connect(stub.url, { ...alone(cached), cardHeaders: { 'x-me': '1' } });
    expect(cached.size).toBe(0);
  });

  it('and a cache that fails harms nobody', async () => {
    await using stub = await serveDocuments((stub) => ({ [CARD]: { body: stub.card() } }));
    const fails = () => Promise.reject(new Error('disk full'));
    expect((await connect(stub.url, { cardCache: { get: fails, set: fails } })).card.name).toBe('Stub');
  });
});

describe('of several interfaces', () => {
  const interfaces = (url: string) => [
    { url: '127.0.0.1:443', protocolBinding: 'GRPC', protocolVersion: '1.0' },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0.1', tenant: 'a b' },
    { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'c' },
  ];
  const agent = () => StubAgent.start(({ url }) => (url.startsWith('/rest') ? { body: task() } : result(task())));

  it('the first that is known is used, with its tenant, unless the caller prefers or pins another (Spec §8.3.2)', async () => {
    await using stub = await agent();
    const card = stub.card({ supportedInterfaces: interfaces(stub.url) });
    await (await connect(card)).getTask('t1');
    await (await connect(card, { prefer: ['JSONRPC'] })).getTask('t1');
    await (await connect(card, { binding: 'JSONRPC', tenant: 'mine' })).getTask('t1');
    expect(stub.calls.map(({ url }) => url)).toEqual(['/rest/a%20b/tasks/t1', '/rpc', '/rpc']);
    expect(stub.calls.map(({ headers }) => headers['a2a-version'])).toEqual(['1.0', '1.0', '1.0']);
    expect(stub.calls.map(({ json }) => json?.params)).toEqual([
      undefined,
      { id: 't1', tenant: 'c' },
      { id: 't1', tenant: 'mine' },
    ]);
  });

  it('none is used that the caller did not pin', async () => {
    await using stub = await agent();
    const card = stub.card({ supportedInterfaces: interfaces(stub.url) });
    for (const wish of [{ version: '2.0' }, { binding: 'WEBSOCKET' }, { binding: 'JSONRPC', version: '0.3' }]) {
      await expect(connect(card, wish)).rejects.toMatchObject({
        code: 'version' in wish ? 'VERSION_NOT_SUPPORTED' : 'UNSUPPORTED_OPERATION',
        message: expect.stringContaining('its card has GRPC 1.0, HTTP+JSON 1.0, JSONRPC 1.0'),
      });
    }
  });

  it('gRPC that the caller cannot speak is refused with the way to get it', async () => {
    const grpc = { url: '127.0.0.1:443', protocolBinding: 'GRPC', protocolVersion: '1.0' };
    await using stub = await agent();
    const get = 'Run npm install parley-a2a-grpc, and connect with bindings: [grpcTransport()] of parley-a2a-grpc';
    await expect(connect(stub.card({ supportedInterfaces: [grpc] }))).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPERATION',
      message: `Stub offers gRPC only, which needs packages. ${get}`,
    });
    const both = stub.card({ supportedInterfaces: [...stub.card().supportedInterfaces, grpc] });
    await expect(connect(both, { binding: 'GRPC' })).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPERATION',
      message: `Stub offers gRPC, which needs packages. ${get}`,
    });
  });

  it('one with another scheme than http and https is not called', async () => {
    await using stub = await agent();
    const ftp = { url: 'ftp://a.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
    const ws = { ...ftp, url: 'ws://a.example/rpc', protocolBinding: 'HTTP+JSON' };
    await expect(connect(stub.card({ supportedInterfaces: [ftp, ws] }))).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPERATION',
      message: expect.stringContaining('JSONRPC 1.0 (ftp: is not http or https)'),
    });
    // Other bindings have schemes of their own.
    const capnweb = { ...ftp, url: 'ws://a.example/rpc', protocolBinding: 'CAPNWEB' };
    await expect(connect(stub.card({ supportedInterfaces: [capnweb] }))).rejects.toMatchObject({
      message: expect.stringMatching(/its card has CAPNWEB 1\.0$/),
    });
    const good = { ...ftp, url: `${stub.url}/rpc` };
    const client = await connect(stub.card({ supportedInterfaces: [ftp, ws, good] }));
    expect(client.agentInterface.url).toBe(good.url);
    const content = { ...ftp, url: 'data:application/json,{}' };
    const beside = await connect(stub.card({ supportedInterfaces: [content, good] }));
    expect(beside.card.supportedInterfaces).toEqual([good]);
  });

  it('the next one is tried where one does not speak its version after all, but not where the caller has pinned it', async () => {
    await using stub = await StubAgent.start(({ url }) =>
      url.startsWith('/rest')
        ? {
            status: 400,
            body: {
              error: {
                code: 400,
                message: 'no',
                details: [{ domain: 'a2a-protocol.org', reason: 'VERSION_NOT_SUPPORTED' }],
              },
            },
          }
        : result(task()),
    );
    const card = stub.card({ supportedInterfaces: interfaces(stub.url) });
    const client = await connect(card);
    expect(await client.getTask('t1')).toEqual(task());
    expect(client.agentInterface.protocolBinding).toBe('JSONRPC');
    await expect((await connect(card, { binding: 'HTTP+JSON' })).getTask('t1')).rejects.toMatchObject({
      code: 'VERSION_NOT_SUPPORTED',
    });
  });
});
