import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Authenticator,
  JwtBearer,
  OAuth2,
  type OAuth2IntrospectionOptions,
  OpenIdConnect,
} from '../../packages/parley/src/exports/auth.js';
import { connect } from '../../packages/parley/src/exports/client.js';
import { clientCredentials, type OAuthClientOptions } from '../../packages/parley/src/exports/credentials.js';
import type { AgentCard } from '../../packages/parley/src/exports/index.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { type AuthorizationServer, CLIENT_SECRET, startAuthorizationServer } from './authorization-server.js';

const AGENT = 'https://agent.example/';
/** The authorization server of a test is on this machine, which agents do not call unless they are told to. */
const allow = ['127.0.0.1'];

let idp: AuthorizationServer;

beforeAll(async () => {
  idp = await startAuthorizationServer({ accessTokenFormat: 'jwt' });
});
afterAll(() => idp.close());

/** Serves an agent that answers with its caller. */
async function serveAgent(authenticator: Authenticator): Promise<string> {
  const server = createA2AServer({
    authenticator,
    agent: {
      replies: 'either',
      execute: async ({ user }, events) =>
        void events.message([user?.id, user?.name, user?.scopes?.join(' ')].join(' / ')),
    },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return (await server.listen(0)).url;
}

const flows = () => ({
  clientCredentials: { tokenUrl: `${idp.issuer}/token`, scopes: { read: 'to read', write: 'to write' } },
});

function credentialsFor(options: Partial<OAuthClientOptions> = {}) {
  const client = { issuer: idp.issuer, clientId: 'machine', clientSecret: CLIENT_SECRET };
  return clientCredentials({ ...client, resource: AGENT, scopes: ['read'], ...options });
}

async function answerOf(url: string, options: Partial<OAuthClientOptions> = {}): Promise<string> {
  const client = await connect(url, { credentials: credentialsFor(options) });
  const answer = await client.ask('who am I?');
  return answer.message !== undefined
    ? answer.message.parts.map((part) => (part.text !== undefined ? part.text : '')).join('')
    : 'a task';
}

/** A token of the authorization server itself. */
async function token(parameters: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${idp.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`machine:${encodeURIComponent(CLIENT_SECRET)}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: AGENT, scope: 'read', ...parameters }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return access_token;
}

/** Status and challenge of a call. */
async function callWithToken(url: string, bearer?: string): Promise<readonly [number, string | null]> {
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as AgentCard;
  const base = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'HTTP+JSON')?.url;
  const response = await fetch(`${base}/message:send`, {
    method: 'POST',
    headers: {
      'content-type': 'application/a2a+json',
      'a2a-version': '1.0',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify({ message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } }),
  });
  await response.text();
  return [response.status, response.headers.get('www-authenticate')];
}

describe('our client at an agent with tokens of a real authorization server', () => {
  it('OpenID Connect', async () => {
    const url = await serveAgent(new OpenIdConnect({ issuer: idp.issuer, audience: AGENT, allow }));
    expect(await answerOf(url)).toBe(`${idp.issuer}#client|machine / machine / read`);
  });

  it('OAuth 2 with JWTs (RFC 9068)', async () => {
    const url = await serveAgent(new OAuth2({ issuer: idp.issuer, audience: AGENT, flows: flows(), allow }));
    expect(await answerOf(url)).toBe(`${idp.issuer}#client|machine / machine / read`);
  });

  it('JWTs with keys by URL', async () => {
    const jwt = new JwtBearer({ issuer: idp.issuer, audience: AGENT, jwksUrl: `${idp.issuer}/jwks`, allow });
    expect((await callWithToken(await serveAgent(jwt), await token()))[0]).toBe(200);
  });

  it('a token of another audience is refused', async () => {
    const url = await serveAgent(new OpenIdConnect({ issuer: idp.issuer, audience: AGENT, allow }));
    const [status, challenge] = await callWithToken(url, await token({ resource: 'https://other.example/' }));
    expect([status, challenge]).toEqual([401, expect.stringContaining('Bearer error="invalid_token"')]);
  });

  it('a lacking scope is 403 with its name, and the client gets a wider token if it may', async () => {
    const protection = { issuer: idp.issuer, audience: AGENT, requiredScopes: ['read', 'write'], allow };
    const url = await serveAgent(new OpenIdConnect(protection));
    const [status, challenge] = await callWithToken(url, await token());
    expect([status, challenge]).toEqual([403, expect.stringContaining('error="insufficient_scope"')]);
    expect(challenge).toContain('scope="read write"');
    expect(await answerOf(url, { stepUp: ['write'] })).toMatch(/ \/ read write$/);
  });

  it('without a token the challenge has no error code', async () => {
    const url = await serveAgent(new OpenIdConnect({ issuer: idp.issuer, audience: AGENT, allow }));
    const [status, challenge] = await callWithToken(url);
    expect(status).toBe(401);
    expect(challenge).toMatch(/^Bearer/);
    expect(challenge).not.toContain('error=');
  });

  it('keys that rotate while the agent serves: new tokens count, and those of the removed key do not', async () => {
    const oidc = new OpenIdConnect({ issuer: idp.issuer, audience: AGENT, allow, keyTimes: { cooldownMs: 0 } });
    const url = await serveAgent(oidc);
    const before = await token();
    expect((await callWithToken(url, before))[0]).toBe(200);
    await idp.rotateKeys();
    expect((await callWithToken(url, await token()))[0]).toBe(200);
    expect((await callWithToken(url, before))[0]).toBe(401);
  });

  it('the address of the authorization server is checked before it is called', async () => {
    const url = await serveAgent(new OpenIdConnect({ issuer: idp.issuer, audience: AGENT }));
    expect((await callWithToken(url, await token()))[0]).toBe(503);
  });

  it('a discovery document of another issuer leads to 503, not to its keys', async () => {
    const issuer = idp.issuer.replace('127.0.0.1', 'localhost');
    const url = await serveAgent(new OpenIdConnect({ issuer, audience: AGENT, allow: ['localhost'] }));
    const claims = { ...decodeJwt(await token()), iss: issuer };
    const part = (value: object) => btoa(JSON.stringify(value)).replace(/=+$/, '').replaceAll('/', '_');
    const forged = `${part({ alg: 'RS256', kid: 'k1' })}.${part(claims)}.c2ln`;
    expect((await callWithToken(url, forged))[0]).toBe(503);
  });
});

describe('an endpoint for keys that fails', () => {
  const hostile = {
    redirects: { status: 302, headers: { location: 'http://127.0.0.1:9/keys' }, body: '' },
    'answers too much': { status: 200, body: `{"keys":[]${' '.repeat(300_000)}}` },
    'answers no JSON': { status: 200, body: '<html>' },
    fails: { status: 500, body: '{}' },
  };
  it.each(Object.entries(hostile))('%s: calls get 503, and are answered when it works again', async (_, answer) => {
    const url = await serveAgent(new OpenIdConnect({ issuer: idp.issuer, audience: AGENT, allow }));
    const bearer = await token();
    const asked: string[] = [];
    idp.interfere((path) => {
      if (path !== '/jwks') return undefined;
      asked.push(path);
      return answer;
    });
    const calls = await Promise.all(Array.from({ length: 5 }, () => callWithToken(url, bearer)));
    idp.interfere(undefined);
    expect(calls.map(([status]) => status)).toEqual(Array(5).fill(503));
    expect(asked).toHaveLength(1);
    await vi.waitFor(async () => expect((await callWithToken(url, bearer))[0]).toBe(200), {
      timeout: 10_000,
      interval: 200,
    });
  });
});

describe('a stream', () => {
  it('ends when the tokens of its user are revoked', async () => {
    const oidc = new OpenIdConnect({ issuer: idp.issuer, audience: AGENT, allow });
    const server = createA2AServer({
      authenticator: oidc,
      agent: async function* (_prompt, { signal }) {
        yield 'begun';
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const { url } = await server.listen(0);
    const response = await fetch(`${url}/a2a/rest/message:stream`, {
      method: 'POST',
      headers: {
        'content-type': 'application/a2a+json',
        'a2a-version': '1.0',
        authorization: `Bearer ${await token()}`,
      },
      body: JSON.stringify({ message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } }),
    });
    let text = '';
    let isRevoked = false;
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (isRevoked || !text.includes('begun')) continue;
      isRevoked = true;
      oidc.revoke(`${idp.issuer}#client|machine`);
    }
    expect(text).toMatch(/begun.*UNAUTHENTICATED/s);
  });
});

describe('introspection (RFC 7662)', () => {
  let opaque: AuthorizationServer;
  beforeAll(async () => {
    opaque = await startAuthorizationServer();
  });
  afterAll(() => opaque.close());

  const introspectionScheme = (options: Partial<OAuth2IntrospectionOptions> = {}) =>
    new OAuth2({
      issuer: opaque.issuer,
      flows: { clientCredentials: { tokenUrl: `${opaque.issuer}/token`, scopes: { read: '' } } },
      introspection: { clientId: 'agent', clientSecret: CLIENT_SECRET },
      allow,
      ...options,
    });

  async function opaqueToken(): Promise<string> {
    const response = await fetch(`${opaque.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`machine:${encodeURIComponent(CLIENT_SECRET)}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'read' }),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  it('our client with its credentials', async () => {
    const url = await serveAgent(introspectionScheme());
    expect(await answerOf(url, { issuer: opaque.issuer })).toBe(`${opaque.issuer}#client|machine / machine / read`);
  });

  it('one question serves all calls with a token for a while', async () => {
    let questions = 0;
    const url = await serveAgent(
      introspectionScheme({
        fetch: (address, init) => {
          if (address.endsWith('/introspection')) questions += 1;
          return fetch(address, init);
        },
      }),
    );
    const bearer = await opaqueToken();
    const calls = await Promise.all(Array.from({ length: 8 }, () => callWithToken(url, bearer)));
    calls.push(await callWithToken(url, bearer));
    expect(calls.map(([status]) => status)).toEqual(Array(9).fill(200));
    expect(questions).toBe(1);
  });

  it('a revoked token is refused once it is forgotten', async () => {
    const oauth = introspectionScheme();
    const url = await serveAgent(oauth);
    const bearer = await opaqueToken();
    expect((await callWithToken(url, bearer))[0]).toBe(200);
    for (const issued of opaque.issued.splice(0)) await issued.destroy();
    oauth.revoke();
    expect(await callWithToken(url, bearer)).toEqual([401, expect.stringContaining('error="invalid_token"')]);
  });

  it('an unknown token is refused', async () => {
    expect((await callWithToken(await serveAgent(introspectionScheme()), 'unknown'))[0]).toBe(401);
  });

  it('an audience that the operator names must be in the answer', async () => {
    expect(
      (await callWithToken(await serveAgent(introspectionScheme({ audience: AGENT })), await opaqueToken()))[0],
    ).toBe(401);
  });

  it.each<[string, Partial<OAuth2IntrospectionOptions>]>([
    ['refuses the agent', { introspection: { clientId: 'agent', clientSecret: 'wrong' } }],
    [
      'is down',
      { introspection: { clientId: 'agent', clientSecret: CLIENT_SECRET, endpoint: 'http://127.0.0.1:9/introspect' } },
    ],
    ['answers no JSON', { fetch: async () => new Response('<html>', { headers: { 'content-type': 'text/html' } }) }],
    [
      'redirects',
      { fetch: async () => new Response(null, { status: 302, headers: { location: 'http://a.example' } }) },
    ],
    ['fails', { fetch: async () => new Response('{}', { status: 500 }) }],
  ])('if the authorization server %s, calls get 503 and not 401', async (_, options) => {
    expect((await callWithToken(await serveAgent(introspectionScheme(options)), await opaqueToken()))[0]).toBe(503);
  });

  it.each<[string, object]>([
    ['a refresh token', { active: true, sub: 'ada', token_type: 'refresh_token' }],
    ['a token of another issuer', { active: true, sub: 'ada', iss: 'https://other.example' }],
    ['a token that is bound to a key', { active: true, sub: 'ada', cnf: { jkt: 'x' } }],
    ['a token that is bound to a certificate', { active: true, sub: 'ada', cnf: { 'x5t#S256': 'A'.repeat(43) } }],
    ['an expired token', { active: true, sub: 'ada', exp: 1 }],
    ['a token whose end is a text', { active: true, sub: 'ada', exp: '1' }],
    ['a token whose end is a list', { active: true, sub: 'ada', exp: [1] }],
    ['a token whose end is null', { active: true, sub: 'ada', exp: null }],
    ['a token whose begin is a text', { active: true, sub: 'ada', nbf: '4000000000' }],
    ['a token whose type is a list', { active: true, sub: 'ada', token_type: ['bearer'] }],
    ['a token without subject', { active: true }],
  ])('%s is refused', async (_, answer) => {
    const introspection = { clientId: 'agent', clientSecret: CLIENT_SECRET, endpoint: 'https://id.example/introspect' };
    const url = await serveAgent(introspectionScheme({ introspection, fetch: async () => Response.json(answer) }));
    expect((await callWithToken(url, 'some-token'))[0]).toBe(401);
  });
});
