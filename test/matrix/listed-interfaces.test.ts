import { describe, expect, it, onTestFinished } from 'vitest';
import {
  CAPNWEB_BATCH_BINDING,
  CAPNWEB_BINDING,
  capnwebBinding,
  capnwebTransport,
} from '../../packages/capnweb/src/index.js';
import { grpcBinding, grpcTransport, type Listed } from '../../packages/grpc/src/index.js';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { type Client, type ConnectOptions, connect, textOf } from '../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../packages/parley/src/exports/credentials.js';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';

const CAPNWEB = 'CAPNWEB';
const CARD = '/.well-known/agent-card.json';
const OLD_CARD = '/.well-known/agent.json';
/** The transports of 0.3. Many of its clients refuse a card with another one. */
const CORE = ['JSONRPC', 'HTTP+JSON', 'GRPC'];
const TOKEN = 'pl4nted-s3cret-of-ada';

interface Card {
  readonly supportedInterfaces?: readonly { url: string; protocolBinding: string; protocolVersion: string }[];
  readonly url?: string;
  readonly preferredTransport?: string;
  readonly additionalInterfaces?: readonly { url: string; transport: string }[];
  readonly capabilities: object;
  readonly authentication?: readonly object[];
}

/** A server with every binding. `listed` is that of both further bindings. */
async function serveListed(listed?: Listed, options: object = {}) {
  const listing = listed === undefined ? {} : { listed };
  const server = createA2AServer({
    agent: (prompt: string) => `Echo: ${prompt}`,
    versions: ['1.0', '0.3', '0.2.5'],
    bindings: [grpcBinding({ port: 0, ...listing }), capnwebBinding(listing)],
    baseServer: {},
    logger: silentLogger,
    ...options,
  } as A2AServerOptions);
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const read = async (path: string, version?: string): Promise<unknown> =>
    (await fetch(url + path, { headers: version === undefined ? {} : { 'a2a-version': version } })).json();
  const cards = async (): Promise<readonly Card[]> =>
    (await Promise.all([
      read(CARD, '1.0'),
      read(CARD, '0.3'),
      read(CARD),
      read(OLD_CARD),
      read('/discover'),
    ])) as readonly Card[];
  return { server, url, read, cards };
}

/** Every url of a card, and its binding. */
function claims({ supportedInterfaces = [], url, preferredTransport, additionalInterfaces = [] }: Card) {
  return [
    ...supportedInterfaces.map((one) => ({ url: one.url, binding: one.protocolBinding })),
    ...(url === undefined ? [] : [{ url, binding: preferredTransport ?? 'JSONRPC' }]),
    ...additionalInterfaces.map((one) => ({ url: one.url, binding: one.transport })),
  ];
}

const protectedBy = {
  authenticator: new BearerTokens([{ token: TOKEN, subject: 'ada' }]),
  extendedAgentCard: (card: object) => card,
};

const clientOf = async (url: string, options: ConnectOptions) => {
  const client = await connect(url, { bindings: [grpcTransport(), capnwebTransport()], ...options });
  onTestFinished(() => client.close());
  return client;
};

/** The answer of the agent. */
async function echoOf(client: Client): Promise<string> {
  const answer = await client.sendMessage('hi');
  return textOf(answer.task !== undefined ? answer.task : answer.message);
}

describe('the cards of a server with every binding, without further options', () => {
  it.each([
    ['three versions', ['1.0', '0.3', '0.2.5']],
    ['1.0', ['1.0']],
    ['0.3', ['0.3']],
  ])('list interfaces of their own origin only: an agent of %s', async (_, versions) => {
    const { url, cards } = await serveListed(undefined, { versions });
    for (const card of await cards()) {
      if (!('name' in card)) continue;
      const foreign = claims(card).filter((one) => URL.parse(one.url)?.origin !== url);
      expect(foreign).toEqual([]);
    }
  });

  it('list the transports of 0.3 only, in the forms of 0.3', async () => {
    const { cards } = await serveListed();
    for (const { preferredTransport = 'JSONRPC', additionalInterfaces = [] } of await cards()) {
      const transports = [preferredTransport, ...additionalInterfaces.map(({ transport }) => transport)];
      expect(transports.filter((one) => !CORE.includes(one))).toEqual([]);
    }
  });

  it('are what the listing, the page and the server object show', async () => {
    const { server, url, read } = await serveListed();
    const { agents } = (await read('/')) as { readonly agents: readonly { readonly interfaces: readonly string[] }[] };
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
    const { supportedInterfaces } = server.agentCard;
    expect(agents[0]?.interfaces).toHaveLength(supportedInterfaces.length);
    for (const shown of [JSON.stringify(agents), JSON.stringify(server.agentCard), page])
      expect(shown).not.toMatch(/GRPC|CAPNWEB|ws:/);
    const hidden = server.interfaces.filter(({ listed = 'public' }) => listed !== 'public');
    expect(hidden.map((one) => `${one.protocolBinding} ${one.protocolVersion}`)).toEqual([
      'GRPC 1.0',
      'GRPC 0.3',
      'CAPNWEB 0.3',
    ]);
  });

  it('lead the client to sessions, and a card with the address to gRPC', async () => {
    const { server, url } = await serveListed();
    const session = await clientOf(url, { binding: CAPNWEB_BINDING });
    expect(session.agentInterface.url).toBe(`${url}/a2a/capnweb`);
    expect(await echoOf(session)).toBe('Echo: hi');
    await expect(connect(url, { binding: 'GRPC', bindings: [grpcTransport()] })).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPERATION',
    });
    const card = { ...server.agentCard, supportedInterfaces: server.interfaces };
    for (const version of ['1.0', '0.3']) {
      const client = await connect(card, { binding: 'GRPC', version, bindings: [grpcTransport()] });
      expect(await echoOf(client)).toBe('Echo: hi');
      client.close();
    }
  });
});

describe('the interfaces of a binding that is listed', () => {
  it('publicly are in every card of their version', async () => {
    const { server, url, cards } = await serveListed('public');
    const [current, , , , base] = await cards();
    const { url: grpc = '' } = server.interfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC') ?? {};
    const session = `${url}/a2a/capnweb`;
    expect(grpc).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(current?.supportedInterfaces).toEqual([
      { url: `${url}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${url}/a2a/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: grpc, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: session, protocolBinding: CAPNWEB_BINDING, protocolVersion: '1.0' },
      { url: session, protocolBinding: CAPNWEB_BATCH_BINDING, protocolVersion: '1.0' },
      { url: `${url}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: `${url}/a2a/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      { url: grpc, protocolBinding: 'GRPC', protocolVersion: '0.3' },
      { url: session, protocolBinding: CAPNWEB, protocolVersion: '0.3' },
    ]);
    const old = await serveListed('public', { versions: ['0.3'] });
    const [card] = await old.cards();
    expect(card?.additionalInterfaces?.map(({ transport }) => transport)).toEqual([...CORE, CAPNWEB]);
    expect(base).not.toHaveProperty('additionalInterfaces');
  });

  it.each(['GRPC', CAPNWEB_BINDING])(
    'in the extended card are there only, where a client finds %s',
    async (binding) => {
      const { url, cards } = await serveListed('extended', protectedBy);
      for (const card of await cards()) {
        expect(claims(card).filter((one) => one.binding === binding || one.binding === CAPNWEB)).toEqual([]);
        expect(JSON.stringify(card)).not.toContain(CAPNWEB_BATCH_BINDING);
      }
      const client = await clientOf(url, { binding, credentials: bearerToken(TOKEN) });
      expect(client.agentInterface.protocolBinding).toBe(binding);
      expect(client.card.supportedInterfaces.map((one) => one.protocolBinding)).toContain(binding);
      expect(await echoOf(client)).toBe('Echo: hi');
      await expect(clientOf(url, { binding })).rejects.toMatchObject({
        code: 'UNSUPPORTED_OPERATION',
        message: expect.stringContaining('Its extended card may have more, but was not read'),
        cause: { code: 'UNAUTHENTICATED' },
      });
      const wrong = clientOf(url, { binding: 'MORSE', credentials: bearerToken(TOKEN) });
      await expect(wrong).rejects.toMatchObject({ message: expect.stringContaining('GRPC 1.0') });
    },
  );

  it('nowhere are served, and a session names its own', async () => {
    const { server, url, cards } = await serveListed('never', protectedBy);
    for (const card of await cards())
      expect(claims(card).filter(({ binding }) => !['JSONRPC', 'HTTP+JSON'].includes(binding))).toEqual([]);
    const { agentCard, interfaces } = server;
    const authorized = { credentials: bearerToken(TOKEN), bindings: [grpcTransport(), capnwebTransport()] };
    const client = await connect(
      { ...agentCard, supportedInterfaces: interfaces },
      { ...authorized, binding: CAPNWEB_BINDING },
    );
    onTestFinished(() => client.close());
    expect(await echoOf(client)).toBe('Echo: hi');
    const extended = await (await clientOf(url, authorized)).getExtendedAgentCard();
    expect(new Set(extended.supportedInterfaces.map((one) => one.protocolBinding))).toEqual(
      new Set(['JSONRPC', 'HTTP+JSON']),
    );
  });
});

describe('the members of older cards for sessions', () => {
  const SESSIONS = { bidirectional: true, taskManagement: true, fileTransfer: true };

  it.each([undefined, 'public', 'extended', 'never'] as const)(
    'tell what is bound, if it is listed: %s',
    async (listed) => {
      const { url, read } = await serveListed(listed, {
        ...protectedBy,
        versions: ['1.0', '0.3'],
        baseServer: undefined,
      });
      const authentication = [{ type: 'bearer', parameters: { scheme: 'bearer' } }];
      for (const card of await Promise.all([read(OLD_CARD), read(CARD)]))
        expect(card).toMatchObject({ capabilities: SESSIONS, authentication });
      const answer = await fetch(`${url}/a2a/jsonrpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard' }),
      });
      expect(await answer.json()).toMatchObject({ result: { capabilities: SESSIONS, authentication } });
    },
  );

  it('are absent without sessions', async () => {
    const { read } = await serveListed(undefined, { versions: ['1.0', '0.3'], bindings: [], baseServer: undefined });
    const card = (await read(OLD_CARD)) as Card;
    expect(card).not.toHaveProperty('authentication');
    expect(card.capabilities).not.toHaveProperty('bidirectional');
  });
});

it.each([
  [{ listed: 'private' }, /listed: must be one of public, extended, never/],
  [{ list: 'public' }, /unknown option "list" \(did you mean "listed"\?\)/],
  [{ limits: { feed: 1 } }, /limits: unknown option "feed"|unknown option "limits\.feed"/],
])('capnwebBinding refuses %j', (options, problem) => {
  expect(() => capnwebBinding(options as never)).toThrow(problem);
});
