import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ApiKeys, type Authenticator, allOf, anyOf, JwtBearer, type User } from 'parley-a2a/auth';
import { createA2AServer } from 'parley-a2a/node';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Called {
  readonly status: number;
  readonly text: string;
}

type Agent = Partial<Parameters<typeof createA2AServer>[0]>;

/** A server whose agent answers with the id of its caller. */
async function serveAgent(options: Agent) {
  const agent = (_: string, { user }: { readonly user?: User }) => user?.id ?? 'anonymous';
  const server = createA2AServer({ agent, logger: silentLogger, ...options } as Parameters<typeof createA2AServer>[0]);
  const { url } = await server.listen(0);
  closers.push(() => server.close({ graceMs: 0 }));
  const call = async (path: string, headers: Readonly<Record<string, string>>, body?: object): Promise<Called> => {
    const answer = await fetch(`${url}/a2a/rest${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'a2a-version': '1.0', 'content-type': 'application/a2a+json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const hello = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] } };
  return { call, send: (headers: Readonly<Record<string, string>>) => call('/message:send', headers, hello) };
}

const key = (name: string, owner: object = {}): Authenticator =>
  new ApiKeys([{ key: `key-${name}`, subject: 'ada', ...owner }], {
    place: { location: 'header', name: `x-${name}` },
    schemeName: name,
  });
const both = { 'x-one': 'key-one', 'x-two': 'key-two' };

describe('the tenants of two credentials', () => {
  const rule = (_: User | undefined, tenant: string) => tenant === 'ruled' || tenant === 'both';
  const names = ['both', 'listed', 'ruled', 'none'];

  /** The tenants that a caller with both credentials may name. */
  async function readGrants(one: object, two: object, tenants?: typeof rule): Promise<string[]> {
    const authenticator = allOf(key('one', one), key('two', two));
    const { call } = await serveAgent({ authenticator, ...(tenants && { tenants }) });
    const answers = await Promise.all(names.map((name) => call(`/${name}/tasks`, both)));
    return names.filter((_, at) => answers[at]?.status === 200);
  }
  const listed = { tenants: ['both', 'listed'] };

  it.each<[string, object, object, string[]]>([
    ['a missing list of the first asks the rule', {}, listed, ['both']],
    ['a missing list of the second asks the rule', listed, {}, ['both']],
    ['two missing lists ask the rule', {}, {}, ['both', 'ruled']],
    ['two lists narrow each other, and no rule widens them', listed, { tenants: ['listed', 'none'] }, ['listed']],
    ['two lists without a common tenant grant none', listed, { tenants: ['none'] }, []],
    ['an empty list grants none', listed, { tenants: [] }, []],
    ['an empty list beside a missing one grants none', {}, { tenants: [] }, []],
  ])('%s', async (_, one, two, expected) => {
    expect(await readGrants(one, two, rule)).toEqual(expected);
  });

  it('a missing list grants none without a rule, as it does alone', async () => {
    expect(await readGrants({}, listed)).toEqual([]);
  });
});

describe('a client', () => {
  const issuer = 'https://id.example';
  let sign: (claims: object) => Promise<string>;
  let keys: { keys: object[] };

  beforeAll(async () => {
    const pair = await generateKeyPair('ES256');
    keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' }] };
    sign = (claims) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setIssuer(issuer)
        .setAudience('agent')
        .setExpirationTime('5m')
        .sign(pair.privateKey);
  });

  const tokens = () => new JwtBearer({ issuer, audience: 'agent', keys });
  const bearer = async (claims: object) => ({ authorization: `Bearer ${await sign(claims)}` });

  it.each<[string, object]>([
    ['client_id', { sub: 'ada', client_id: 'ada' }],
    ['azp', { sub: 'ada', azp: 'ada' }],
    ['client_id, without a subject', { client_id: 'ada' }],
  ])('that its token names by %s does not own the tasks of the user with its name', async (_, claims) => {
    const { send, call } = await serveAgent({ authenticator: tokens() });
    const user = await bearer({ sub: 'ada', client_id: 'web' });
    expect((await send(user)).text).toContain(`${issuer}|ada`);
    const client = await bearer(claims);
    expect(JSON.parse((await call('/tasks', client)).text)).toMatchObject({ totalSize: 0 });
    expect((await send(client)).text).toContain(`${issuer}#client|ada`);
  });

  it('joins no user of the same name', async () => {
    const { send } = await serveAgent({ authenticator: allOf(key('one'), tokens()) });
    const client = await bearer({ sub: 'ada', client_id: 'ada' });
    expect((await send({ 'x-one': 'key-one', ...client })).status).toBe(401);
    const user = await bearer({ sub: 'ada', client_id: 'web' });
    expect((await send({ 'x-one': 'key-one', ...user })).status).toBe(200);
  });

  it('owns tasks of its own beside the key with its name', async () => {
    const { send, call } = await serveAgent({ authenticator: anyOf(key('one'), tokens()) });
    await send({ 'x-one': 'key-one' });
    const client = await bearer({ sub: 'ada', client_id: 'ada' });
    expect(JSON.parse((await call('/tasks', client)).text)).toMatchObject({ totalSize: 0 });
  });
});

describe('an answer of allOf', () => {
  const user: User = { id: 'session|ada' };
  const header = (name: string, answer: (value: string) => object): Authenticator => ({
    challenges: [name],
    authenticate: (credentials) => {
      const value = credentials.header(name);
      return value === undefined ? { kind: 'anonymous' } : ({ kind: 'user', user, ...answer(value) } as never);
    },
  });

  it('is not that of an earlier request whose page was allowed', async () => {
    const session = header('cookie', (value) => (value === 's=trusted' ? { pageAllowed: true } : {}));
    const { send } = await serveAgent({
      authenticator: allOf(
        session,
        header('cookie', () => ({ pageAllowed: true })),
      ),
    });
    const foreign = { origin: 'https://foreign.example' };
    expect((await send({ ...foreign, cookie: 's=trusted' })).status).toBe(200);
    expect((await send({ ...foreign, cookie: 's=other' })).status).toBe(403);
  });
});

describe('a user of an authenticator', () => {
  it.each<[string, object]>([
    ['tenants are one text, of which each part would be a tenant', { tenants: 'acme' }],
    ['scopes are one text', { scopes: 'read write' }],
    ['permissions are one text', { permissions: 'admin' }],
    ['schemes are one text', { schemes: 'apiKey' }],
    ['end is a text, which no time passes', { expiresAt: '2020-01-01' }],
    ['end is a date', { expiresAt: new Date(0) }],
    ['id is no text', { id: 7 }],
  ])('does not pass if the %s', async (_, wrong) => {
    const user = { id: 'x|ada', ...wrong } as unknown as User;
    const { call } = await serveAgent({
      authenticator: { challenges: ['X'], authenticate: () => ({ kind: 'user', user }) },
    });
    expect([(await call('/tasks', {})).status, (await call('/cm/tasks', {})).status]).toEqual([500, 500]);
  });
});
