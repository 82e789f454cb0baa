import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  clientCredentials,
  deviceCode,
  discoverEndpoints,
  type OAuthClientOptions,
} from '../../packages/parley/src/exports/credentials.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import { WatchedListener } from './watched-listener.js';

/** A public address that is never called. */
const PUBLIC = 'http://93.184.216.34';
const SECRET = 'pl4nted-s3cret-of-the-client';

/** Spellings of an address of this machine or its network, as a card or a document may have them. */
const PRIVATE = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127。0。0。1',
  'localhost',
  'LOCALHOST.',
  'agent.localhost',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '0.0.0.0',
];

let watched: WatchedListener;
beforeAll(async () => {
  watched = await WatchedListener.open();
});
afterAll(() => watched[Symbol.asyncDispose]());
beforeEach(() => {
  watched.connections.length = 0;
  watched.requests.length = 0;
  watched.answer = (_, response) => void response.writeHead(404).end();
});

const client = (options: Partial<OAuthClientOptions> = {}) => ({
  issuer: PUBLIC,
  clientId: 'client',
  clientSecret: SECRET,
  plainHttp: true,
  ...options,
});

/** Gets credentials for a card that accepts tokens of any issuer. */
function proven(credentials: ReturnType<typeof clientCredentials>) {
  const card = {
    securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { token: {} } }],
  } as unknown as AgentCard;
  return credentials.credentials({ card, url: PUBLIC });
}

/** Answers the discovery of the public issuer, which no test calls. All other requests are real. */
function publicIssuer(metadata: object) {
  const real = globalThis.fetch;
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) =>
    url.startsWith(PUBLIC) ? Response.json({ issuer: PUBLIC, ...metadata }) : real(url, init),
  );
  onTestFinished(() => void vi.unstubAllGlobals());
}

const granted = JSON.stringify({ access_token: 'granted', token_type: 'bearer' });

describe.each(PRIVATE)('a client that may not call private addresses, and %s', (host) => {
  const at = () => `http://${host}:${watched.port}`;
  const refusal = /is not called: its address is not public, and the caller did not name it/;

  it('sends no secret to a token endpoint in the document of a public issuer', async () => {
    publicIssuer({ token_endpoint: `${at()}/token` });
    await expect(proven(clientCredentials(client()))).rejects.toThrow(refusal);
    expect(watched.connections).toEqual([]);
  });

  it('asks no device endpoint in the document of a public issuer', async () => {
    publicIssuer({ token_endpoint: `${PUBLIC}/token`, device_authorization_endpoint: `${at()}/device` });
    const { clientSecret: _, ...open } = client();
    await expect(proven(deviceCode({ ...open, show: () => {} }))).rejects.toThrow(refusal);
    expect(watched.connections).toEqual([]);
  });

  it('reads no metadata, and posts nothing, if the issuer comes from the card of a public agent', async () => {
    const found = { issuer: at(), trustedOrigins: [PUBLIC] };
    const { issuer, trustedOrigins } = found;
    await expect(discoverEndpoints(issuer, { trustedOrigins })).rejects.toThrow(/not public|requests to HTTPS/);
    await expect(proven(clientCredentials(client(found)))).rejects.toThrow(refusal);
    const endpoints = { token: `${at()}/token` };
    await expect(proven(clientCredentials(client({ ...found, endpoints })))).rejects.toThrow(refusal);
    expect(watched.connections).toEqual([]);
  });
});

describe('a private authorization server is called', () => {
  const here = () => `http://127.0.0.1:${watched.port}`;
  const token = { headers: { authorization: 'Bearer granted' } };
  beforeEach(() => {
    watched.answer = ({ url }, response) =>
      void (url === '/token'
        ? response.writeHead(200, { 'content-type': 'application/json' }).end(granted)
        : response.writeHead(404).end());
  });

  it('if the caller names its endpoint, or its origin', async () => {
    publicIssuer({ token_endpoint: `${here()}/token` });
    expect(await proven(clientCredentials(client({ endpointOrigins: [here()] })))).toMatchObject(token);
    const endpoints = { token: `${here()}/token` };
    expect(await proven(clientCredentials(client({ endpoints })))).toMatchObject(token);
  });

  it('if the caller names it as the issuer', async () => {
    const endpoints = { token: `${here()}/token` };
    expect(await proven(clientCredentials(client({ issuer: here(), endpoints })))).toMatchObject(token);
  });

  it('if the card of a private agent names it', async () => {
    const found = { issuer: here(), endpoints: { token: `${here()}/token` }, trustedOrigins: ['http://127.0.0.2'] };
    expect(await proven(clientCredentials(client(found)))).toMatchObject(token);
    expect(watched.requests.at(-1)?.path).toBe('/token');
  });

  it('by the fetch of the caller', async () => {
    publicIssuer({ token_endpoint: `${here()}/token` });
    const own = { fetch: (url: string, init: RequestInit) => fetch(url, init) };
    expect(await proven(clientCredentials(client(own)))).toMatchObject(token);
  });
});
