import { X509Certificate } from 'node:crypto';
import { Agent, type RequestOptions, request } from 'node:https';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { JwtBearer, type JwtBearerOptions } from '../../packages/parley/src/exports/auth.js';
import { silentLogger } from '../../packages/parley/src/exports/index.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { makeAuthority } from './certificates.js';

const ISSUER = 'https://id.example';
const authority = makeAuthority('Parley test');
const ada = authority.client('ada');
const eve = authority.client('eve');
const digest = (cert: string) => Buffer.from(new X509Certificate(cert).fingerprint256.replaceAll(':', ''), 'hex');
const thumbprintOf = (cert: string) => digest(cert).toString('base64url');

const pair = await generateKeyPair('ES256', { extractable: true });
const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }] };

function tokenBoundTo(cnf: unknown): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const claims = { iss: ISSUER, aud: 'agent', sub: 'ada', exp, cnf };
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(pair.privateKey);
}

/** A server with TLS that asks for certificates, and the reasons of its refusals. */
async function serveAgent(options: Partial<JwtBearerOptions> = {}) {
  const reasons: string[] = [];
  const info = (message: string, fields?: Readonly<Record<string, unknown>>) => {
    if (message === 'credential refused') reasons.push(String(fields?.reason));
  };
  const server = createA2AServer({
    agent: () => 'hi',
    logger: { ...silentLogger, info },
    tls: { ...authority.server(), ca: authority.ca },
    authenticator: new JwtBearer({ issuer: ISSUER, audience: 'agent', keys, ...options }),
  });
  const { url } = await server.listen(0);
  onTestFinished(() => server.close({ graceMs: 0 }));
  const status = (token: string, { headers, ...more }: RequestOptions = {}) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(`${url}/a2a/rest/tasks`, {
        ca: authority.ca,
        agent: new Agent(),
        headers: { 'a2a-version': '1.0', authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
        ...more,
      });
      sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0)).on('error', reject);
      sent.end();
    });
  return { status, reasons };
}

describe('a token that is bound to a certificate (RFC 8705)', () => {
  it('counts on connections with that certificate only, also once it is known', async () => {
    const { status, reasons } = await serveAgent();
    const token = await tokenBoundTo({ 'x5t#S256': thumbprintOf(ada.cert) });
    for (const _ of [1, 2]) {
      expect(await status(token, eve)).toBe(401);
      expect(await status(token)).toBe(401);
      expect(await status(token, ada)).toBe(200);
    }
    expect(new Set(reasons)).toEqual(
      new Set([
        'the token is bound to another certificate',
        'the token is bound to a certificate, and the client sent none',
      ]),
    );
  });

  it('does not count with a certificate of another authority', async () => {
    const stranger = makeAuthority('Another').client('ada');
    const { status } = await serveAgent();
    const token = await tokenBoundTo({ 'x5t#S256': thumbprintOf(stranger.cert) });
    expect(await status(token, stranger)).toBe(401);
  });

  it('counts with the certificate that a trusted proxy tells', async () => {
    const token = await tokenBoundTo({ 'x5t#S256': thumbprintOf(ada.cert) });
    const headers = (cert: string) => ({
      headers: { 'x-forwarded-client-cert': `Hash=${digest(cert).toString('hex')}` },
    });
    const trusted = await serveAgent({ forwarded: { proxies: ['loopback'], format: 'envoy' } });
    expect(await trusted.status(token, headers(ada.cert))).toBe(200);
    expect(await trusted.status(token, headers(eve.cert))).toBe(401);
    // The connection is that of the proxy.
    expect(await trusted.status(token, ada)).toBe(401);
    const strange = await serveAgent({ forwarded: { proxies: ['10.0.0.0/8'], format: 'envoy' } });
    expect(await strange.status(token, headers(ada.cert))).toBe(401);
    const none = await serveAgent();
    expect(await none.status(token, headers(ada.cert))).toBe(401);
  });

  it.each([
    [{ jkt: 'x' }, 'the token is bound to a key by DPoP, which is not supported'],
    [{ 'x5t#S256': thumbprintOf(ada.cert), jkt: 'x' }, 'the token is bound to a key by DPoP, which is not supported'],
    [{ 'x5t#S256': thumbprintOf(ada.cert), jwk: {} }, 'the token is bound to a key'],
    [{ 'x5t#S256': 'abc' }, 'the token is bound to a key'],
    [{ kid: 'k' }, 'the token is bound to a key'],
    [{}, 'the token is bound to a key'],
    ['x', 'the token is bound to a key'],
    [null, 'the token is bound to a key'],
  ])('%j is refused', async (cnf, reason) => {
    const { status, reasons } = await serveAgent();
    expect(await status(await tokenBoundTo(cnf), ada)).toBe(401);
    expect(reasons).toEqual([reason]);
  });
});
