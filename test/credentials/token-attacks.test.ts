import { createHmac, createPublicKey, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompactEncrypt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Authenticator, JwtBearer, OAuth2, OpenIdConnect } from '../../packages/parley/src/exports/auth.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { closeServer } from './authorization-server.js';

const AUDIENCE = 'https://agent.example/';
const allow = ['127.0.0.1'];
/** Times of keys, so that a flood is over before the next read is allowed. */
const keyTimes = { cooldownMs: 3_600_000 };

/** An issuer of tokens on this machine: its documents are real, and its tokens are written by hand. */
let issuer: Server;
let url = '';
let keyReads = 0;
let published: object[] = [];
const good = newKey();
const stranger = newKey();
const rotated = newKey();

function newKey() {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

const jwkOf = (key: KeyObject, kid: string) => ({ ...key.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' });

beforeAll(async () => {
  issuer = createServer(({ url: path = '' }, response) => {
    if (path === '/jwks') keyReads += 1;
    const document = path === '/jwks' ? { keys: published } : { issuer: url, jwks_uri: `${url}/jwks` };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
});
afterAll(() => closeServer(issuer));
beforeEach(() => {
  keyReads = 0;
  published = [jwkOf(good.publicKey, 'k1')];
});

const base64url = (text: string) => Buffer.from(text).toString('base64url');
const seconds = () => Math.floor(Date.now() / 1000);

function claims(changes: object = {}): string {
  const now = seconds();
  const whole = { iss: url, aud: AUDIENCE, sub: 'ada', client_id: 'c', jti: 'j', iat: now, exp: now + 600, ...changes };
  return JSON.stringify(whole);
}

const HEADER = { alg: 'RS256', kid: 'k1', typ: 'at+jwt' };

/** A token from the texts of its header and claims, signed with RS256. */
function signToken(header: object | string = {}, payload = claims(), key: KeyObject = good.privateKey): string {
  const head = typeof header === 'string' ? header : JSON.stringify({ ...HEADER, ...header });
  const input = `${base64url(head)}.${base64url(payload)}`;
  return `${input}.${createSign('RSA-SHA256').update(input).sign(key, 'base64url')}`;
}

function hmac(secret: string | Buffer): string {
  const input = `${base64url(JSON.stringify({ ...HEADER, alg: 'HS256' }))}.${base64url(claims())}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

const withTwo = (text: string, name: string, first: unknown) =>
  text.replace('{', `{${JSON.stringify(name)}:${JSON.stringify(first)},`);

/** Tokens of an attacker, and invalid tokens of the issuer. */
const ATTACKS: Readonly<Record<string, () => string | Promise<string>>> = {
  'is expired': () => signToken({}, claims({ exp: seconds() - 60 })),
  'is not valid yet': () => signToken({}, claims({ nbf: seconds() + 600 })),
  'is for another audience': () => signToken({}, claims({ aud: 'https://other.example/' })),
  'is of another issuer': () => signToken({}, claims({ iss: 'https://other.example' })),
  'names the issuer with a slash': () => signToken({}, claims({ iss: `${url}/` })),
  'has alg none': () => `${base64url(JSON.stringify({ ...HEADER, alg: 'none' }))}.${base64url(claims())}.`,
  'has alg None, with a signature': () => signToken({ alg: 'None' }),
  'is an HMAC with the public key in PEM': () => hmac(good.publicKey.export({ type: 'spki', format: 'pem' }) as string),
  'is an HMAC with the public key in DER': () => hmac(good.publicKey.export({ type: 'spki', format: 'der' })),
  'is an HMAC with the published key': () => hmac(JSON.stringify(published[0])),
  'is truncated': () => signToken().slice(0, -10),
  'lacks its signature': () => signToken().replace(/[^.]+$/, ''),
  'is too long': () => signToken({}, claims({ pad: 'x'.repeat(9_000) })),
  'is of an unknown key': () => signToken({ kid: 'k9' }, claims(), stranger.privateKey),
  'is of a stranger under the id of the key': () => signToken({}, claims(), stranger.privateKey),
  'brings its own key': () =>
    signToken({ kid: 'own', jwk: jwkOf(stranger.publicKey, 'own') }, claims(), stranger.privateKey),
  'names the place of its key': () => signToken({ kid: 'own', jku: `${url}/jwks` }, claims(), stranger.privateKey),
  'has a critical header': () => signToken({ crit: ['exp'], exp: 1 }),
  'has an unencoded payload': () => signToken({ crit: ['b64'], b64: false }),
  'is nested': () => signToken({ cty: 'JWT' }, JSON.stringify(signToken())),
  'is encrypted': async () =>
    new CompactEncrypt(Buffer.from(claims()))
      .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM' })
      .encrypt(createPublicKey(good.publicKey.export({ type: 'spki', format: 'pem' }))),
  'names two subjects': () => signToken({}, withTwo(claims(), 'sub', 'eve')),
  'has two ends': () => signToken({}, withTwo(claims(), 'exp', 1)),
  'names two subjects, one escaped': () => signToken({}, claims().replace('{', '{"s\\u0075b":"eve",')),
  'has two algorithms': () => signToken(withTwo(JSON.stringify(HEADER), 'alg', 'none')),
  'has a member of a claim twice': () => signToken({}, claims().replace('{', '{"act":{"sub":"a","sub":"b"},')),
  'is of the wrong type': () => signToken({ typ: 'dpop+jwt' }),
};

const SCHEMES: Readonly<Record<string, () => Authenticator>> = {
  OpenIdConnect: () => new OpenIdConnect({ issuer: url, audience: AUDIENCE, allow, keyTimes }),
  OAuth2: () =>
    new OAuth2({
      issuer: url,
      audience: AUDIENCE,
      flows: { clientCredentials: { tokenUrl: `${url}/token`, scopes: {} } },
      allow,
      keyTimes,
    }),
  JwtBearer: () => new JwtBearer({ issuer: url, audience: AUDIENCE, jwksUrl: `${url}/jwks`, allow, keyTimes }),
};

async function serveAgent(authenticator: Authenticator) {
  const server = createA2AServer({
    authenticator,
    agent: (prompt) => prompt,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url: agent } = await server.listen(0);
  return async (token: string) => {
    const headers = { 'a2a-version': '1.0', authorization: `Bearer ${token}` };
    const answer = await fetch(`${agent}/a2a/rest/tasks`, { headers });
    await answer.text();
    return { status: answer.status, challenge: answer.headers.get('www-authenticate') };
  };
}

describe.each(Object.keys(SCHEMES))('%s', (name) => {
  const authenticator = () => SCHEMES[name]?.() ?? expect.fail();

  it.each(Object.keys(ATTACKS))('refuses a token that %s', async (attack) => {
    const call = await serveAgent(authenticator());
    expect(await call(signToken())).toEqual({ status: 200, challenge: null });
    const { status, challenge } = await call((await ATTACKS[attack]?.()) ?? '');
    expect(status).toBe(401);
    expect(challenge).toMatch(/^Bearer error="invalid_token", resource_metadata="http/);
    expect(keyReads).toBe(1);
  });

  it('reads its keys once for all of them, also if they come first', async () => {
    const call = await serveAgent(authenticator());
    const tokens = await Promise.all(Object.values(ATTACKS).map((attack) => attack()));
    const answers = await Promise.all(tokens.map(call));
    expect(answers.map(({ status }) => status)).toEqual(tokens.map(() => 401));
    expect(keyReads).toBeLessThanOrEqual(1);
    expect((await call(signToken())).status).toBe(200);
    expect(keyReads).toBe(1);
  });

  it('reads its keys at most once more for a flood of unknown key ids', async () => {
    const call = await serveAgent(authenticator());
    expect((await call(signToken())).status).toBe(200);
    const flood = Array.from({ length: 200 }, (_, at) => signToken({ kid: `k-${at}` }, claims(), stranger.privateKey));
    for (let at = 0; at < flood.length; at += 20) {
      const answers = await Promise.all(flood.slice(at, at + 20).map(call));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    }
    expect(keyReads).toBeLessThanOrEqual(2);
  });

  it('refuses tokens of a removed key once it knows the new one', async () => {
    const call = await serveAgent(authenticator());
    published = [jwkOf(rotated.publicKey, 'k2')];
    const old = signToken();
    expect((await call(signToken({ kid: 'k2' }, claims(), rotated.privateKey))).status).toBe(200);
    const { status, challenge } = await call(old);
    expect([status, challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
    expect(keyReads).toBe(1);
  });
});
