import {
  CompactEncrypt,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import type { Authentication } from '../authenticator.js';
import { JwtBearer, type JwtBearerOptions } from './jwt-bearer.js';

const ISSUER = 'https://id.example';
const JWKS = 'https://id.example/keys';
/** A SHA-256 in base64url. */
const THUMBPRINT = 'A'.repeat(43);
const SECRET = 'a secret of at least thirty-two bytes';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

let rsa: Pair;
let other: Pair;
let ec: Pair;
let keys: { keys: JWK[] };

beforeAll(async () => {
  [rsa, other, ec] = await Promise.all([
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('ES256', { extractable: true }),
  ]);
  keys = { keys: [await jwk(rsa, 'k1', 'RS256')] };
});

async function jwk({ publicKey }: Pair, kid: string, alg: string): Promise<JWK> {
  return { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
}

/** A world with a key set by URL that a test changes. */
function world(options: Partial<JwtBearerOptions> = {}) {
  const clock = new ManualClock();
  const requests: string[] = [];
  const warnings: string[] = [];
  const site = { answer: async (_url: string, _init: RequestInit): Promise<Response> => Response.json(keys) };
  const source = options.keys ?? options.secret ?? options.jwksUrl;
  const jwt = new JwtBearer(
    {
      issuer: ISSUER,
      audience: 'agent',
      ...(source === undefined && { jwksUrl: JWKS }),
      logger: { debug() {}, info() {}, error() {}, warn: (_, fields) => void warnings.push(String(fields?.error)) },
      ...options,
    },
    {
      clock,
      fetchAllowing: () => async (url, init) => {
        requests.push(url);
        return await site.answer(url, init);
      },
    },
  );
  const seconds = () => Math.floor(clock.now() / 1000);
  const signToken = (
    claims: Record<string, unknown> = {},
    header: Partial<JWTHeaderParameters> = {},
    key: Parameters<SignJWT['sign']>[0] = rsa.privateKey,
  ) =>
    new SignJWT({ iss: ISSUER, aud: 'agent', sub: 'ada', exp: seconds() + 3600, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header })
      .sign(key);
  const present = async (header: string | undefined): Promise<Authentication> =>
    jwt.authenticate({ query: '', header: (name) => (name === 'authorization' ? header : undefined) });
  const presentToken = (token: string) => present(`Bearer ${token}`);
  return { clock, requests, warnings, site, jwt, seconds, signToken, present, presentToken };
}

describe('a valid token', () => {
  it('names the user by issuer and subject, with scopes and expiry', async () => {
    const { signToken, presentToken, seconds } = world({ clockToleranceSeconds: 0 });
    expect(() => world({ clockToleranceSeconds: 600 })).not.toThrow();
    const exp = seconds() + 60;
    const token = await signToken({ exp, scope: 'read  write', name: 'Ada' });
    expect(await presentToken(token)).toEqual({
      kind: 'user',
      revoked: expect.any(AbortSignal),
      askAgainAt: expect.any(Number),
      pageAllowed: true,
      user: {
        id: 'https://id.example|ada',
        name: 'Ada',
        scopes: ['read', 'write'],
        schemes: ['jwt'],
        expiresAt: exp * 1000,
      },
    });
  });

  it('gives tenants, permissions and metadata by the mapping of the operator', async () => {
    const claims = {
      subject: 'oid',
      permissions: 'realm_access.roles',
      tenants: 'https://claims.example/tenant',
      metadata: ['email', 'toString'],
    };
    const { signToken, presentToken } = world({ claims });
    const said = { oid: 'o-1', realm_access: { roles: ['admin', 7] }, 'https://claims.example/tenant': 'acme' };
    expect(await presentToken(await signToken({ ...said, scp: ['a', 'b'], email: 'ada@example.com' }))).toMatchObject({
      user: {
        id: 'https://id.example|o-1',
        scopes: ['a', 'b'],
        permissions: ['admin'],
        tenants: ['acme'],
        metadata: { email: 'ada@example.com' },
      },
    });
    // A token without the claim grants no tenant, not all of them.
    expect(await presentToken(await signToken({ oid: 'o-2' }))).toMatchObject({ user: { tenants: [], metadata: {} } });
  });

  it.each(['a|b', 'a%7cb'])('a subject %s cannot be that of another issuer', async (sub) => {
    const { signToken, presentToken } = world();
    const found = await presentToken(await signToken({ sub }));
    expect(found).toMatchObject({ kind: 'user' });
    expect(found.kind === 'user' && found.user.id.split('|')).toHaveLength(2);
  });

  it('is checked once for concurrent calls, and one read serves all first tokens', async () => {
    const { signToken, presentToken, requests } = world();
    const tokens = await Promise.all(Array.from({ length: 8 }, (_, at) => signToken({ jti: String(at) })));
    const found = await Promise.all([...tokens, ...tokens].map(presentToken));
    expect(found.every(({ kind }) => kind === 'user')).toBe(true);
    expect(requests).toEqual([JWKS]);
  });

  it('is known again at once, without a promise', async () => {
    const { jwt, signToken, presentToken } = world();
    const token = await signToken();
    const first = await presentToken(token);
    expect(jwt.authenticate({ query: '', header: () => `Bearer ${token}` })).toEqual(first);
  });

  it('without a key id is checked with the keys that fit', async () => {
    const all = { keys: [await jwk(other, 'k0', 'RS256'), await jwk(ec, 'e1', 'ES256'), ...keys.keys] };
    const { presentToken, seconds } = world({ keys: all });
    const bare = new SignJWT({ iss: ISSUER, aud: 'agent', sub: 'ada', exp: seconds() + 60 });
    expect(await presentToken(await bare.setProtectedHeader({ alg: 'RS256' }).sign(rsa.privateKey))).toMatchObject({
      kind: 'user',
    });
  });
});

describe('a token is refused', () => {
  it('if there is none, with a challenge without error code (RFC 6750 §3.1)', async () => {
    const { jwt, present } = world({ requiredScopes: ['read'] });
    expect(await present(undefined)).toEqual({ kind: 'anonymous' });
    expect(jwt.challenges).toEqual(['Bearer scope="read"']);
    const basic = await present('Basic YTpi');
    expect(basic).toEqual({ kind: 'refused', reason: 'another scheme' });
  });

  it.each(['Bearer', 'Bearer ', 'Bearer a b', 'Bearer a,b', 'bearer \u00e9', 'Bearer a, Bearer b'])(
    'for the header %j',
    async (header) => {
      expect(await world().present(header)).toMatchObject({ challenges: ['Bearer error="invalid_token"'] });
    },
  );

  type World = ReturnType<typeof world>;
  const forged: Record<string, (at: World) => Promise<string> | string> = {
    expired: ({ signToken, seconds }) => signToken({ exp: seconds() - 6 }),
    'not valid yet': ({ signToken, seconds }) => signToken({ nbf: seconds() + 6 }),
    'without expiry': ({ signToken }) => signToken({ exp: undefined }),
    'with an expiry that is no number': ({ signToken }) => signToken({ exp: '9999999999' }),
    'for another audience': ({ signToken }) => signToken({ aud: ['other', 'agents'] }),
    'without audience': ({ signToken }) => signToken({ aud: undefined }),
    'of another issuer': ({ signToken }) => signToken({ iss: `${ISSUER}/` }),
    'without issuer': ({ signToken }) => signToken({ iss: undefined }),
    'without subject': ({ signToken }) => signToken({ sub: undefined }),
    'without subject, and with a client that is no text': ({ signToken }) =>
      signToken({ sub: undefined, client_id: 7 }),
    'with a subject that is no text': ({ signToken }) => signToken({ sub: 7 }),
    'with an empty subject': ({ signToken }) => signToken({ sub: '' }),
    'bound to a key of its owner': ({ signToken }) => signToken({ cnf: { jkt: 'x' } }),
    'bound to a certificate that the client did not send': ({ signToken }) =>
      signToken({ cnf: { 'x5t#S256': THUMBPRINT } }),
    'bound to a certificate and a key': ({ signToken }) => signToken({ cnf: { 'x5t#S256': THUMBPRINT, jkt: 'x' } }),
    'bound to a thumbprint that is none': ({ signToken }) => signToken({ cnf: { 'x5t#S256': 'abc' } }),
    'bound to what is no object': ({ signToken }) => signToken({ cnf: 'x' }),
    'of another key': ({ signToken }) => signToken({}, {}, other.privateKey),
    'of another type': ({ signToken }) => signToken({}, { typ: 'dpop+jwt' }),
    'of a type that is a list': ({ signToken }) => signToken({}, { typ: ['JWT'] as never }),
    'that is nested': ({ signToken }) => signToken({}, { cty: 'JWT' }),
    'that is nested, by its full media type': ({ signToken }) => signToken({}, { cty: 'application/JWT' }),
    'with padding': async ({ signToken }) => `${await signToken()}==`,
    'with a critical header': ({ signToken }) => signToken({}, { crit: ['b64'], b64: true }),
    'signed with an elliptic key under the id of another': ({ signToken }) =>
      signToken({}, { alg: 'ES256' }, ec.privateKey),
    'with the key of the attacker in its header': async ({ signToken }) =>
      signToken(
        {},
        {
          kid: 'evil',
          jwk: await jwk(other, 'evil', 'RS256'),
          jku: 'https://evil.example/keys',
          x5u: 'https://evil.example',
        },
        other.privateKey,
      ),
    'with a path as key id': ({ signToken }) => signToken({}, { kid: '../../dev/null' }, other.privateKey),
    'with a query as key id': ({ signToken }) => signToken({}, { kid: "' OR 1=1 --" }, other.privateKey),
    'with alg none': ({ seconds }) =>
      new UnsecuredJWT({ iss: ISSUER, aud: 'agent', sub: 'ada', exp: seconds() + 60 }).encode(),
    'with the public key as secret of an HMAC': async ({ signToken }) =>
      signToken({}, { alg: 'HS256' }, new TextEncoder().encode(await exportSPKI(rsa.publicKey))),
    'with the JWK as secret of an HMAC': ({ signToken }) =>
      signToken({}, { alg: 'HS256' }, new TextEncoder().encode(JSON.stringify(keys.keys[0]))),
    truncated: async ({ signToken }) => (await signToken()).slice(0, -3),
    'without signature': async ({ signToken }) => (await signToken()).replace(/[^.]+$/, ''),
    'with a changed payload': async ({ signToken }) => {
      const [header, , signature] = (await signToken()).split('.');
      return [header, btoa(JSON.stringify({ iss: ISSUER, aud: 'agent', sub: 'eve', exp: 1e10 })), signature].join('.');
    },
    encrypted: async () =>
      new CompactEncrypt(new TextEncoder().encode('{}'))
        .setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A256GCM' })
        .encrypt((await generateKeyPair('RSA-OAEP')).publicKey),
    'that is no JWT': () => 'abc',
    'with empty parts': () => '..',
  };

  it.each(Object.keys(forged))('%s', async (name) => {
    const at = world();
    const token = await forged[name]?.(at);
    const found = await at.presentToken(token ?? '');
    expect(found).toMatchObject({ kind: 'refused', challenges: ['Bearer error="invalid_token"'] });
    // The reason is for the log. It holds no part of the token.
    for (const part of (token ?? '').split('.')) {
      if (part.length > 8) expect(JSON.stringify(found)).not.toContain(part);
    }
    expect(at.requests.filter((url) => url !== JWKS)).toEqual([]);
  });

  it('unread if it is too long', async () => {
    const { signToken, presentToken, requests } = world({ maxTokenBytes: 600 });
    const token = await signToken({ pad: 'x'.repeat(600) });
    expect(await presentToken(token)).toMatchObject({ reason: 'the token is too long' });
    expect(requests).toEqual([]);
  });

  it('without a request if no key could make it valid', async () => {
    const at = world();
    for (const name of ['with alg none', 'of another issuer', 'that is nested', 'encrypted', 'that is no JWT'])
      await at.presentToken((await forged[name]?.(at)) ?? '');
    expect(at.requests).toEqual([]);
  });

  it('with 403 if it lacks a scope, and all needed scopes are named', async () => {
    const { signToken, presentToken } = world({ requiredScopes: ['read', 'write'] });
    expect(await presentToken(await signToken({ scope: 'read' }))).toEqual({
      kind: 'refused',
      reason: 'the token lacks the scope write',
      missingScopes: ['write'],
      challenges: ['Bearer error="insufficient_scope", scope="read write"'],
    });
  });

  it('if it is revoked; a check that fails leads to 503', async () => {
    const revoked = new Set<unknown>();
    const { jwt, signToken, presentToken } = world({
      isRevoked: ({ jti }) => {
        if (jti === 'broken') throw new Error('no list');
        return revoked.has(jti);
      },
    });
    const token = await signToken({ jti: 'a' });
    expect(await presentToken(token)).toMatchObject({ kind: 'user' });
    revoked.add('a');
    jwt.revoke('https://id.example|ada');
    expect(await presentToken(token)).toMatchObject({ reason: 'revoked' });
    await expect(presentToken(await signToken({ jti: 'broken' }))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('a revocation', () => {
  it('aborts the signal of the user, and of no other', async () => {
    const { jwt, signToken, presentToken } = world();
    const [ada, bob] = [await presentToken(await signToken()), await presentToken(await signToken({ sub: 'bob' }))];
    jwt.revoke('https://id.example|ada');
    expect([ada, bob].map((one) => one.kind === 'user' && one.revoked?.aborted)).toEqual([true, false]);
    const again = await presentToken(await signToken());
    expect(again.kind === 'user' && again.revoked?.aborted).toBe(false);
    jwt.revoke();
    expect([again, bob].map((one) => one.kind === 'user' && one.revoked?.aborted)).toEqual([true, true]);
  });

  it('checks a token again whose check is under way', async () => {
    let revoked = false;
    const gates: (() => void)[] = [];
    const { jwt, signToken, presentToken } = world({
      isRevoked: async () => {
        const answer = revoked;
        await new Promise<void>((resolve) => gates.push(resolve));
        return answer;
      },
    });
    const found = presentToken(await signToken());
    await vi.waitFor(() => expect(gates).toHaveLength(1), { timeout: 10_000 });
    revoked = true;
    jwt.revoke();
    gates.shift()?.();
    await vi.waitFor(() => expect(gates).toHaveLength(1), { timeout: 10_000 });
    gates.shift()?.();
    expect(await found).toMatchObject({ reason: 'revoked' });
  });
});

describe('a shared secret', () => {
  it('verifies HMAC, and no other algorithm', async () => {
    const { signToken, presentToken } = world({ secret: SECRET });
    const key = new TextEncoder().encode(SECRET);
    expect(await presentToken(await signToken({}, { alg: 'HS256' }, key))).toMatchObject({ kind: 'user' });
    expect(await presentToken(await signToken({}, { alg: 'HS512' }, key))).toMatchObject({ kind: 'refused' });
    expect(await presentToken(await signToken())).toMatchObject({ kind: 'refused' });
  });

  it('verifies each allowed algorithm with its own hash', async () => {
    const { signToken, presentToken } = world({ secret: SECRET, algorithms: ['HS256', 'HS384', 'HS512'] });
    const key = new TextEncoder().encode(SECRET);
    for (const alg of ['HS512', 'HS256', 'HS384', 'HS512']) {
      expect(await presentToken(await signToken({ jti: alg }, { alg }, key))).toMatchObject({ kind: 'user' });
      const forged = new TextEncoder().encode(SECRET.toUpperCase());
      expect(await presentToken(await signToken({ jti: alg }, { alg }, forged))).toMatchObject({ kind: 'refused' });
    }
  });
});

describe('keys by URL', () => {
  it('an unknown key id causes one read per cooldown, whatever the number of tokens', async () => {
    const { signToken, presentToken, requests, clock } = world();
    await presentToken(await signToken());
    const forged = await Promise.all(
      Array.from({ length: 20 }, (_, at) => signToken({}, { kid: `evil-${at}` }, other.privateKey)),
    );
    for (const token of forged) expect(await presentToken(token)).toMatchObject({ kind: 'refused' });
    expect(requests).toHaveLength(1);
    await clock.advance(30_000);
    await Promise.all(forged.map(presentToken));
    expect(requests).toHaveLength(2);
  });

  it('are read again when a token names a new key, and known tokens are checked again', async () => {
    const { jwt, signToken, presentToken, requests, site, clock } = world();
    const [before, later] = [
      await signToken({ jti: '1' }),
      await signToken({ jti: '2' }, { kid: 'k2' }, other.privateKey),
    ];
    await presentToken(before);
    site.answer = async () => Response.json({ keys: [await jwk(other, 'k2', 'RS256')] });
    await clock.advance(30_000);
    expect(await presentToken(later)).toMatchObject({ kind: 'user' });
    expect(requests).toHaveLength(2);
    expect(jwt.authenticate({ query: '', header: () => `Bearer ${before}` })).toBeInstanceOf(Promise);
    expect(await presentToken(before)).toMatchObject({ kind: 'refused' });
  });

  it('that were removed count no longer after ten minutes', async () => {
    const { signToken, presentToken, site, clock } = world();
    const token = await signToken();
    expect(await presentToken(token)).toMatchObject({ kind: 'user' });
    site.answer = async () => Response.json({ keys: [] });
    await clock.advance(600_001);
    expect(await presentToken(token)).toMatchObject({ kind: 'refused' });
  });

  it('count for an hour while the issuer is down, and then calls get 503', async () => {
    const { signToken, presentToken, site, clock, requests, warnings, seconds } = world();
    const token = await signToken({ exp: seconds() + 10_000 });
    await presentToken(token);
    site.answer = async () => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    };
    await clock.advance(600_001);
    expect(await presentToken(token)).toMatchObject({ kind: 'user' });
    // A key that the old set lacks may be a new one: neither valid nor invalid.
    await expect(presentToken(await signToken({}, { kid: 'k2' }))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(requests).toHaveLength(2);
    expect(warnings).toEqual(['fetch failed: connect ECONNREFUSED']);
    await clock.advance(3_600_000);
    await expect(presentToken(token)).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { retryAfterMs: 1_000 } });
    site.answer = async () => Response.json(keys);
    await clock.advance(1_000);
    expect(await presentToken(token)).toMatchObject({ kind: 'user' });
  });

  it('that never came are asked for once a second', async () => {
    const { signToken, presentToken, site, clock, requests } = world();
    site.answer = async () => new Response('{}', { status: 500 });
    const token = await signToken();
    for (let call = 0; call < 5; call++)
      await expect(presentToken(token)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(requests).toHaveLength(1);
    await clock.advance(1_000);
    site.answer = async () => Response.json(keys);
    expect(await presentToken(token)).toMatchObject({ kind: 'user' });
  });

  it('that never end are given up after 5 s', async () => {
    const { signToken, presentToken, site, clock, warnings } = world();
    site.answer = (_, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const found = presentToken(await signToken()).catch((error: { code: string }) => error.code);
    for (let tries = 0; tries < 50 && clock.pendingTimers === 0; tries++) await new Promise(setImmediate);
    await clock.advance(5_000);
    expect(await found).toBe('UNAVAILABLE');
    expect(warnings[0]).toMatch(/in time/);
  });

  const hostile: Record<string, () => Response> = {
    'too large': () => new Response(`{"keys":[]${' '.repeat(300_000)}}`),
    'no JSON': () => new Response('<html>'),
    'no key set': () => Response.json([]),
    'without a list': () => Response.json({ keys: { kid: 'k1' } }),
    'of too many keys': () => Response.json({ keys: Array.from({ length: 101 }, () => keys.keys[0]) }),
    'a redirect': () => new Response(null, { status: 302, headers: { location: 'https://evil.example/keys' } }),
    'an error': () => Response.json({ error: 'no' }, { status: 404 }),
  };
  it.each(Object.keys(hostile))('that are %s lead to 503', async (name) => {
    const { signToken, presentToken, site, requests } = world();
    site.answer = async () => hostile[name]?.() ?? Response.error();
    await expect(presentToken(await signToken())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(requests).toEqual([JWKS]);
  });

  it('that are symmetric, private, huge, expired or for encryption verify nothing', async () => {
    const [good] = keys.keys;
    const secret = new TextEncoder().encode(SECRET);
    const wrong = [
      { kty: 'oct', kid: 'k1', k: btoa(SECRET), alg: 'HS256' },
      { ...(await exportJWK(rsa.privateKey)), kid: 'k1', alg: 'RS256' },
      { ...good, n: 'A'.repeat(2_000) },
      { ...good, exp: 1 },
      { ...good, use: 'enc' },
      { ...good, n: 7 },
      null,
      'key',
    ];
    const { signToken, presentToken, site } = world();
    site.answer = async () => Response.json({ keys: wrong });
    expect(await presentToken(await signToken())).toMatchObject({ kind: 'refused' });
    expect(await presentToken(await signToken({}, { alg: 'HS256' }, secret))).toMatchObject({ kind: 'refused' });
  });
});

describe('options', () => {
  it.each<[string, Partial<JwtBearerOptions>]>([
    ['needs one of jwksUrl, keys and secret', { secret: SECRET, jwksUrl: JWKS }],
    ['algorithms must be some of RS256', { algorithms: ['none'] }],
    ['algorithms must be some of RS256', { algorithms: ['RS256', 'HS256'] }],
    ['algorithms must be some of HS256', { secret: SECRET, algorithms: ['RS256'] }],
    ['secret must have at least 32 bytes', { secret: 'short' }],
    ['secret must be no key in PEM', { secret: '-----BEGIN PUBLIC KEY-----'.padEnd(100) }],
    ['audience must name this agent', { audience: [] }],
    ['audience must name this agent', { audience: '' }],
    ['issuer must be an https url', { issuer: 'http://id.example' }],
    ['issuer must be an https url', { issuer: 'id' }],
    ['issuer must have no query', { issuer: 'https://id.example#client' }],
    ['jwksUrl must be an https url', { jwksUrl: 'http://id.example/keys' }],
    ['jwksUrl must have no user', { jwksUrl: 'https://a:b@id.example/keys' }],
    ['clockToleranceSeconds must be from 0 to 600', { clockToleranceSeconds: 601 }],
    ['clockToleranceSeconds must be from 0 to 600', { clockToleranceSeconds: Number.NaN }],
    ['requiredScopes must be words', { requiredScopes: ['a"b'] }],
    ['keyTimes.cooldownMs must be', { keyTimes: { cooldownMs: -1 } }],
  ])('%s', (problem, options) => {
    expect(() => world(options)).toThrow(problem);
  });

  it('name the scheme of the card', async () => {
    const { jwt } = world({ requiredScopes: ['read'] });
    expect(jwt.securitySchemes).toEqual({ jwt: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } });
    expect(jwt.securityRequirements).toEqual([{ schemes: { jwt: { list: ['read'] } } }]);
    expect(jwt.protectedResource).toEqual({ authorizationServers: [ISSUER], scopes: ['read'] });
  });
});
