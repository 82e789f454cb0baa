import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import {
  ApiKeys,
  type Authenticator,
  anyOf,
  ClientCertificates,
  type ForwardedCertificates,
  JwtBearer,
} from 'parley-a2a/auth';
import type { AgentExecutor } from 'parley-a2a/server';
import { describe, expect, it } from 'vitest';
import { makeAuthority } from '../credentials/certificates.js';
import { HELLO, message, servedAgent } from './session-world.js';

const cors = ['https://widget.example'];
const PAGE = { origin: 'https://widget.example', 'sec-fetch-site': 'cross-site' };
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
const who: AgentExecutor = {
  replies: 'either',
  execute: async ({ user }, events) => void (await events.message(user?.id ?? 'nobody')),
};

/** The user of a call in a session, or the code of its refusal. */
function callerOf({ entrance }: ReturnType<Awaited<ReturnType<typeof servedAgent>>['open']>, hello: object) {
  return entrance
    .authenticate(hello)
    .sendMessage({ message: message('who am I?') })
    .then(
      (found) => /[^"|]+\|\w+/.exec(JSON.stringify(found))?.[0],
      (error: { readonly reason?: string }) => error.reason,
    );
}

describe('a token that is bound to a certificate (RFC 8705), in a session', async () => {
  const authority = makeAuthority('Parley test');
  const [ada, eve] = [authority.client('ada'), authority.client('eve')];
  const digest = (cert: string) => Buffer.from(new X509Certificate(cert).fingerprint256.replaceAll(':', ''), 'hex');
  const pair = await generateKeyPair('ES256', { extractable: true });
  const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }] };
  const issuer = 'https://id.example';
  const cnf = { 'x5t#S256': digest(ada.cert).toString('base64url') };
  const exp = Math.floor(Date.now() / 1000) + 600;
  const token = await new SignJWT({ iss: issuer, aud: 'agent', sub: 'ada', exp, cnf })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .sign(pair.privateKey);
  const authenticatorFor = (forwarded?: ForwardedCertificates) =>
    new JwtBearer({ issuer, audience: 'agent', keys, ...(forwarded && { forwarded }) });
  const HELLOS = [
    ['of the session', { ...HELLO, credential: { scheme: 'bearer', value: token } }],
    ['in a parameter', { parameters: { ...HELLO.parameters, Authorization: `Bearer ${token}` } }],
  ] as const;

  it.each(HELLOS)('counts with that certificate, except for a page of another site: %s', async (_, hello) => {
    const tls = { ...authority.server(), ca: authority.ca };
    const { open } = await servedAgent({ authenticator: authenticatorFor(), cors, tls, agent: who });
    const caller = (certified: typeof ada, headers: Record<string, string>) =>
      callerOf(open(headers, { ...certified, ca: authority.ca }), hello);
    expect(await caller(ada, {})).toBe(`${issuer}|ada`);
    expect(await caller(ada, OWN_PAGE)).toBe(`${issuer}|ada`);
    expect(await caller(eve, {})).toBe('UNAUTHENTICATED');
    expect(await caller(ada, PAGE)).toBe('PERMISSION_DENIED');
  });

  it.each(HELLOS)('counts in the same way if a proxy tells the certificate: %s', async (_, hello) => {
    const authenticator = authenticatorFor({ proxies: ['loopback'], format: 'envoy' });
    const { open } = await servedAgent({ authenticator, cors, agent: who });
    const caller = ({ cert }: typeof ada, headers: Record<string, string>) =>
      callerOf(open({ ...headers, 'x-forwarded-client-cert': `Hash=${digest(cert).toString('hex')}` }), hello);
    expect(await caller(ada, {})).toBe(`${issuer}|ada`);
    expect(await caller(ada, OWN_PAGE)).toBe(`${issuer}|ada`);
    expect(await caller(eve, {})).toBe('UNAUTHENTICATED');
    expect(await caller(ada, PAGE)).toBe('PERMISSION_DENIED');
  });
});

describe('HTTP Basic that a browser attached to the request that opened a session', () => {
  const own: Authenticator = {
    challenges: ['Basic realm="own"'],
    authenticate: (credentials) =>
      credentials.header('authorization') === undefined
        ? { kind: 'anonymous' }
        : { kind: 'user', user: { id: 'own|ada' } },
  };
  const place = { location: 'header', name: 'X-Agent-Key' } as const;
  const keys = new ApiKeys([{ key: 'key-of-eve-0123456789abcdef', subject: 'eve' }], { place });
  const basic = { authorization: `Basic ${btoa('ada:password')}` };

  it('does not count for a page of another site because the page chose a parameter', async () => {
    const { open } = await servedAgent({ authenticator: anyOf(keys, own), cors, agent: who });
    const chosen = { parameters: { ...HELLO.parameters, 'X-Agent-Key': 'bogus' } };
    expect(await callerOf(open({ ...basic, ...PAGE }), chosen)).toBe('PERMISSION_DENIED');
    expect(await callerOf(open({ ...basic, ...OWN_PAGE }), chosen)).toBe('own|ada');
    expect(await callerOf(open(basic), chosen)).toBe('own|ada');
    const ofEve = { ...HELLO, credential: { scheme: 'apiKey', value: 'key-of-eve-0123456789abcdef' } };
    expect(await callerOf(open({ ...basic, ...PAGE }), ofEve)).toBe('apikey|eve');
  });
});

describe('a certificate that a browser attached to a batch', () => {
  it('does not count for a page of another site, whatever the batch adds', async () => {
    const authority = makeAuthority('Parley test');
    const ada = authority.client('ada');
    const authenticator = new ClientCertificates([{ commonName: 'ada', subject: 'ada' }]);
    const tls = { ...authority.server(), ca: authority.ca };
    const { url } = await servedAgent({ authenticator, cors, tls, agent: who }, { batch: true });
    const credential = { scheme: 'bearer', value: 'made-up' };
    const frames = [
      ['push', ['pipeline', 0, ['authenticate'], [{ ...HELLO, credential }]]],
      ['push', ['pipeline', 1, ['listTasks'], [{}]]],
      ['pull', 2],
    ];
    const body = frames.map((frame) => JSON.stringify(frame)).join('\n');
    const answerFor = async (page: Record<string, string>) => {
      const headers = { ...page, 'content-type': 'application/x-ndjson' };
      const sent = request(`${url}/a2a/capnweb`, { method: 'POST', headers, ...ada, ca: authority.ca }).end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return text(answer);
    };
    expect(await answerFor(PAGE)).toContain('UNAUTHENTICATED');
    expect(await answerFor(OWN_PAGE)).toContain('["resolve",2,');
    expect(await answerFor({})).toContain('["resolve",2,');
  });
});
