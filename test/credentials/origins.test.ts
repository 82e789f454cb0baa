import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, memoryCardCache } from '../../packages/parley/src/exports/client.js';
import {
  apiKey,
  bearerToken,
  clientCredentials,
  credentialedFetch,
} from '../../packages/parley/src/exports/credentials.js';
import {
  type AuthorizationServer,
  CLIENT_SECRET,
  closeServer,
  startAuthorizationServer,
} from './authorization-server.js';

/** A server that records its requests, and returns the given answers. */
interface Listener {
  readonly url: string;
  readonly requests: { readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
  close(): Promise<void>;
}

const closing: (() => Promise<void>)[] = [];
let idp: AuthorizationServer;
beforeEach(async () => {
  idp = await startAuthorizationServer();
  closing.push(() => idp.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function listener(answer: (path: string, self: string) => Answer): Promise<Listener> {
  const requests: Listener['requests'] = [];
  const http = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push({ url: request.url ?? '', headers: request.headers, body });
    const { status, headers, body: said = {} } = answer(request.url ?? '', url);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(said));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const close = () => (http.listening ? closeServer(http) : Promise.resolve());
  closing.push(close);
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { url, requests, close };
}

const cardOf = (urls: readonly string[], securitySchemes: object) => ({
  name: 'an agent',
  description: 'of a test',
  version: '1',
  supportedInterfaces: urls.map((url) => ({ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' })),
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  securitySchemes,
});
const BEARER = { token: { httpAuthSecurityScheme: { scheme: 'bearer' } } };
const MESSAGE = { message: { messageId: 'm1', role: 'ROLE_AGENT', parts: [{ text: 'hello' }] } };
const isCard = (path: string) => path.startsWith('/.well-known/');

/** Returns all requests of a listener, including those for cards. */
const requestsText = ({ requests }: Listener) => JSON.stringify(requests);

describe('credentials of an agent', () => {
  it('go to its origin, and not to an interface elsewhere that its card names', async () => {
    const other = await listener(() => ({ status: 200, body: MESSAGE }));
    const home = await listener((path, self) =>
      isCard(path) ? { status: 200, body: cardOf([other.url, self], BEARER) } : { status: 200, body: MESSAGE },
    );
    const client = await connect(home.url, { credentials: bearerToken('s3cret'), cardCache: memoryCardCache() });
    await client.sendMessage('hello');
    expect(other.requests).toHaveLength(1);
    expect(requestsText(other)).not.toContain('s3cret');
    const trusting = await connect(home.url, {
      credentials: bearerToken('s3cret'),
      trustedOrigins: [other.url],
      cardCache: memoryCardCache(),
    });
    await trusting.sendMessage('hello');
    expect(other.requests[1]?.headers.authorization).toBe('Bearer s3cret');
  });

  it('stay at home when the client falls back to an interface elsewhere', async () => {
    const other = await listener(() => ({ status: 200, body: MESSAGE }));
    const schemes = { key: { apiKeySecurityScheme: { location: 'query', name: 'key' } } };
    const home = await listener((_, self) => ({ status: 200, body: cardOf([self, other.url], schemes) }));
    const client = await connect(home.url, { credentials: apiKey('s3cret'), cardCache: memoryCardCache() });
    await home.close();
    await client.sendMessage('hello');
    expect(other.requests).toHaveLength(1);
    expect(requestsText(other)).not.toContain('s3cret');
  });

  it.each([301, 302, 303, 307, 308])('follow no redirect of a call: %d', async (status) => {
    const other = await listener(() => ({ status: 200, body: MESSAGE }));
    const home = await listener((path, self) =>
      isCard(path)
        ? { status: 200, body: cardOf([self], BEARER) }
        : { status, headers: { location: `${other.url}/message:send` } },
    );
    const client = await connect(home.url, { credentials: bearerToken('s3cret'), cardCache: memoryCardCache() });
    await expect(client.sendMessage('hello')).rejects.toThrow('redirects');
    expect(home.requests.at(-1)?.headers.authorization).toBe('Bearer s3cret');
    expect(other.requests).toEqual([]);
  });

  it.each([301, 302, 307, 308])('stay at home when a request beside the protocol is redirected: %d', async (status) => {
    const other = await listener(() => ({ status: 200, body: { it: 'is another' } }));
    const schemes = { key: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } } };
    const home = await listener((path, self) => {
      if (isCard(path)) return { status: 200, body: cardOf([self], schemes) };
      if (path === '/own') return { status, headers: { location: '/report' } };
      return path === '/report' ? { status: 200 } : { status, headers: { location: `${other.url}/report` } };
    });
    const credentials = apiKey('s3cret');
    const headers = { 'x-client-token': 's3cret', 'x-team': 'of-s3cret' };
    const client = await connect(home.url, { credentials, headers, cardCache: memoryCardCache() });
    const send = credentialedFetch(credentials, { card: client.card, trustedOrigins: [home.url] });
    for (const fetched of [client.request.bind(client), (url: string) => send(url, { headers })]) {
      expect((await fetched(`${home.url}/own`)).status).toBe(200);
      expect(home.requests.at(-1)).toMatchObject({ url: '/report', headers: { 'x-api-key': 's3cret' } });
      // All listeners have loopback names, which are one origin for each port.
      const found = await fetched(`${home.url}/elsewhere`);
      expect(await found.json()).toEqual({ it: 'is another' });
      expect(requestsText(other)).not.toContain('s3cret');
    }
    expect(other.requests).toHaveLength(2);
    const posted = await client.request(`${home.url}/elsewhere`, { method: 'POST', body: 's3cret' });
    expect([posted.status, other.requests.length]).toEqual([status, 2]);
    await expect(client.request(`${home.url}/own`, { redirect: 'error' })).rejects.toThrow();
    expect((await client.request(`${home.url}/own`, { redirect: 'manual' })).status).toBe(status);
  });

  it('go round no circle of redirects', async () => {
    const home = await listener((path, self) =>
      isCard(path) ? { status: 200, body: cardOf([self], BEARER) } : { status: 302, headers: { location: '/again' } },
    );
    const client = await connect(home.url, { credentials: bearerToken('s3cret'), cardCache: memoryCardCache() });
    await expect(client.request(`${home.url}/first`)).rejects.toThrow('redirects more than 3 times');
    expect(home.requests.filter(({ url }) => url === '/again')).toHaveLength(3);
  });

  it('are not for whoever the address of the card redirects to', async () => {
    const other = await listener((path, self) =>
      isCard(path) ? { status: 200, body: cardOf([self], BEARER) } : { status: 200, body: MESSAGE },
    );
    const home = await listener((path) => ({ status: 302, headers: { location: `${other.url}${path}` } }));
    const called = connect(home.url, { credentials: bearerToken('s3cret'), cardCache: memoryCardCache() }).then(
      (client) => client.sendMessage('hello'),
    );
    await called.catch(() => {});
    expect(requestsText(other)).not.toContain('s3cret');
    expect(requestsText(home)).not.toContain('s3cret');
  });
});

describe('a catalog that names a card on another origin', () => {
  const CATALOG = '/.well-known/ai-catalog.json';
  const catalogOf = (entry: object) => ({ specVersion: '1.0', entries: [{ identifier: 'one', ...entry }] });
  const card = (url: string) => ({ type: 'application/a2a-agent-card+json', url });

  /** The reference of `home` leads to a card at `other`, whose only interface is there too. */
  async function askCatalogAgent(catalog: (other: string) => object) {
    const other: Listener = await listener((path, self) => {
      if (path === '/card.json') return { status: 200, body: cardOf([self], BEARER) };
      if (path === '/more.json') return { status: 200, body: catalogOf(card('/card.json')) };
      return { status: 200, body: MESSAGE };
    });
    const home = await listener((path) =>
      path === CATALOG ? { status: 200, body: catalog(other.url) } : { status: 404 },
    );
    return { home, other };
  }

  it.each<[string, (other: string) => object]>([
    ['by its url', (other) => catalogOf(card(`${other}/card.json`))],
    ['in a catalog within', (other) => catalogOf({ type: 'application/ai-catalog+json', url: `${other}/more.json` })],
    ['as a part of itself', (other) => catalogOf({ ...card(''), url: undefined, data: cardOf([other], BEARER) })],
  ])('moves no credentials there: %s', async (_, catalog) => {
    const { home, other } = await askCatalogAgent(catalog);
    const options = {
      credentials: bearerToken('s3cret'),
      cardHeaders: { 'x-card-key': 's3cret' },
      headers: { 'X-API-Key': 's3cret', 'x-region': 'north' },
      cardCache: memoryCardCache(),
    };
    const client = await connect(home.url, options);
    await client.sendMessage('hello');
    expect(home.requests.at(-1)?.headers['x-card-key']).toBe('s3cret');
    expect(other.requests.at(-1)?.url).toBe('/message:send');
    expect(requestsText(other)).not.toContain('s3cret');
    expect(other.requests.at(-1)?.headers['x-region']).toBe('north');
    const trusting = await connect(home.url, { ...options, trustedOrigins: [other.url] });
    await trusting.sendMessage('hello');
    expect(other.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer s3cret', 'x-api-key': 's3cret' });
  });
});

describe('the secret of an OAuth client', () => {
  const machine = (more: object = {}) =>
    clientCredentials({ issuer: idp.issuer, clientId: 'machine', clientSecret: CLIENT_SECRET, ...more });
  const told64 = (one: Listener) =>
    `${requestsText(one)} ${one.requests.map(({ headers }) => decodeBasic(headers.authorization)).join()}`;

  it.each<[string, (thief: string, issuer: string) => object]>([
    ['the token url', (thief) => oauth2(`${thief}/token`)],
    ['the token url, though the issuer is in it', (thief, issuer) => oauth2(`${thief}/?${issuer}/token`)],
    ['the metadata', (thief, issuer) => oauth2(`${issuer}/token`, `${thief}/.well-known/oauth-authorization-server`)],
    [
      'OpenID Connect',
      (thief) => ({
        idp: { openIdConnectSecurityScheme: { openIdConnectUrl: `${thief}/.well-known/openid-configuration` } },
      }),
    ],
  ])('does not go to a server that is only named by the card: %s', async (_, schemes) => {
    const thief = await listener(() => ({ status: 200, body: { access_token: 'x', token_type: 'bearer' } }));
    const home = await listener((path, self) =>
      isCard(path)
        ? {
            status: 200,
            body: {
              ...cardOf([self], schemes(thief.url, idp.issuer)),
              securityRequirements: [{ schemes: { idp: { list: ['read'] } } }],
            },
          }
        : { status: 200, body: MESSAGE },
    );
    const client = await connect(home.url, { credentials: machine(), cardCache: memoryCardCache() });
    await expect(client.sendMessage('hello')).rejects.toMatchObject({ name: 'CredentialsError', fault: 'missing' });
    expect(thief.requests).toEqual([]);
    expect(home.requests.filter(({ url }) => !isCard(url))).toEqual([]);
  });

  it('does not go to endpoints on another origin than the issuer, unless its discovery document or the caller names them', async () => {
    const thief = await listener(() => ({ status: 200, body: { access_token: 'x', token_type: 'bearer' } }));
    const home = await listener((path, self) =>
      isCard(path) ? { status: 200, body: cardOf([self], BEARER) } : { status: 200, body: MESSAGE },
    );
    const call = async (more: object) => {
      const client = await connect(home.url, { credentials: machine(more), cardCache: memoryCardCache() });
      return await client.sendMessage('hello');
    };
    const endpoints = { token: `${thief.url}/token` };
    await expect(call({ endpoints })).rejects.toMatchObject({ fault: 'missing', code: 'UNAUTHENTICATED' });
    expect(thief.requests).toEqual([]);
    await expect(call({ endpoints, endpointOrigins: [thief.url] })).resolves.toMatchObject(MESSAGE);
    expect(thief.requests.map(({ url }) => url)).toEqual(['/token']);
    const named = await listener((path, self) =>
      path.includes('well-known')
        ? { status: 200, body: { issuer: self, token_endpoint: endpoints.token } }
        : { status: 404 },
    );
    await expect(call({ issuer: named.url, endpoints })).resolves.toMatchObject(MESSAGE);
    expect(thief.requests).toHaveLength(2);
  });

  it('does not follow a redirect of the authorization server', async () => {
    const thief = await listener(() => ({ status: 200, body: { access_token: 'x', token_type: 'bearer' } }));
    const home = await listener((path, self) =>
      isCard(path) ? { status: 200, body: cardOf([self], BEARER) } : { status: 200, body: MESSAGE },
    );
    idp.interfere((path) =>
      path === '/token' ? { status: 307, headers: { location: `${thief.url}/token` }, body: '' } : undefined,
    );
    const client = await connect(home.url, { credentials: machine(), cardCache: memoryCardCache() });
    await expect(client.sendMessage('hello')).rejects.toMatchObject({ name: 'CredentialsError', fault: 'unavailable' });
    expect(thief.requests).toEqual([]);
  });

  it('is not given to metadata that name another issuer', async () => {
    const imposter = await listener((path, self) =>
      path.includes('well-known')
        ? { status: 200, body: { issuer: idp.issuer, token_endpoint: `${self}/token` } }
        : { status: 200, body: { access_token: 'x', token_type: 'bearer' } },
    );
    const home = await listener((path, self) =>
      isCard(path) ? { status: 200, body: cardOf([self], BEARER) } : { status: 200, body: MESSAGE },
    );
    const credentials = machine({ issuer: imposter.url });
    const client = await connect(home.url, { credentials, cardCache: memoryCardCache() });
    await expect(client.sendMessage('hello')).rejects.toMatchObject({ fault: 'unavailable' });
    expect(told64(imposter)).not.toContain(CLIENT_SECRET);
    expect(imposter.requests.map(({ url }) => url)).toEqual(['/.well-known/openid-configuration']);
  });

  function oauth2(tokenUrl: string, oauth2MetadataUrl?: string) {
    const flows = { clientCredentials: { tokenUrl, scopes: { read: 'to read' } } };
    return { idp: { oauth2SecurityScheme: { flows, ...(oauth2MetadataUrl && { oauth2MetadataUrl }) } } };
  }
});

function decodeBasic(header: string | undefined): string {
  return header?.startsWith('Basic ') ? decodeURIComponent(atob(header.slice(6))) : '';
}
