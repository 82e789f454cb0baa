import { beforeAll, describe, expect, it } from 'vitest';
import { type Fetch, fetchAgentCard, type SignatureOptions } from '../../packages/parley/src/exports/client.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import { CARD, type Signer, signer, textOf, unverifiedError, verifyCard } from './card-signer.js';

let ours: Signer;
let other: Signer;
beforeAll(async () => {
  ours = await signer('ours');
  other = await signer('other');
});

describe('a key set that a signature names', () => {
  const JKU = 'https://keys.example/jwks.json';
  const answerWith = (answer: (url: string) => Response) => {
    const asked: string[] = [];
    const fetch: Fetch = async (url) => {
      asked.push(url);
      return answer(url);
    };
    return { asked, fetch };
  };
  const withJku = async (jku: string) => ({ ...CARD, signatures: [await ours.sign(textOf(CARD), { jku })] });

  it('is fetched from an origin that is allowed', async () => {
    const { asked, fetch } = answerWith(() => Response.json({ keys: [other.jwk, ours.jwk] }));
    expect(await verifyCard(await withJku(JKU), { jwksOrigins: ['https://keys.example'] }, { fetch })).toHaveProperty(
      'card',
    );
    expect(asked).toEqual([JKU]);
  });

  it.each([
    ['another origin', 'https://evil.example/jwks.json', /not fetched from https:\/\/evil\.example/],
    ['an address without TLS', 'http://keys.example/jwks.json', /the url of its key set is not https/],
    ['an address of this machine', 'https://127.0.0.1/jwks.json', /not fetched from/],
    ['a name that only looks like it', 'https://keys.example.evil.example/jwks.json', /not fetched from/],
    ['a name before the one that is asked', 'https://keys.example@evil.example/', /not fetched from/],
    ['another port', 'https://keys.example:8443/jwks.json', /not fetched from/],
    ['no url', 'jwks.json', /the url of its key set is not https/],
  ])('is not asked for at %s', async (_, jku, message) => {
    const { asked, fetch } = answerWith(() => Response.json({ keys: [ours.jwk] }));
    const seen = await verifyCard(await withJku(jku), { jwksOrigins: ['https://keys.example'] }, { fetch });
    expect(seen).toHaveProperty('error', unverifiedError(message));
    expect(asked).toEqual([]);
  });

  it('is not asked for at all by default', async () => {
    const { asked, fetch } = answerWith(() => Response.json({ keys: [ours.jwk] }));
    const seen = await verifyCard(await withJku(JKU), { keys: [other.jwk] }, { fetch });
    expect(seen).toHaveProperty('error', unverifiedError(/not fetched from https:\/\/keys\.example/));
    expect(asked).toEqual([]);
  });

  it('is fetched from the origin of the card where that is allowed, and nowhere for a card that was given', async () => {
    const cardUrl = 'https://agent.example/.well-known/agent-card.json';
    const card = await withJku('https://agent.example/jwks.json');
    const { asked, fetch } = answerWith((url) => Response.json(url === cardUrl ? card : { keys: [ours.jwk] }));
    const signatures: SignatureOptions = { jwksOrigins: ['card'] };
    const cardCache = { get: () => undefined, set: () => {} };
    const read = await fetchAgentCard('https://agent.example', { signatures, fetch, cardCache });
    expect(read.name).toBe(CARD.name);
    expect(asked).toEqual([cardUrl, 'https://agent.example/jwks.json']);
    expect(await verifyCard(card, signatures, { fetch })).toHaveProperty('error', unverifiedError(/not fetched from/));
    expect(asked).toHaveLength(2);
  });

  it('loses against a key of that name that was given', async () => {
    const { asked, fetch } = answerWith(() => Response.json({ keys: [ours.jwk] }));
    const keys = [{ ...other.jwk, kid: 'ours' }];
    const seen = await verifyCard(await withJku(JKU), { keys, jwksOrigins: ['https://keys.example'] }, { fetch });
    expect(seen).toHaveProperty('error', unverifiedError(/not by this key/));
    expect(asked).toEqual([]);
  });

  it.each<readonly [string, () => Response, RegExp]>([
    ['is too large', () => new Response(`{"keys":[]}${' '.repeat(70_000)}`), /cannot be used: The answer is too long/],
    ['redirects', () => new Response(null, { status: 302, headers: { location: 'https://evil.example' } }), /200 OK/],
    ['is not there', () => new Response('{}', { status: 404 }), /200 OK/],
    ['is no JSON', () => new Response('<html>'), /cannot be used/],
    ['is no key set', () => Response.json([1]), /cannot be used/],
    ['has no such key', () => Response.json({ keys: [other.jwk] }), /has no valid key/],
    ['holds the private key', () => Response.json({ keys: [{ ...ours.jwk, d: ours.jwk.x }] }), /cannot be used/],
    [
      'has a key that has expired',
      () => Response.json({ keys: [{ ...ours.jwk, exp: 1_700_000_000 }] }),
      /no valid key/,
    ],
    ['has a key that was revoked', () => Response.json({ keys: [{ ...ours.jwk, revoked: {} }] }), /no valid key/],
  ])('verifies nothing where it %s', async (_, answer, message) => {
    const { asked, fetch } = answerWith(answer);
    const seen = await verifyCard(await withJku(JKU), { jwksOrigins: ['https://keys.example'] }, { fetch });
    expect(seen).toHaveProperty('error', unverifiedError(message));
    expect(new Set(asked)).toEqual(new Set([JKU]));
  });

  it('ends with the search for the card', async () => {
    const reason = new Error('enough');
    const fetch: Fetch = (_, { signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        controller.abort(reason);
      });
    const controller = new AbortController();
    const signatures: SignatureOptions = { jwksOrigins: ['https://keys.example'] };
    const read = fetchAgentCard((await withJku(JKU)) as object as AgentCard, {
      signatures,
      fetch,
      signal: controller.signal,
    });
    await expect(read).rejects.toBe(reason);
  });
});
