import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../packages/parley/src/exports/client.js';
import {
  authorizationCode,
  type ClientSigningKey,
  clientCredentials,
  deviceCode,
  type SchemeCredentials,
} from '../../packages/parley/src/exports/credentials.js';
import type { SecurityScheme } from '../../packages/parley/src/exports/index.js';
import { loopbackRedirect } from '../../packages/parley/src/exports/node.js';
import {
  type AuthorizationServer,
  CLIENT_SECRET,
  REDIRECT_URI,
  startAuthorizationServer,
} from './authorization-server.js';
import { Person } from './person.js';
import { introspectToken, type ProtectedAgent, startProtectedAgent } from './protected-agent.js';

let idp: AuthorizationServer;
let key: ClientSigningKey;
let agents: Readonly<Record<keyof ReturnType<typeof schemesOf>, ProtectedAgent>>;

beforeAll(async () => {
  const pair = await generateKeyPair('ES256');
  key = pair.privateKey as ClientSigningKey;
  idp = await startAuthorizationServer({
    clientKey: { ...(await exportJWK(pair.publicKey)), kid: 'c1', alg: 'ES256' },
  });
  const started = await Promise.all(
    Object.entries(schemesOf(idp.issuer)).map(async ([name, scheme]) => {
      const agent = await startProtectedAgent({
        securitySchemes: { [name]: scheme },
        userOf: introspectToken(idp.issuer),
      });
      return [name, agent] as const;
    }),
  );
  agents = Object.fromEntries(started) as unknown as typeof agents;
});

afterAll(async () => {
  await Promise.all(Object.values(agents).map((agent) => agent.close()));
  await idp.close();
});

function schemesOf(issuer: string) {
  const tokenUrl = `${issuer}/token`;
  const scopes = { read: 'to read' };
  return {
    machine: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes } } } },
    browser: {
      oauth2SecurityScheme: {
        flows: { authorizationCode: { tokenUrl, authorizationUrl: `${issuer}/auth`, scopes, pkceRequired: true } },
      },
    },
    television: {
      oauth2SecurityScheme: {
        flows: { deviceCode: { tokenUrl, deviceAuthorizationUrl: `${issuer}/device/auth`, scopes } },
      },
    },
    openId: { openIdConnectSecurityScheme: { openIdConnectUrl: `${issuer}/.well-known/openid-configuration` } },
  } as const satisfies Record<string, SecurityScheme>;
}

async function callerOf(name: keyof typeof agents, credentials: SchemeCredentials): Promise<string> {
  const client = await connect(agents[name].url, { credentials });
  const answer = await client.ask('who am I?');
  return answer.message !== undefined
    ? answer.message.parts.map((part) => (part.text !== undefined ? part.text : '')).join('')
    : 'a task';
}

describe('a client that speaks for itself', () => {
  it.each(['machine', 'poster'])('gets a token by its secret: %s', async (clientId) => {
    const credentials = clientCredentials({
      issuer: idp.issuer,
      clientId,
      clientSecret: CLIENT_SECRET,
      scopes: ['read'],
      ...(clientId === 'poster' && { authentication: { method: 'post', secret: CLIENT_SECRET } }),
    });
    expect(await callerOf('machine', credentials)).toBe(`called by ${clientId} / read`);
  });

  it('gets a token by its private key', async () => {
    const authentication = { method: 'private-key', key, kid: 'c1' } as const;
    const credentials = clientCredentials({ issuer: idp.issuer, clientId: 'keyed', authentication, scopes: ['read'] });
    expect(await callerOf('machine', credentials)).toBe('called by keyed / read');
  });

  it('takes the endpoints that it is told, also where nothing can be discovered', async () => {
    idp.interfere((path) => (path.includes('/.well-known/') ? { status: 404, body: '{}' } : undefined));
    const client = { issuer: idp.issuer, clientId: 'machine', clientSecret: CLIENT_SECRET, scopes: ['read'] };
    // By the card, and by the caller.
    const byCard = await callerOf('machine', clientCredentials(client));
    const endpoints = { token: `${idp.issuer}/token` };
    const byCaller = await callerOf('openId', clientCredentials({ ...client, endpoints }));
    idp.interfere(undefined);
    expect([byCard, byCaller]).toEqual(['called by machine / read', 'called by machine / read']);
  });

  it('finds the authorization server by OpenID Connect', async () => {
    const credentials = clientCredentials({ issuer: idp.issuer, clientId: 'machine', clientSecret: CLIENT_SECRET });
    expect(await callerOf('openId', credentials)).toBe('called by machine');
  });
});

describe('a client that speaks for a person', () => {
  it('gets a token by a browser, and is asked once for all calls that wait', async () => {
    const shown: URL[] = [];
    const credentials = authorizationCode({
      issuer: idp.issuer,
      clientId: 'browser',
      redirectUri: REDIRECT_URI,
      scopes: ['openid', 'read'],
      authorize: async (url) => {
        shown.push(new URL(url));
        return await new Person().agree(url);
      },
    });
    const callers = await Promise.all(Array.from({ length: 5 }, () => callerOf('browser', credentials)));
    expect(new Set(callers)).toEqual(new Set(['called by browser / ada / openid read']));
    expect(shown).toHaveLength(1);
    const asked = Object.fromEntries(shown[0]?.searchParams ?? []);
    expect(asked).toMatchObject({ code_challenge_method: 'S256', response_type: 'code', scope: 'openid read' });
    expect(asked.state).toMatch(/^.{40,}$/);
    expect(asked.code_challenge).toMatch(/^.{43}$/);
  });

  it('gets a token by a browser that comes back to this machine', async () => {
    const visits: Promise<Response>[] = [];
    const { redirectUri, authorize, close } = await loopbackRedirect({
      open: async (url) => void visits.push(fetch(await new Person().agree(url))),
    });
    onTestFinished(close);
    const options = { issuer: idp.issuer, clientId: 'browser', redirectUri, authorize, scopes: ['openid'] };
    expect(await callerOf('browser', authorizationCode(options))).toBe('called by browser / ada / openid');
    expect((await Promise.all(visits)).map(({ status }) => status)).toEqual([200]);
  });

  it('gets a token by another device', async () => {
    const credentials = deviceCode({
      issuer: idp.issuer,
      clientId: 'television',
      scopes: ['openid', 'read'],
      show: async ({ verificationUri, userCode }) => {
        await new Person().agree(verificationUri, { user_code: userCode });
      },
    });
    expect(await callerOf('television', credentials)).toBe('called by television / ada / openid read');
  });
});
