import { X509Certificate } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  ApiKeys,
  anyOf,
  ClientCertificates,
  type ClientCertificatesOptions,
} from '../../packages/parley/src/exports/auth.js';
import { createAgentHandler, silentLogger } from '../../packages/parley/src/exports/index.js';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { type Certified, makeAuthority } from './certificates.js';

const authority = makeAuthority('Parley test');
const ada = authority.client('ada');

async function serverOf(options: Partial<A2AServerOptions> = {}) {
  const server = createA2AServer({
    agent: (_: string, { user }: { user?: { id: string } }) => `hello ${user?.id ?? 'anonymous'}`,
    logger: silentLogger,
    tls: { ...authority.server(), ca: authority.ca },
    authenticator: new ClientCertificates([{ commonName: 'ada', subject: 'ada' }]),
    ...options,
  } as A2AServerOptions);
  const { url } = await server.listen(0);
  onTestFinished(() => server.close({ graceMs: 0 }));
  return { server, url };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly socket: TLSSocket;
}

function fetchWithTls(url: string, options: RequestOptions & { readonly body?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ca: authority.ca, agent: false, ...options }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text,
          headers: response.headers,
          socket: response.socket as TLSSocket,
        }),
      );
    });
    sent.on('error', reject).end(options.body);
  });
}

function send(url: string, options: RequestOptions = {}): Promise<Answer> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', ...options.headers };
  return fetchWithTls(`${url}/a2a/rest/message:send`, {
    ...options,
    headers,
    method: 'POST',
    body: JSON.stringify({ message }),
  } as RequestOptions);
}

describe('a server with TLS', () => {
  it('says https in its card, and the time that browsers keep to it (Spec §7.1)', async () => {
    const tls = { ...authority.server(), hstsSeconds: 600 };
    const { url } = await serverOf({ tls, authenticator: new ApiKeys([{ key: 'k', subject: 'ada' }]) });
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const card = await fetchWithTls(`${url}/.well-known/agent-card.json`);
    expect(card.headers['strict-transport-security']).toBe('max-age=600');
    const { supportedInterfaces } = JSON.parse(card.text) as { supportedInterfaces: { url: string }[] };
    expect(supportedInterfaces.every((one) => one.url.startsWith(url))).toBe(true);
    const refused = await send(url);
    expect([refused.status, refused.headers['strict-transport-security']]).toEqual([401, 'max-age=600']);
    expect((await send(url, { headers: { 'x-api-key': 'k' } })).text).toContain('hello apikey|ada');
  });

  it('refuses old versions of TLS', async () => {
    const { url } = await serverOf();
    const old = fetchWithTls(url, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' });
    await expect(old).rejects.toThrow();
    const strict = await serverOf({ tls: { ...authority.server(), ca: authority.ca, minVersion: 'TLSv1.3' } });
    await expect(fetchWithTls(strict.url, { maxVersion: 'TLSv1.2' })).rejects.toThrow();
    expect((await fetchWithTls(strict.url)).status).toBe(401);
  });

  it('closes a connection that does not speak TLS, and serves others', async () => {
    const { url } = await serverOf();
    const plain = connect(Number(new URL(url).port), '127.0.0.1');
    plain.on('error', () => {});
    plain.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await new Promise<void>((resolve) => plain.resume().on('close', () => resolve()));
    expect((await fetchWithTls(`${url}/.well-known/agent-card.json`)).status).toBe(200);
  });

  it.each([
    [{ cert: 'nothing.pem', key: ada.key }, 'cert: the file nothing.pem cannot be read (ENOENT)'],
    [{ cert: ada.cert, key: authority.client('b').key }, 'cert and key do not fit'],
    [{ cert: ada.cert, key: ada.key, requestCert: true }, 'requestCert needs ca'],
    [{ cert: ada.cert, key: ada.key, minVersion: 'TLSv1' as 'TLSv1.2' }, 'tls.minVersion'],
  ])('%# is refused at start', (tls, problem) => {
    const authenticator = new ApiKeys([{ key: 'k', subject: 'ada' }]);
    expect(() => createA2AServer({ agent: () => '', authenticator, tls })).toThrow(problem);
  });
});

it('a connection that does not begin TLS in time ends, and counts as a late head', async () => {
  const logger = new CapturingLogger();
  const { url } = await serverOf({ http: { headersMs: 100 }, logger });
  using connection = await RawConnection.open(Number(new URL(url).port));
  await connection.untilEnd();
  expect(logger.lines).toContainEqual(
    expect.objectContaining({ message: 'A limit was reached', fields: { limit: 'headersMs', caller: '127.0.0.1' } }),
  );
});

it('a connection that does not begin TLS holds up no shutdown', async () => {
  const { url, server } = await serverOf({ http: { headersMs: 100_000 } });
  using connection = await RawConnection.open(Number(new URL(url).port));
  // The server has accepted the connection once it has answered a later one.
  await fetchWithTls(url);
  await server.close({ graceMs: 0 });
  await connection.untilEnd();
});

describe('certificates of clients', () => {
  it('tell the user of a request', async () => {
    const { url } = await serverOf();
    expect((await send(url, ada)).text).toContain('hello mtls|ada');
  });

  it.each([
    ['no certificate', {}],
    ['an unknown one', authority.client('eve')],
    ['one with another case', authority.client('Ada')],
    ['an expired one', authority.client('ada', { endsAt: new Date(Date.now() - 1_000) })],
    ['one of another authority', makeAuthority('Another').client('ada')],
    ['one that is signed by itself', { cert: makeAuthority('ada').ca, key: undefined }],
  ])('%s gets 401 with a challenge, and may read the card', async (_, certified) => {
    const { url } = await serverOf();
    const { cert, key } = certified as Partial<Certified>;
    const identity = key === undefined ? {} : { cert, key };
    const refused = await send(url, identity);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Certificate']);
    expect((await fetchWithTls(`${url}/.well-known/agent-card.json`, identity)).status).toBe(200);
  });

  it('stay known in a session that is resumed', async () => {
    const { url } = await serverOf({ tls: { ...authority.server(), ca: authority.ca } });
    const agent = new Agent({ keepAlive: false, maxCachedSessions: 10, ca: authority.ca, ...ada });
    onTestFinished(() => agent.destroy());
    const reused: boolean[] = [];
    await vi.waitFor(async () => {
      const answer = await send(url, { agent });
      expect(answer.text).toContain('hello mtls|ada');
      reused.push(answer.socket.isSessionReused());
      expect(reused).toContain(true);
    }, 15_000);
    const stranger = new Agent({ keepAlive: false, maxCachedSessions: 10, ca: authority.ca });
    onTestFinished(() => stranger.destroy());
    for (let at = 0; at < 3; at++) expect((await send(url, { agent: stranger })).status).toBe(401);
  });

  it('may be one of several credentials', async () => {
    const keys = new ApiKeys([{ key: 'k', subject: 'bob' }]);
    const certificates = new ClientCertificates([{ commonName: 'ada', subject: 'ada' }]);
    const { url, server } = await serverOf({ authenticator: anyOf(certificates, keys) });
    expect(server.agentCard.securitySchemes).toMatchObject({ mtls: { mtlsSecurityScheme: {} } });
    expect((await send(url, ada)).text).toContain('mtls|ada');
    expect((await send(url, { headers: { 'x-api-key': 'k' } })).text).toContain('apikey|bob');
    expect((await send(url)).status).toBe(401);
  });

  it('are matched by fingerprint, name, or a function', async () => {
    const named = authority.client('svc', { dnsNames: ['Agent.example'], uris: ['spiffe://example/agent, URI:evil'] });
    const fingerprint = new X509Certificate(ada.cert).fingerprint256;
    const authenticator = new ClientCertificates([
      { fingerprint, subject: 'by-hash' },
      { dnsName: 'agent.example', uri: 'spiffe://example/agent, URI:evil', subject: 'by-name' },
      { uri: 'evil', subject: 'evil' },
    ]);
    const { url } = await serverOf({ authenticator });
    expect((await send(url, ada)).text).toContain('mtls|by-hash');
    expect((await send(url, named)).text).toContain('mtls|by-name');
    const rule = new ClientCertificates(({ uris }) => (uris.length === 1 ? { subject: `of ${uris[0]}` } : undefined));
    const other = await serverOf({ authenticator: rule });
    expect((await send(other.url, named)).text).toContain('mtls|of spiffe://example/agent, URI:evil');
    expect((await send(other.url, ada)).status).toBe(401);
  });

  it('that are replaced are not known any more', async () => {
    const authenticator = new ClientCertificates([{ commonName: 'ada', subject: 'ada' }]);
    const { url } = await serverOf({ authenticator });
    const agent = new Agent({ keepAlive: true, ca: authority.ca, ...ada });
    onTestFinished(() => agent.destroy());
    expect((await send(url, { agent })).status).toBe(200);
    authenticator.replace([{ commonName: 'bob', subject: 'bob' }]);
    expect((await send(url, { agent })).status).toBe(401);
  });

  it('need a server that asks for them', () => {
    const authenticator = new ClientCertificates([{ commonName: 'ada', subject: 'ada' }]);
    const agent = () => '';
    const without = [{}, { tls: authority.server() }];
    for (const options of without) {
      const problem = 'an authenticator needs certificates of clients; set tls.ca';
      expect(() => createA2AServer({ agent, authenticator, ...options })).toThrow(problem);
      expect(() => createA2AServer({ agent, authenticator: anyOf(authenticator), ...options })).toThrow(problem);
    }
    const handler = createAgentHandler({ agent, authenticator, url: 'https://agent.example' });
    expect(() => handler.fetch).toThrow('fetch cannot provide certificates of clients');
    expect(() => new ClientCertificates([{ subject: 'ada' }])).toThrow('the rule of ada needs one of fingerprint');
  });
});

it('a certificate of the server that changes on disk is used for new connections', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = ({ cert, key }: Certified) => {
    writeFileSync(join(folder, 'new'), `${cert}${key}`);
    renameSync(join(folder, 'new'), join(folder, 'server.pem'));
  };
  const first = authority.server();
  write(first);
  const path = join(folder, 'server.pem');
  const watched = await serverOf({
    tls: { cert: path, key: path, reloadMs: 20 },
    authenticator: new ApiKeys([{ key: 'k', subject: 'ada' }]),
  });
  const servedFingerprint = async () =>
    (await fetchWithTls(watched.url)).socket.getPeerX509Certificate()?.fingerprint256;
  const fingerprintOf = ({ cert }: Certified) => new X509Certificate(cert).fingerprint256;
  expect(await servedFingerprint()).toBe(fingerprintOf(first));
  writeFileSync(path, 'broken');
  expect(await servedFingerprint()).toBe(fingerprintOf(first));
  const second = authority.server();
  write(second);
  await vi.waitFor(async () => expect(await servedFingerprint()).toBe(fingerprintOf(second)), { timeout: 10_000 });
});

describe('behind a proxy that ends TLS', () => {
  const fingerprint = new X509Certificate(ada.cert).fingerprint256.replaceAll(':', '').toLowerCase();
  const der = Buffer.from(new X509Certificate(ada.cert).raw).toString('base64');
  const escaped = encodeURIComponent(ada.cert);
  const other = 'f'.repeat(64);

  async function fetchThroughProxy(forwarded: ClientCertificatesOptions['forwarded'], headers: Record<string, string>) {
    const users = [
      { fingerprint, subject: 'ada' },
      { uri: 'spiffe://example/bob', commonName: 'bob, the "second"', subject: 'bob' },
    ];
    const authenticator = new ClientCertificates(users, { ...(forwarded && { forwarded }) });
    const { url } = await serverOf({ authenticator, tls: authority.server() });
    const { status, text } = await send(url, { headers });
    return /mtls\|\w+/.exec(text)?.[0] ?? status;
  }

  it.each([
    [`Hash=${fingerprint};Subject="CN=ada"`, 'mtls|ada'],
    [`By=spiffe://x;Hash=${other};Subject="CN=bob\\, the \\"second\\"";URI=spiffe://example/bob`, 'mtls|bob'],
    // Envoy writes these for the organizations `x\,CN=...` and `x",CN=...` (RFC 2253 §2.4).
    [`Hash=${other};Subject="O=x\\\\\\,CN=bob\\, the \\"second\\"";URI=spiffe://example/bob`, 401],
    [`Hash=${other};Subject="O=x\\"\\,CN=bob\\, the \\"second\\"";URI=spiffe://example/bob`, 401],
    [`Hash=${fingerprint};Subject="O=a, b,CN=ada";DNS=a.example;DNS=b.example`, 'mtls|ada'],
    // Envoy does not escape names: the URI of this certificate is `x,Hash=...`.
    [`Hash=${other};URI=x,Hash=${fingerprint}`, 401],
    [`Hash=${other};URI=x;Hash=${fingerprint}`, 401],
    [`Hash=${other};Subject="CN=bob\\, the \\"second\\"";URI=x;URI=spiffe://example/bob`, 401],
    [`Hash=${other};URI=x",Hash=${fingerprint};URI="`, 401],
    // The client has sent an element, or the beginning of one, before that of the proxy.
    [`Hash=${fingerprint},Hash=${other}`, 401],
    [`Hash=${other},Hash=${fingerprint}`, 401],
    [`Hash=${other};Subject="a;Hash=${fingerprint},Hash=${fingerprint}"`, 401],
    [`Hash=${fingerprint};Subject=",By=x;Hash=${other};Subject="CN=eve"`, 401],
    [`Hash=${fingerprint};Subject=",By=x;Hash=${other};Subject="CN=eve";URI=x"`, 401],
    [`Hash=${fingerprint};Subject="\\,Hash=${other};Subject="CN=eve";URI=x`, 401],
    [`Subject="CN=ada"`, 401],
    ['nothing', 401],
    [`Hash="${'"'.repeat(3)}`, 401],
  ])('X-Forwarded-Client-Cert of Envoy: %s', async (header, expected) => {
    const forwarded = { proxies: ['loopback'], format: 'envoy' } as const;
    expect(await fetchThroughProxy(forwarded, { 'x-forwarded-client-cert': header })).toBe(expected);
  });

  it.each([
    [{ 'x-client-cert': escaped, 'x-client-verify': 'SUCCESS' }, 'mtls|ada'],
    [{ 'x-client-cert': escaped, 'x-client-verify': 'FAILED:expired' }, 401],
    [{ 'x-client-cert': escaped }, 401],
    [{ 'x-client-cert': '%zz', 'x-client-verify': 'SUCCESS' }, 401],
    [{ 'x-client-cert': escaped.slice(0, 300), 'x-client-verify': 'SUCCESS' }, 401],
    [{ 'x-client-verify': 'NONE' }, 401],
  ])('$ssl_client_escaped_cert of nginx, %#', async (headers, expected) => {
    expect(await fetchThroughProxy({ proxies: ['127.0.0.1'], format: 'nginx' }, headers)).toBe(expected);
  });

  it.each([
    [`:${der}:`, 'mtls|ada'],
    [der, 401],
    [':AAAA:', 401],
  ])('Client-Cert (RFC 9440), %#', async (header, expected) => {
    expect(await fetchThroughProxy({ proxies: ['loopback'], format: 'rfc9440' }, { 'client-cert': header })).toBe(
      expected,
    );
  });

  it('a header of any other peer is ignored', async () => {
    const header = { 'x-forwarded-client-cert': `Hash=${fingerprint}` };
    expect(await fetchThroughProxy({ proxies: ['10.0.0.0/8'], format: 'envoy' }, header)).toBe(401);
  });
});
