import { describe, expect, it } from 'vitest';
import { failure, failureOf, GrpcTester, message, serve } from './grpc-world.js';

const HOUR = 3_600_000;
const CLIENT = { 'x-forwarded-for': '192.0.2.1' };
const text = { message: message('hi') };

/** A server that counts an address behind a proxy. */
async function serveLimited(rateLimit: object) {
  const { address, url } = await serve({ trustProxy: ['loopback'], rateLimit } as object);
  const tester = new GrpcTester(address);
  return { url, tester };
}

describe('a call under a rate', () => {
  it('has the state and the policy of each rate in its metadata, in the form of HTTP', async () => {
    const { tester, url } = await serveLimited({ requests: 5, windowMs: HOUR });
    const { metadata } = await tester.call('SendMessage', text, CLIENT);
    const fieldValues = (name: string) => metadata.get(name).map(String);
    expect(fieldValues('ratelimit-policy')).toEqual(['"address";q=5;w=3600, "principal";q=5;w=3600']);
    expect(fieldValues('ratelimit')).toEqual([expect.stringMatching(/^"address";r=4;t=\d+, "principal";r=4;t=\d+$/)]);
    expect(fieldValues('retry-after')).toEqual([]);
    const { headers } = await fetch(`${url}/.well-known/agent-card.json`, { headers: CLIENT });
    expect(headers.get('ratelimit-policy')).toBe(fieldValues('ratelimit-policy')[0]);
  });

  it.each(['perAddress', 'perPrincipal'])('is refused beyond the rate %s, with the time to wait', async (kind) => {
    const { tester } = await serveLimited({ [kind]: { requests: 1, windowMs: HOUR } });
    await tester.call('SendMessage', text, CLIENT);
    const { code, metadata, details } = await failure(tester.call('SendMessage', text, CLIENT));
    const limit = kind === 'perAddress' ? 'address' : 'principal';
    expect(code).toBe('RESOURCE_EXHAUSTED');
    expect(details).toMatchObject([
      { type: 'ErrorInfo', value: { reason: 'RESOURCE_EXHAUSTED', metadata: { limit } } },
      { type: 'RetryInfo' },
    ]);
    expect(metadata.get('ratelimit')).toEqual([expect.stringMatching(`^"${limit}";r=0;t=\\d+$`)]);
    expect(metadata.get('ratelimit-policy')).toEqual([`"${limit}";q=1;w=3600`]);
    expect(Number(metadata.get('retry-after')[0])).toBeGreaterThan(3_000);
    await tester.call('SendMessage', text, { 'x-forwarded-for': '192.0.2.2' });
  });

  it('that streams has them before its first event', async () => {
    const { tester } = await serveLimited({ perAddress: { requests: 1, windowMs: HOUR } });
    const stream = tester.stream('SendStreamingMessage', text, CLIENT);
    const metadata = new Promise<unknown[]>((resolve) =>
      stream.once('metadata', (received) => resolve(received.get('ratelimit'))),
    );
    for await (const _event of stream);
    expect(await metadata).toEqual([expect.stringMatching(/^"address";r=0;t=\d+$/)]);
    const refused = await failure(
      (async () => {
        for await (const _event of tester.stream('SendStreamingMessage', text, CLIENT));
      })().catch((error) => Promise.reject(failureOf(error))),
    );
    expect(refused.code).toBe('RESOURCE_EXHAUSTED');
  });
});
