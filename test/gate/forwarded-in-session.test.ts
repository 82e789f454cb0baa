import { describe, expect, it } from 'vitest';
import { ClientCertificates, type ForwardedCertificates } from '../../packages/parley/src/exports/auth.js';
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
