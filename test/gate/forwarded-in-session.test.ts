import { describe, expect, it } from 'vitest';
import {
  ANONYMOUS,
  type Authenticator,
  allOf,
  anyOf,
  BearerTokens,
  ClientCertificates,
  type ForwardedCertificates,
} from '../../packages/parley/src/exports/auth.js';
import { HELLO, refusal, servedAgent } from '../capnweb/session-world.js';
import { makeAuthority } from '../credentials/certificates.js';

const authority = makeAuthority('Parley test');
const [ada, eve] = [authority.client('ada'), authority.client('eve')];
const derOf = (cert: string) => `:${cert.replaceAll(/-----.*-----|\s/g, '')}:`;

/** The headers of a proxy about the certificates of Ada and Eve. */
const HEADERS: Readonly<
  Record<ForwardedCertificates['format'], (of: { readonly cert: string }, name: string) => Record<string, string>>
> = {
  nginx: ({ cert }) => ({ 'x-client-cert': encodeURIComponent(cert), 'x-client-verify': 'SUCCESS' }),
  rfc9440: ({ cert }) => ({ 'client-cert': derOf(cert) }),
  envoy: (_, name) => ({ 'x-forwarded-client-cert': `Hash=${'a'.repeat(64)};Subject="CN=${name}"` }),
};

describe('a certificate that a proxy tells', () => {
  it.each(Object.entries(HEADERS))('never comes from the parameters of a session: %s', async (format, headersOf) => {
    const { open } = await servedAgent({
      authenticator: new ClientCertificates(({ subject: { CN = [] } }) => ({ subject: CN.join() }), {
        forwarded: { proxies: ['loopback'], format: format as ForwardedCertificates['format'] },
      }),
      agent: {
        replies: 'either',
        execute: async ({ user }, events) => void (await events.message(user?.id ?? 'nobody')),
      },
    });
    const forged = { parameters: { ...HELLO.parameters, ...headersOf(ada, 'ada') } };
    const said = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'who am I?' }] } };
    const userOf = async (answer: PromiseLike<unknown>) => /mtls\|\w+/.exec(JSON.stringify(await answer))?.[0];
    // The peer is the trusted proxy, which tells of no certificate.
    expect(await refusal(open().entrance.authenticate(forged).sendMessage(said))).toMatchObject({
      reason: 'UNAUTHENTICATED',
    });
    const ofEve = headersOf(eve, 'eve');
    expect(await userOf(open(ofEve).entrance.authenticate(HELLO).sendMessage(said))).toBe('mtls|eve');
    expect(await userOf(open(ofEve).entrance.authenticate(forged).sendMessage(said))).toBe('mtls|eve');
    const call = { parameters: headersOf(ada, 'ada') };
    expect(await userOf(open(ofEve).entrance.authenticate(HELLO).sendMessage(said, call))).toBe('mtls|eve');
  });
});

describe('a certificate that a browser attached to the request that opened a session', () => {
  const cors = ['https://widget.example'];
  const PAGE = { origin: 'https://widget.example', 'sec-fetch-site': 'cross-site' };
  const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
  const tokens = new BearerTokens([{ token: 'token-of-eve-0123456789', subject: 'eve' }]);
  const certificates = new ClientCertificates([{ commonName: 'ada', subject: 'ada' }]);
  const own: Authenticator = {
    challenges: ['Certificate'],
    needsClientCertificate: true,
    authenticate: ({ clientCertificate }) =>
      clientCertificate === undefined ? ANONYMOUS : { kind: 'user', user: { id: 'own|ada' } },
  };
  const bearer = (value: string) => ({ ...HELLO, credential: { scheme: 'bearer', value } });
  const BOGUS = bearer('bogus');
  const OF_EVE = bearer('token-of-eve-0123456789');

  /** The user of a call in a session over TLS, or the code of its refusal. */
  async function caller(authenticator: Authenticator, headers: Record<string, string>, hello: object) {
    const { open } = await servedAgent({
      authenticator,
      cors,
      tls: { ...authority.server(), ca: authority.ca },
      agent: {
        replies: 'either',
        execute: async ({ user }, events) => void (await events.message(user?.id ?? 'nobody')),
      },
    });
    const { entrance } = open(headers, { ...ada, ca: authority.ca });
    const said = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'who am I?' }] } };
    const answer = entrance.authenticate(hello).sendMessage(said);
    return answer.then(
      (found) => /\w+\|\w+/.exec(JSON.stringify(found))?.[0],
      (error: { readonly reason?: string }) => error.reason,
    );
  }

  it.each<[string, Authenticator, object, string]>([
    ['alone', certificates, HELLO, 'UNAUTHENTICATED'],
    ['beside a credential that the page made up', certificates, BOGUS, 'UNAUTHENTICATED'],
    ['for an authenticator of the application', own, BOGUS, 'PERMISSION_DENIED'],
    [
      'together with a token of the page',
      allOf(certificates, tokens, { differentUsers: true }),
      OF_EVE,
      'UNAUTHENTICATED',
    ],
  ])('does not count for a page of another site: %s', async (_, authenticator, hello, refused) => {
    expect(await caller(authenticator, PAGE, hello)).toBe(refused);
  });

  it('does not keep a page of another site from a token of its own', async () => {
    expect(await caller(anyOf(certificates, tokens), PAGE, OF_EVE)).toBe('bearer|eve');
  });

  it.each([
    ['a client without a page', {}],
    ['a page of the server', OWN_PAGE],
  ])('counts for %s, also together with a token', async (_, headers) => {
    expect(await caller(certificates, headers, HELLO)).toBe('mtls|ada');
    expect(await caller(certificates, headers, BOGUS)).toBe('mtls|ada');
    expect(await caller(allOf(certificates, tokens, { differentUsers: true }), headers, OF_EVE)).toBe('mtls|ada');
    expect(await caller(own, headers, BOGUS)).toBe('own|ada');
  });

  it('counts for a page of a trusted origin', async () => {
    const trusting = new ClientCertificates([{ commonName: 'ada', subject: 'ada' }], { trustedOrigins: cors });
    expect(await caller(trusting, PAGE, HELLO)).toBe('mtls|ada');
    expect(await caller(allOf(trusting, tokens, { differentUsers: true }), PAGE, OF_EVE)).toBe('mtls|ada');
  });

  it('does not count if a proxy tells it', async () => {
    const forwarded = { proxies: ['loopback'], format: 'nginx' } as const;
    const behindProxy = new ClientCertificates([{ commonName: 'ada', subject: 'ada' }], { forwarded });
    const { open } = await servedAgent({ authenticator: behindProxy, cors });
    const listTasksAs = (page: Record<string, string>) =>
      open({ ...HEADERS.nginx(ada, 'ada'), ...page })
        .entrance.authenticate(BOGUS)
        .listTasks({});
    expect(await refusal(listTasksAs(PAGE))).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(await listTasksAs(OWN_PAGE)).toMatchObject({ tasks: [] });
  });
});
