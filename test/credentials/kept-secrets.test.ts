import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../packages/parley/src/exports/client.js';
import {
  authorizationCode,
  clientCredentials,
  type SchemeCredentials,
} from '../../packages/parley/src/exports/credentials.js';
import { textLogger } from '../../packages/parley/src/exports/index.js';
import {
  type AuthorizationServer,
  CLIENT_SECRET,
  REDIRECT_URI,
  startAuthorizationServer,
} from './authorization-server.js';
import { introspectToken, type ProtectedAgent, startProtectedAgent } from './protected-agent.js';

const ECHOED = 'echoed-s3cret';
let idp: AuthorizationServer;
let agent: ProtectedAgent;

beforeAll(async () => {
  idp = await startAuthorizationServer();
  agent = await startProtectedAgent({
    securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    userOf: introspectToken(idp.issuer),
  });
});
afterAll(async () => {
  await agent.close();
  await idp.close();
});

const machine = (clientSecret = CLIENT_SECRET) =>
  clientCredentials({ issuer: idp.issuer, clientId: 'machine', clientSecret });

/** Makes a call, and returns everything in logs and errors about it. */
async function visible(
  credentials: SchemeCredentials,
): Promise<{ readonly text: string; readonly error: unknown; readonly cause: unknown }> {
  const lines: string[] = [];
  const logger = textLogger({ level: 'debug', now: Date.now, write: (line) => void lines.push(line) });
  const client = await connect(agent.url, { credentials, logger, retry: { attempts: 0 } });
  const error = await client.sendMessage('hello').then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const text = `${lines.join('')} ${inspect(error, { depth: 20, showHidden: true, getters: true })} ${JSON.stringify(error)} ${String(error)}`;
  return { text, error, cause: error instanceof Error ? error.cause : undefined };
}

function expectNoSecret(text: string): void {
  for (const secret of [
    CLIENT_SECRET,
    encodeURIComponent(CLIENT_SECRET),
    'wrong-s3cret',
    ECHOED,
    'Basic ',
    'Bearer ey',
  ]) {
    expect(text).not.toContain(secret);
  }
}

it.each(['s3cret\nof a file', 's3cret \u20ac', 's3cret\0'])(
  'a header that cannot be sent is not shown: %j',
  async (value) => {
    for (const [credentials, headers] of [
      [{ credentials: async () => ({ headers: { authorization: value } }) }, {}],
      [undefined, { 'x-key': value }],
    ] as const) {
      const client = await connect(agent.url, { headers, ...(credentials && { credentials }) });
      const error = await client.sendMessage('hello').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'ConnectionError', sent: false, cause: undefined });
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('s3cret');
    }
  },
);

describe('what went wrong with a token is told without a secret', () => {
  it('nothing is told where nothing goes wrong', async () => {
    const { text, error, cause } = await visible(machine());
    expect(error).toBeUndefined();
    expect(text).toContain('called');
    expect(text).not.toContain(agent.presented.at(-1)?.slice('Bearer '.length));
    expect(cause).toBeUndefined();
    expectNoSecret(text);
  });

  it('the real authorization server refuses the client', async () => {
    const { text, error, cause } = await visible(machine('wrong-s3cret'));
    expect(error).toMatchObject({
      name: 'CredentialsError',
      fault: 'refused',
      code: 'UNAUTHENTICATED',
      message: `${idp.issuer} refuses a token: invalid_client`,
    });
    expect(cause).toBeUndefined();
    expectNoSecret(text);
  });

  const json = (body: object) => JSON.stringify(body);
  it.each<[string, { status: number; headers?: Record<string, string>; body: string }, string, RegExp]>([
    [
      'the description',
      { status: 400, body: json({ error: 'invalid_grant', error_description: ECHOED }) },
      'refused',
      /: invalid_grant$/,
    ],
    ['the code', { status: 400, body: json({ error: `bad ${ECHOED}` }) }, 'refused', /: an error$/],
    [
      'a challenge',
      {
        status: 401,
        headers: { 'www-authenticate': `Basic realm="${ECHOED}"` },
        body: json({ error: 'invalid_client' }),
      },
      'refused',
      /: invalid_client$/,
    ],
    [
      'a page',
      { status: 502, headers: { 'content-type': 'text/html' }, body: `<h1>${ECHOED}</h1>` },
      'unavailable',
      /status 502/,
    ],
    ['half a body', { status: 200, body: `{"access_token":"${ECHOED}` }, 'unavailable', /gives no usable answer/],
    ['no token', { status: 200, body: json({ refresh_token: ECHOED }) }, 'unavailable', /access_token/],
    [
      'a token of another kind',
      { status: 200, body: json({ access_token: ECHOED, token_type: 'mac' }) },
      'unavailable',
      /./,
    ],
    [
      'a life that is none',
      { status: 200, body: json({ access_token: ECHOED, token_type: 'bearer', expires_in: ECHOED }) },
      'unavailable',
      /expires_in/,
    ],
    [
      'a redirect',
      { status: 302, headers: { location: `http://127.0.0.1/${ECHOED}` }, body: '' },
      'unavailable',
      /status 302/,
    ],
    ['too much', { status: 200, body: `"${ECHOED.repeat(100_000)}"` }, 'unavailable', /QuotaExceededError/],
    [
      'that it is busy',
      { status: 429, body: json({ error: 'slow_down', error_description: ECHOED }) },
      'unavailable',
      /slow_down/,
    ],
    [
      'a token that no header can carry',
      { status: 200, body: json({ access_token: `${ECHOED}\nx: y`, token_type: 'bearer' }) },
      'unavailable',
      /has no usable bearer token/,
    ],
  ])('the authorization server answers with %s', async (_, answer, fault, message) => {
    idp.interfere((path) => (path === '/token' ? answer : undefined));
    const { text, error, cause } = await visible(machine());
    idp.interfere(undefined);
    expect(error).toMatchObject({
      name: 'CredentialsError',
      fault,
      message: expect.stringMatching(message),
    });
    expect(cause).toBeUndefined();
    expectNoSecret(text);
  });

  it.each<[string, (state: string) => string, string, RegExp]>([
    [
      'an error',
      (state) => `error=access_denied&error_description=${ECHOED}&state=${state}&iss=${idp.issuer}`,
      'refused',
      /access_denied$/,
    ],
    ['another state', () => `code=${ECHOED}&state=${ECHOED}&iss=${idp.issuer}`, 'unavailable', /state/],
    ['no state', () => `code=${ECHOED}&iss=${idp.issuer}`, 'unavailable', /state/],
    [
      'another issuer',
      (state) => `code=${ECHOED}&state=${state}&iss=https://evil.example/${ECHOED}`,
      'unavailable',
      /iss/,
    ],
    ['a code that is none', (state) => `code=${ECHOED}&state=${state}&iss=${idp.issuer}`, 'refused', /invalid_grant$/],
  ])('the browser comes back with %s', async (_, query, fault, message) => {
    const credentials = authorizationCode({
      issuer: idp.issuer,
      clientId: 'browser',
      redirectUri: REDIRECT_URI,
      authorize: async (url) => `${REDIRECT_URI}?${query(new URL(url).searchParams.get('state') ?? '')}`,
    });
    const { text, error, cause } = await visible(credentials);
    expect(error).toMatchObject({
      name: 'CredentialsError',
      fault,
      message: expect.stringMatching(message),
    });
    expect(cause).toBeUndefined();
    expectNoSecret(text);
  });

  it('the authorization server is not there', async () => {
    const issuer = 'http://127.0.0.1:1';
    const { error } = await visible(clientCredentials({ issuer, clientId: 'machine', clientSecret: CLIENT_SECRET }));
    expect(error).toMatchObject({
      fault: 'unavailable',
      code: 'UNAVAILABLE',
      message: expect.stringContaining(issuer),
    });
  });

  it('errors of the code of the caller are its own', async () => {
    const mine = new Error('no browser here');
    const authorize = () => Promise.reject(mine);
    const options = { issuer: idp.issuer, clientId: 'browser', redirectUri: REDIRECT_URI, authorize };
    expect((await visible(authorizationCode(options))).error).toMatchObject({
      message: 'no browser here',
    });
  });

  it('without TLS nothing is sent to another machine', async () => {
    const issuer = 'http://login.example.com';
    const asked: string[] = [];
    const fetch = async (url: string) => {
      asked.push(url);
      return new Response('{}');
    };
    const options = { issuer, clientId: 'machine', clientSecret: CLIENT_SECRET, fetch };
    expect((await visible(clientCredentials(options))).error).toMatchObject({
      message: expect.stringContaining('HTTPS'),
    });
    expect(asked).toEqual([]);
    await visible(clientCredentials({ ...options, plainHttp: true }));
    expect(asked).not.toEqual([]);
  });
});
