import { describe, expect, it } from 'vitest';
import { connect, fetchAgentCard, memoryCardCache } from '../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../packages/parley/src/exports/credentials.js';
import { result, StubAgent, type StubAnswer, task } from './stub-agent.js';

const CARD = '/.well-known/agent-card.json';
const LEGACY_CARD = '/.well-known/agent.json';
const CATALOG = '/.well-known/ai-catalog.json';
const missing: StubAnswer = { status: 404 };

/** A stub with these documents under their paths, and calls answered everywhere else. */
function serveDocuments(documents: (stub: StubAgent) => Readonly<Record<string, StubAnswer>>): Promise<StubAgent> {
  return StubAgent.start(({ method, url }, stub) => {
    if (method === 'POST') return result(task());
    return documents(stub)[url] ?? missing;
  });
}

const alone = () => ({ cardCache: memoryCardCache() });
const gets = (stub: StubAgent) => stub.calls.filter(({ method }) => method === 'GET').map(({ url }) => url);

describe('the url of a card that does not end in .json', () => {
  it.each<readonly [string, readonly string[]]>([
    ['/a2a/v1/card', []],
    ['/agents/one/agentCard', []],
    ['/agents/one/agent-card', []],
    ['/extendedAgentCard', []],
    ['/cards/card?agent=5', []],
    ['/agents/5', [`/agents/5${CARD}`, `/agents/5${LEGACY_CARD}`, CARD]],
    ['/agents/5/?format=json', [`/agents/5${CARD}`, `/agents/5${LEGACY_CARD}`, CARD]],
    ['/?agent=5', [CARD, LEGACY_CARD]],
  ])('%s leads to its card', async (path, asked) => {
    await using stub = await serveDocuments((stub) => ({ [path]: { body: stub.card() } }));
    const client = await connect(stub.url + path, alone());
    expect(gets(stub)).toEqual([...asked, path]);
    expect(await client.getTask('t1')).toEqual(task());
  });

  it('/ leads to the card of an agent that has it there', async () => {
    await using stub = await serveDocuments((stub) => ({ '/': { body: stub.card() } }));
    expect((await connect(stub.url, alone())).card.name).toBe('Stub');
    expect(gets(stub).filter((url) => url === '/')).toHaveLength(1);
  });

  it('leads to a catalog, too', async () => {
    await using stub = await serveDocuments((stub) => ({
      '/api/agents': {
        body: {
          specVersion: '1.0',
          entries: ['one', 'two'].map((identifier) => ({
            identifier,
            type: 'application/a2a-agent-card+json',
            data: stub.card({ name: identifier }),
          })),
        },
      },
    }));
    expect((await connect(`${stub.url}/api/agents#two`, alone())).card.name).toBe('two');
    await expect(connect(`${stub.url}/api/agents`, alone())).rejects.toMatchObject({ fault: 'ambiguous' });
  });

  it.each(['text/plain', 'application/octet-stream', 'text/html', 'application/a2a-agent-card+json; charset=utf-8'])(
    'is read as %s, with a byte order mark',
    async (type) => {
      await using stub = await serveDocuments((stub) => ({
        '/a2a/v1/card': { headers: { 'content-type': type }, body: `\uFEFF${JSON.stringify(stub.card())}` },
      }));
      expect((await connect(`${stub.url}/a2a/v1/card`, alone())).card.name).toBe('Stub');
    },
  );

  it('gets the headers for the card, and no credential of calls', async () => {
    await using stub = await serveDocuments((stub) => ({ '/a2a/v1/card': { body: stub.card() } }));
    const client = await connect(`${stub.url}/a2a/v1/card`, {
      ...alone(),
      cardHeaders: { 'x-card': 'c' },
      credentials: bearerToken('t'),
    });
    await client.getTask('t1');
    const [asked, called] = stub.calls;
    expect([asked?.headers['x-card'], asked?.headers.authorization]).toEqual(['c', undefined]);
    expect([called?.headers['x-card'], called?.headers.authorization]).toEqual([undefined, 'Bearer t']);
  });

  it('that needs credentials says so', async () => {
    await using stub = await StubAgent.start(({ url }) => (url === '/a2a/v1/card' ? { status: 401 } : missing));
    await expect(connect(`${stub.url}/a2a/v1/card`, alone())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe('the url of a base or of an interface is asked as before', () => {
  it('first for the well-known paths, and nothing else if the card is there', async () => {
    await using stub = await serveDocuments((stub) => ({ [`/agents/5${CARD}`]: { body: stub.card() } }));
    await connect(`${stub.url}/agents/5`, alone());
    expect(gets(stub)).toEqual([`/agents/5${CARD}`]);
  });

  it('an interface is not asked if the card at the origin lists it', async () => {
    await using stub = await serveDocuments((stub) => ({
      [CARD]: {
        body: stub.card({
          supportedInterfaces: [{ url: `${stub.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        }),
      },
    }));
    await connect(`${stub.url}/rpc`, alone());
    expect(gets(stub)).toEqual([`/rpc${CARD}`, `/rpc${LEGACY_CARD}`, CARD]);
  });

  it('an agent whose path ends in card is found below it', async () => {
    await using stub = await serveDocuments((stub) => ({ [`/business-card${CARD}`]: { body: stub.card() } }));
    expect((await connect(`${stub.url}/business-card`, alone())).card.name).toBe('Stub');
    expect(gets(stub)).toEqual(['/business-card', `/business-card${CARD}`]);
  });

  it.each<readonly [string, StubAnswer]>([
    ['an error', { status: 400, body: { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no' } } }],
    ['a failure', { status: 500 }],
    ['a refusal', { status: 401 }],
    ['an error with 200', { body: { error: 'POST only' } }],
    ['a page', { headers: { 'content-type': 'text/html' }, body: '<html></html>' }],
    ['a redirect that is not followed', { status: 302, headers: { location: 'file:///etc/passwd' } }],
    [
      'an event stream without an end',
      (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n'),
    ],
  ])('%s at the url itself ends no search', async (_, answer) => {
    await using stub = await serveDocuments((stub) => ({
      '/rpc': answer,
      [CATALOG]: {
        body: {
          specVersion: '1.0',
          entries: [{ identifier: 'x', type: 'application/a2a-agent-card+json', data: stub.card() }],
        },
      },
    }));
    expect((await connect(`${stub.url}/rpc`, { ...alone(), timeoutMs: 5_000 })).card.name).toBe('Stub');
    await using bare = await serveDocuments(() => ({ '/rpc': answer }));
    await expect(connect(`${bare.url}/rpc`, { ...alone(), timeoutMs: 5_000 })).rejects.toMatchObject({
      name: 'AgentCardError',
      fault: 'not-found',
    });
  });
});

describe('a document that is no card is invalid, and the error says what it is', () => {
  const page: StubAnswer = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Hi</title>' };
  const documents: readonly (readonly [string, StubAnswer, RegExp])[] = [
    ['a page', page, /a web page/],
    ['nothing', { body: '' }, /is empty/],
    ['a text', { body: 'Welcome' }, /no JSON/],
    ['broken JSON', { body: '{"name":' }, /no JSON/],
    ['a list', { body: '[]' }, /a list/],
    ['null', { body: 'null' }, /null/],
    ['a JSON text', { body: '"text"' }, /a text/],
    ['an empty object', { body: '{}' }, /no members/],
    ['an error', { body: { error: { code: 404, message: 'none' } } }, /its members are error/],
    [
      'an OpenAPI document',
      { body: { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: {} } },
      /openapi, info, paths/,
    ],
    ['a manifest', { body: { name: 'package', version: '1.0.0' } }, /name, version/],
    [
      'a wrapped card',
      { body: { agentCard: { name: 'A', url: 'https://a.example', skills: [] } } },
      /its member agentCard is one/,
    ],
    ['a card of another shape', { body: { name: 7, supportedInterfaces: [] } }, /card\.name is not a text/],
    [
      'interfaces of another shape',
      { body: { name: 'A', supportedInterfaces: 'x' } },
      /supportedInterfaces is not a list/,
    ],
  ];

  it.each(documents)('%s', async (_, answer, says) => {
    for (const path of [CARD, '/some/card.json', '/a2a/v1/card']) {
      await using stub = await serveDocuments(() => ({ [path]: answer }));
      const reference = path === CARD ? stub.url : stub.url + path;
      for (const search of [connect, fetchAgentCard]) {
        const error = await search(reference, alone()).then(
          () => undefined,
          (thrown: unknown) => thrown as Error,
        );
        expect(error).toMatchObject({ name: 'AgentCardError', fault: 'invalid' });
        expect(error?.message).toMatch(says);
        expect(error?.message).toContain(stub.url + path);
      }
    }
  });

  it('a page at the well-known path does not hide a card elsewhere', async () => {
    await using stub = await serveDocuments((stub) => ({ [CARD]: page, [LEGACY_CARD]: { body: stub.card() } }));
    expect((await connect(stub.url, alone())).card.name).toBe('Stub');
  });

  it('pages at other paths only: there is no card', async () => {
    await using stub = await serveDocuments(() => ({ '/': page, '/discover': page, [CATALOG]: page }));
    await expect(connect(stub.url, alone())).rejects.toMatchObject({ fault: 'not-found' });
  });

  it('a catalog that is named as a card', async () => {
    const catalog = (url: string) => ({
      specVersion: '1.0',
      entries: [{ identifier: 'x', type: 'application/a2a-agent-card+json', url }],
    });
    await using stub = await serveDocuments(() => ({
      [CATALOG]: { body: catalog('/more.json') },
      '/more.json': { body: catalog('/x.json') },
    }));
    await expect(connect(stub.url, alone())).rejects.toMatchObject({ name: 'AgentCardError', fault: 'invalid' });
  });

  it.each<readonly [string, unknown]>([
    ['an empty object', {}],
    ['an error', { error: 'x' }],
    ['a list', []],
  ])('given as an object: %s', async (_, document) => {
    await expect(connect(document as never)).rejects.toMatchObject({ name: 'AgentCardError', fault: 'invalid' });
    await expect(fetchAgentCard(document as never)).rejects.toMatchObject({ name: 'AgentCardError', fault: 'invalid' });
  });
});
