import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CAPNWEB_BINDING, capnwebBinding, capnwebTransport } from '../../packages/capnweb/src/index.js';
import { grpcBinding, grpcTransport } from '../../packages/grpc/src/index.js';
import { mutualTls } from '../../packages/mutual-tls/src/index.js';
import {
  type Authenticator,
  ClientCertificates,
  OAuth2,
  OpenIdConnect,
} from '../../packages/parley/src/exports/auth.js';
import { connect, memoryCardCache } from '../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../packages/parley/src/exports/credentials.js';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { type AuthorizationServer, CLIENT_SECRET, startAuthorizationServer } from './authorization-server.js';
import { makeAuthority } from './certificates.js';

const AGENT = 'https://agent.example/';
const allow = ['127.0.0.1'];
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC', CAPNWEB_BINDING];

async function tokenOf(idp: AuthorizationServer, parameters: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${idp.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`machine:${encodeURIComponent(CLIENT_SECRET)}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'read', ...parameters }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Serves an agent whose turns the test ends, on every binding. */
async function serveAgent(authenticator: Authenticator, options: Partial<A2AServerOptions> = {}) {
  const held = Promise.withResolvers<void>();
  const server = createA2AServer({
    authenticator,
    agent: async (prompt: string) => {
      await held.promise;
      return prompt;
    },
    bindings: [grpcBinding({ port: 0, listed: 'public' }), capnwebBinding()],
    logger,
    ...options,
  } as A2AServerOptions);
  onTestFinished(async () => {
    held.resolve();
    await server.close({ graceMs: 0 });
  });
  return { url: (await server.listen(0)).url, finish: () => held.resolve() };
}

/** Opens a stream that has begun. */
async function openStreams(url: string, options: Parameters<typeof connect>[1]) {
  const client = await connect(url, {
    cardCache: memoryCardCache(),
    bindings: [grpcTransport(), capnwebTransport()],
    ...options,
  });
  onTestFinished(() => client.close());
  const stream = client.sendStreamingMessage('hello')[Symbol.asyncIterator]();
  await stream.next();
  const end = async () => {
    try {
      for (let next = await stream.next(); next.done !== true; next = await stream.next());
      return 'complete';
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };
  return { end: end() };
}

describe.each(BINDINGS)('an open stream over %s', (binding) => {
  let opaque: AuthorizationServer;
  let jwts: AuthorizationServer;
  beforeAll(async () => {
    opaque = await startAuthorizationServer();
    jwts = await startAuthorizationServer({ accessTokenFormat: 'jwt' });
  });
  afterAll(async () => {
    await opaque.close();
    await jwts.close();
  });

  it('ends when the authorization server no longer knows its token, and others go on', async () => {
    let questions = 0;
    const authenticator = new OAuth2({
      issuer: opaque.issuer,
      flows: { clientCredentials: { tokenUrl: `${opaque.issuer}/token`, scopes: { read: '' } } },
      introspection: { clientId: 'agent', clientSecret: CLIENT_SECRET },
      cache: { maxAgeMs: 500 },
      fetch: (address, init) => {
        if (address.endsWith('/introspection')) questions += 1;
        return fetch(address, init);
      },
      allow,
    });
    const { url, finish } = await serveAgent(authenticator);
    const other = await openStreams(url, { binding, credentials: bearerToken(await tokenOf(opaque)) });
    opaque.issued.length = 0;
    const revoked = await openStreams(url, { binding, credentials: bearerToken(await tokenOf(opaque)) });
    const asked = questions;
    for (const token of opaque.issued.splice(0)) await token.destroy();
    expect(await revoked.end).toBe('UNAUTHENTICATED');
    expect(questions).toBeGreaterThan(asked);
    finish();
    expect(await other.end).toBe('complete');
  });

  it('ends when the issuer removes the key of its token', async () => {
    const keyTimes = { maxAgeMs: 0, cooldownMs: 0 };
    const authenticator = new OpenIdConnect({
      issuer: jwts.issuer,
      audience: AGENT,
      cache: { maxAgeMs: 500 },
      keyTimes,
      allow,
    });
    const { url } = await serveAgent(authenticator);
    const stream = await openStreams(url, {
      binding,
      credentials: bearerToken(await tokenOf(jwts, { resource: AGENT })),
    });
    await jwts.rotateKeys();
    expect(await stream.end).toBe('UNAUTHENTICATED');
  });
});

describe('an open stream of a client with a certificate', () => {
  const authority = makeAuthority('Test authority');
  const tls = { ...authority.server(), ca: authority.ca };

  function identifyClient(url: string, endsAt?: Date) {
    const identity = { ...authority.client('ada', endsAt && { endsAt }), ca: authority.ca };
    const made = mutualTls({ origins: [url], identity });
    onTestFinished(() => made.close());
    const { credentials, fetch } = made;
    return { credentials, fetch, binding: 'JSONRPC' };
  }

  it('ends when the certificate expires', async () => {
    const rules = new ClientCertificates([{ commonName: 'ada', subject: 'ada' }]);
    const { url } = await serveAgent(rules, { tls, bindings: [] });
    const expired = await openStreams(url, identifyClient(url, new Date(Date.now() + 8_000)));
    expect(await expired.end).toBe('UNAUTHENTICATED');
  });

  it('ends when its rule is removed', async () => {
    const rules = new ClientCertificates([{ commonName: 'ada', subject: 'ada' }]);
    const { url } = await serveAgent(rules, { tls, bindings: [] });
    const removed = await openStreams(url, identifyClient(url));
    rules.replace([{ commonName: 'bob', subject: 'bob' }]);
    expect(await removed.end).toBe('UNAUTHENTICATED');
  });
});
