import { afterEach, describe, expect, it } from 'vitest';
import { type Client, connect } from '../../packages/parley/src/exports/client.js';
import {
  authorizationCode,
  clientCredentials,
  type SchemeCredentials,
  type TokenStore,
  type Tokens,
} from '../../packages/parley/src/exports/credentials.js';
import {
  type AuthorizationServer,
  CLIENT_SECRET,
  REDIRECT_URI,
  startAuthorizationServer,
} from './authorization-server.js';
import { Person } from './person.js';
import { introspectToken, type ProtectedAgent, startProtectedAgent } from './protected-agent.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface World {
  readonly idp: AuthorizationServer;
  readonly agent: ProtectedAgent;
  connectClient(credentials: SchemeCredentials): Promise<Client>;
}

async function world(options: { readonly lifeS?: number } = {}): Promise<World> {
  const idp = await startAuthorizationServer(options);
  closing.push(() => idp.close());
  const agent = await startProtectedAgent({
    securitySchemes: {
      idp: { openIdConnectSecurityScheme: { openIdConnectUrl: `${idp.issuer}/.well-known/openid-configuration` } },
    },
    userOf: introspectToken(idp.issuer),
  });
  closing.push(() => agent.close());
  return { idp, agent, connectClient: (credentials) => connect(agent.url, { credentials }) };
}

const machine = ({ idp }: World, more: { readonly store?: TokenStore } = {}) =>
  clientCredentials({ issuer: idp.issuer, clientId: 'machine', clientSecret: CLIENT_SECRET, ...more });

/** A client with a person who agrees to everything. */
function browser({ idp }: World) {
  const asked: string[] = [];
  const credentials = authorizationCode({
    issuer: idp.issuer,
    clientId: 'browser',
    redirectUri: REDIRECT_URI,
    scopes: ['openid', 'read'],
    authorize: (url) => {
      asked.push(url);
      return new Person().agree(url);
    },
  });
  return { credentials, asked };
}

/** Revokes a token, as an operator would (RFC 7009). */
async function revoke({ idp }: World, header: string | undefined): Promise<void> {
  const response = await fetch(`${idp.issuer}/token/revocation`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`machine:${encodeURIComponent(CLIENT_SECRET)}`)}` },
    body: new URLSearchParams({ token: header?.slice('Bearer '.length) ?? '' }),
  });
  expect(response.status).toBe(200);
}

describe('a token that is refused', () => {
  it('is renewed by one request for 50 calls at once, all of which succeed', async () => {
    const here = await world();
    const client = await here.connectClient(machine(here));
    await client.sendMessage('first');
    const [old] = here.agent.presented;
    await revoke(here, old);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => client.sendMessage(`call ${at}`)));
    expect(answers).toHaveLength(50);
    expect(here.idp.tokenRequests.map(({ grant, status }) => [grant, status])).toEqual([
      ['client_credentials', 200],
      ['client_credentials', 200],
    ]);
    const tokens = new Set(here.agent.presented);
    expect(tokens.size).toBe(2);
    // 50 calls refused with the old token at most, none of them twice.
    expect(here.agent.presented.filter((one) => one === old).length).toBeLessThanOrEqual(51);
  });

  it('is renewed once in vain where the agent takes no other either', async () => {
    const here = await world();
    const stranger = await startProtectedAgent({
      securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      userOf: () => undefined,
    });
    closing.push(() => stranger.close());
    const client = await connect(stranger.url, { credentials: machine(here) });
    const calls = Array.from({ length: 20 }, () => client.sendMessage('let me in'));
    const outcomes = await Promise.allSettled(calls);
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(here.idp.tokenRequests).toHaveLength(2);
    await expect(client.sendMessage('again')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('is renewed in the middle of a stream that has to be opened', async () => {
    const here = await world();
    const client = await here.connectClient(machine(here));
    await client.sendMessage('first');
    await revoke(here, here.agent.presented[0]);
    const events: object[] = [];
    for await (const event of client.sendStreamingMessage('a stream')) events.push(event);
    expect(events).toMatchObject([{ message: { parts: [{ text: 'called by machine' }] } }]);
  });
});

describe('a token that expires', () => {
  it('is replaced while calls go on, none of which fails', { timeout: 60_000 }, async () => {
    const here = await world({ lifeS: 3 });
    const client = await here.connectClient(machine(here));
    const deadline = Date.now() + 40_000;
    while (new Set(here.agent.presented).size < 3) {
      if (Date.now() > deadline) throw new Error('the token was never replaced');
      await client.sendMessage('go on');
    }
    // One request for each of them.
    expect(here.idp.tokenRequests).toHaveLength(new Set(here.agent.presented).size);
  });

  it('is renewed by its refresh token, and the person is not asked again', { timeout: 60_000 }, async () => {
    const here = await world({ lifeS: 3 });
    const { credentials, asked } = browser(here);
    const client = await here.connectClient(credentials);
    const deadline = Date.now() + 40_000;
    while (here.idp.tokenRequests.length < 3) {
      if (Date.now() > deadline) throw new Error('the token was never renewed');
      await Promise.all([client.sendMessage('go on'), client.sendMessage('and on')]);
    }
    expect(here.idp.tokenRequests.map(({ grant, status }) => [grant, status])).toEqual([
      ['authorization_code', 200],
      ['refresh_token', 200],
      ['refresh_token', 200],
    ]);
    expect(asked).toHaveLength(1);
    // A server that rotates refresh tokens takes each one once.
    expect(new Set(here.idp.tokenRequests.map(({ body }) => body.refresh_token)).size).toBe(3);
  });

  it('leads back to the person once its refresh token is no longer good', async () => {
    const here = await world();
    const { credentials, asked } = browser(here);
    const client = await here.connectClient(credentials);
    await client.sendMessage('first');
    for (const token of here.idp.issued.splice(0)) await token.destroy();
    await client.sendMessage('second');
    expect(asked).toHaveLength(2);
    expect(here.idp.tokenRequests.map(({ grant, status }) => [grant, status])).toEqual([
      ['authorization_code', 200],
      ['refresh_token', 400],
      ['authorization_code', 200],
    ]);
  });
});

describe('tokens that are stored', () => {
  it('serve the next process without a word to the authorization server, and are replaced there too', async () => {
    const here = await world();
    const saved = new Map<string, Tokens>();
    const store: TokenStore = {
      load: async (key) => saved.get(key),
      save: async (key, tokens) => void saved.set(key, tokens),
    };
    await (await here.connectClient(machine(here, { store }))).sendMessage('first process');
    expect(saved.size).toBe(1);
    await (await here.connectClient(machine(here, { store }))).sendMessage('second process');
    expect(here.idp.tokenRequests).toHaveLength(1);
    await revoke(here, here.agent.presented[0]);
    await (await here.connectClient(machine(here, { store }))).sendMessage('third process');
    await (await here.connectClient(machine(here, { store }))).sendMessage('fourth process');
    expect(here.idp.tokenRequests).toHaveLength(2);
  });
});
