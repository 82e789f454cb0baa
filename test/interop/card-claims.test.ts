import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILES, GrpcTester } from '../grpc/grpc-world.js';
import { ExampleServer } from './example-server.js';
import { type Answer, type Body, Wire } from './wire.js';

let server: ExampleServer;
let wire: Wire;
beforeAll(async () => {
  server = await ExampleServer.start();
  wire = new Wire(server.url);
});
afterAll(() => server[Symbol.asyncDispose]());

const CARD = '/.well-known/agent-card.json';
const OLD_CARD = '/.well-known/agent.json';
const at = (mount: string, path: string) => `${mount === '/' ? '' : mount}${path}`;
const card = (mount: string, version?: string, path = CARD) =>
  wire.send(at(mount, path), version === undefined ? { unversioned: true } : { headers: { 'a2a-version': version } });

describe('the forms of a card (acceptance of the example agents)', () => {
  it.each(['/echo', '/spec', '/tck'])('%s has one, that of 1.0', async (mount) => {
    for (const version of [undefined, '0.3', '1.0', '9.9']) {
      const { body, headers } = await card(mount, version);
      expect(Object.keys(body)).not.toContain('protocolVersion');
      expect(body.supportedInterfaces).toHaveLength(mount === '/tck' ? 5 : 4);
      expect(headers.get('vary') ?? '').not.toMatch(/a2a-version/i);
    }
    expect((await card(mount, undefined, OLD_CARD)).status).toBe(404);
  });

  it('/spec03 has one, that of 0.3', async () => {
    const answers = await Promise.all([undefined, '0.3', '1.0'].map((version) => card('/spec03', version)));
    answers.push(await card('/spec03', undefined, OLD_CARD));
    for (const { body, headers } of answers) {
      expect(body).toEqual(answers[0]?.body);
      expect(body).toMatchObject({
        protocolVersion: '0.3.0',
        url: `${server.url}/spec03`,
        preferredTransport: 'JSONRPC',
        additionalInterfaces: [
          { url: `${server.url}/spec03`, transport: 'JSONRPC' },
          { url: `${server.url}/spec03`, transport: 'HTTP+JSON' },
        ],
        capabilities: { streaming: true, pushNotifications: false },
      });
      expect(body).not.toHaveProperty('supportedInterfaces');
      expect(headers.get('vary') ?? '').not.toMatch(/a2a-version/i);
    }
  });

  it.each([
    ['/', '0.3.0', ['1.0', '0.3']],
    ['/hello', '0.2.5', ['1.0']],
  ] as const)('%s has one for 1.0 and one for all others', async (mount, protocolVersion, versions) => {
    const current = await card(mount, '1.0');
    const [plain, old] = await Promise.all([card(mount), card(mount, '0.3')]);
    expect(plain.text).toBe(old.text);
    for (const { headers } of [current, plain]) expect(headers.get('vary')).toMatch(/a2a-version/i);
    expect(plain.headers.get('etag')).not.toBe(current.headers.get('etag'));
    const etag = plain.headers.get('etag') ?? '';
    expect((await wire.send(at(mount, CARD), { headers: { 'if-none-match': etag } })).status).toBe(200);
    expect((await wire.send(at(mount, CARD), { unversioned: true, headers: { 'if-none-match': etag } })).status).toBe(
      304,
    );

    for (const name of ['url', 'protocolVersion', 'preferredTransport', 'additionalInterfaces']) {
      expect(current.body).not.toHaveProperty(name);
    }
    // All of 1.0 is in the other one, too, so that clients of 1.0 which name no version find their way.
    expect(plain.body).toMatchObject(current.body);
    expect(plain.body).toMatchObject({ protocolVersion, preferredTransport: 'JSONRPC' });
    const interfaces = current.body.supportedInterfaces as readonly Body[];
    expect([...new Set(interfaces.map((one) => one.protocolVersion))]).toEqual(versions);
    expect((await card(mount, undefined, OLD_CARD)).body).toMatchObject({ protocolVersion });
    expect((await card(mount, undefined, OLD_CARD)).body).not.toHaveProperty('supportedInterfaces');
  });
});

/** The bindings that every version has. Readers of 0.3 know no others. */
const CORE = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

describe.each(['/', '/tck', '/echo', '/hello', '/spec', '/spec03'])('the interfaces in the cards of %s', (mount) => {
  const forms = () =>
    Promise.all([card(mount, '1.0'), card(mount, '0.3'), card(mount), card(mount, undefined, OLD_CARD)]);
  const namesGrpc = mount === '/' || mount === '/tck';

  it('are http of the origin of the card, except gRPC at / and /tck', async () => {
    for (const { body, status } of await forms()) {
      if (status === 404) continue;
      const claims = allClaimsOf(body);
      const others = claims.filter(({ url }) => URL.parse(url)?.origin !== new URL(server.url).origin);
      const bindings = new Set(others.map(({ binding }) => binding));
      expect([...bindings]).toEqual(namesGrpc && claims.some(({ binding }) => binding === 'GRPC') ? ['GRPC'] : []);
    }
    const { body } = (await forms())[0] ?? expect.fail();
    expect(claimsOf(body).some(({ binding }) => binding === 'GRPC')).toBe(namesGrpc);
  });

  it('of 0.3 and older have transports that every client of the version knows', async () => {
    for (const { body } of await forms()) {
      const { additionalInterfaces = [], preferredTransport = 'JSONRPC' } = body as {
        readonly additionalInterfaces?: readonly { readonly transport: string }[];
        readonly preferredTransport?: string;
      };
      const transports = [preferredTransport, ...additionalInterfaces.map(({ transport }) => transport)];
      expect(transports.filter((transport) => !CORE.includes(transport))).toEqual([]);
    }
  });
});

interface Claim {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
}

/** Every interface that a card in any of its forms names. `capnweb.test.ts` calls those of Cap'n Web. */
function claimsOf(body: Body): readonly Claim[] {
  return allClaimsOf(body).filter(({ binding }) => !/capnweb/i.test(binding));
}

function allClaimsOf(body: Body): readonly Claim[] {
  const current = (body.supportedInterfaces ?? []) as readonly Body[];
  const old = (body.additionalInterfaces ?? []) as readonly Body[];
  return [
    ...current.map((one) => ({
      url: String(one.url),
      binding: String(one.protocolBinding),
      version: String(one.protocolVersion),
    })),
    ...[{ url: body.url, transport: body.preferredTransport }, ...old]
      .filter(({ url }) => url !== undefined)
      .map(({ url, transport }) => ({
        url: String(url),
        binding: String(transport),
        version: String(body.protocolVersion).slice(0, 3),
      })),
  ];
}

/** Names of methods and paths in each version. */
const NAMES = {
  send: ['SendMessage', 'message/send', 'message:send'],
  stream: ['SendStreamingMessage', 'message/stream', 'message:stream'],
  list: [
    'ListTaskPushNotificationConfigs',
    'tasks/pushNotificationConfig/list',
    'tasks/nobody/pushNotificationConfigs',
  ],
  card: ['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard', 'extendedAgentCard'],
} as const;

/** The same over gRPC, where 0.3 has other names. */
const GRPC_CALLS: Readonly<Record<keyof typeof NAMES, { readonly name: string; readonly old: string }>> = {
  send: { name: 'SendMessage', old: 'SendMessage' },
  stream: { name: 'SendStreamingMessage', old: 'SendStreamingMessage' },
  list: { name: 'ListTaskPushNotificationConfigs', old: 'ListTaskPushNotificationConfig' },
  card: { name: 'GetExtendedAgentCard', old: 'GetAgentCard' },
};

async function useGrpc({ url, version }: Claim, what: keyof typeof NAMES): Promise<Answer> {
  const isOld = version !== '1.0';
  const tester = new GrpcTester(url.replace('http://', ''), { file: isOld ? FILES.legacy : FILES.current });
  const { name, old } = GRPC_CALLS[what];
  const message = { messageId: 'm', role: 'ROLE_USER', [isOld ? 'content' : 'parts']: [{ text: 'hello' }] };
  const ids = isOld ? { parent: 'tasks/nobody' } : { taskId: 'nobody' };
  const request = what === 'list' ? ids : what === 'card' ? {} : { message };
  const method = isOld ? old : name;
  try {
    if (what === 'stream') await tester.events(method, request);
    else await tester.call(method, request);
    const type = what === 'stream' ? 'text/event-stream' : 'application/grpc';
    return { status: 200, headers: new Headers({ 'content-type': type }), body: {}, text: '' };
  } catch (error) {
    const { details } = error as { readonly details: readonly { readonly value: Body }[] };
    const told = { code: 0, details: details.map(({ value }) => value) };
    return { status: 200, headers: new Headers(), body: { error: told } as unknown as Body, text: '' };
  }
}

async function use(claim: Claim, what: keyof typeof NAMES): Promise<Answer> {
  const { url, binding, version } = claim;
  if (binding === 'GRPC') return useGrpc(claim, what);
  const isOld = version !== '1.0';
  const path = url.slice(server.url.length);
  const [method, oldMethod, route] = NAMES[what];
  const isSent = what === 'send' || what === 'stream';
  const text = { kind: 'text', text: 'hello' };
  const message = isOld
    ? { kind: 'message', messageId: 'm', role: 'user', parts: [text] }
    : { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const request = { headers: { 'a2a-version': isOld ? '' : version } };
  if (binding === 'JSONRPC') {
    const ids = isOld ? { id: 'nobody' } : { taskId: 'nobody' };
    return wire.rpc(
      path || '/',
      isOld ? oldMethod : method,
      isSent ? { message } : what === 'list' ? ids : {},
      request,
    );
  }
  const body = { message: isOld ? { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hello' }] } : message };
  const below = isOld ? `v1/${what === 'card' ? 'card' : route}` : route;
  return wire.send(`${path.replace(/\/$/, '')}/${below}`, { ...request, ...(isSent && { body }) });
}

/** The error number of a call, if it failed. */
function errorOf({ body, status }: Answer): Body[string] {
  const error = (body.error ?? (typeof body.code === 'number' ? body : undefined)) as Body | undefined;
  if (error === undefined) return status === 200 ? undefined : status;
  const [info] = ((error.data ?? error.details) as readonly Body[] | undefined) ?? [];
  return info?.reason;
}

const FORMS = ['/', '/tck', '/echo', '/hello', '/spec', '/spec03'].flatMap((mount) => [
  { mount, version: '1.0', path: CARD },
  { mount, version: undefined, path: CARD },
  { mount, version: undefined, path: OLD_CARD },
]);

describe.each(FORMS)('the card of $mount asked for in $version at $path claims nothing that is not served', (form) => {
  it('and all that is', async () => {
    const answer = await card(form.mount, form.version, form.path);
    if (answer.status === 404) return expect(form.path).toBe(OLD_CARD);
    const { body } = answer;
    const claims = claimsOf(body);
    expect(claims.length).toBeGreaterThan(0);
    const capabilities = body.capabilities as Body;
    const extended = body.supportsAuthenticatedExtendedCard ?? capabilities.extendedAgentCard;
    for (const claim of claims) {
      const told = JSON.stringify(claim);
      expect(errorOf(await use(claim, 'send')), told).toBeUndefined();
      const streamed = await use(claim, 'stream');
      if (capabilities.streaming === true)
        expect(streamed.headers.get('content-type'), told).toMatch(/^text\/event-stream/);
      else expect(errorOf(streamed), told).toBe('UNSUPPORTED_OPERATION');
      const configs = errorOf(await use(claim, 'list'));
      expect(configs === 'PUSH_NOTIFICATION_NOT_SUPPORTED', told).toBe(capabilities.pushNotifications !== true);
      const shown = errorOf(await use(claim, 'card'));
      if (extended === true) expect(shown, told).toBe('UNAUTHENTICATED');
      else expect(['UNSUPPORTED_OPERATION', 'METHOD_NOT_FOUND'], told).toContain(shown);
    }
  });
});
