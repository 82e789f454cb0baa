import { FlattenedSign, generateKeyPair } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect, fetchAgentCard, type SignatureOptions } from '../../packages/parley/src/exports/client.js';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';
import { canonicalJson } from '../../packages/parley/src/model/canonical-json.js';
import type { JsonObject } from '../../packages/parley/src/model/json.js';
import { CARD, type Signer, signer, textOf, unverifiedError, verifyCard } from './card-signer.js';
import { result, StubAgent } from './stub-agent.js';

const encodeBase64Url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

let ours: Signer;
let other: Signer;
let signed: typeof CARD & { readonly signatures: readonly JsonObject[] };
beforeAll(async () => {
  ours = await signer('ours');
  other = await signer('other');
  signed = { ...CARD, signatures: [await ours.sign(textOf(CARD))] };
});

describe('a signed card (§8.4.3)', () => {
  it.each(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'])(
    'is verified by a key of %s',
    async (alg) => {
      const { jwk, sign } = await signer('k', alg);
      const seen = await verifyCard({ ...CARD, signatures: [await sign(textOf(CARD))] }, { keys: [jwk] });
      expect(seen.verdicts).toEqual([{ kid: 'k', alg }]);
      expect(seen).toHaveProperty('card.name', CARD.name);
    },
  );

  it('is verified by a key set, and by a key of the web’s crypto interface', async () => {
    expect(await verifyCard(signed, { keys: { keys: [other.jwk, ours.jwk] } })).toHaveProperty('card');
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const jws = new FlattenedSign(new TextEncoder().encode(textOf(CARD))).setProtectedHeader({
      alg: 'ES256',
      kid: 'c',
    });
    const card = { ...CARD, signatures: [await jws.sign(privateKey)] };
    expect(await verifyCard(card, { keys: [other.jwk, { kid: 'c', key: publicKey }] })).toHaveProperty('card');
  });

  it('is verified by any of its signatures, and by any key of that name', async () => {
    const named = { ...other.jwk, kid: 'ours' };
    const signatures = [{ protected: '!', signature: '' }, await other.sign(textOf(CARD)), ...signed.signatures];
    const { verdicts } = await verifyCard({ ...CARD, signatures }, { keys: [named, ours.jwk] });
    expect(verdicts).toEqual([
      { fault: 'its protected header cannot be read' },
      { kid: 'other', alg: 'ES256', fault: 'no trusted key has this kid and algorithm' },
      { kid: 'ours', alg: 'ES256' },
    ]);
  });

  it('is not looked at unless that is asked for', async () => {
    const forged = { ...CARD, signatures: [{ protected: '!', signature: '' }] };
    expect((await fetchAgentCard(forged)).signatures).toEqual(forged.signatures);
  });
});

/** Every place of a value that is neither object nor list, as a path. */
function leaves(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [[...path]];
  const keys = Array.isArray(value) ? value.map((_, at) => at) : Object.keys(value);
  return keys.flatMap((key) => leaves((value as Record<string | number, unknown>)[key], [...path, key]));
}

/** The same with another value at a path; undefined takes the member away. */
function changeAt(value: unknown, path: readonly (string | number)[], change: (old: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  copy[key] = changeAt(copy[key], rest, change);
  if (copy[key] === undefined) delete copy[key];
  return copy;
}

describe('a card that was changed after it was signed', () => {
  const paths = leaves(CARD).filter((path) => path.join() !== 'description');

  it('has many members', () => {
    expect(paths.length).toBeGreaterThan(15);
  });

  it.each(paths.map((path) => [path.join('.'), path] as const))(
    'is refused, its %s altered or gone',
    async (_, path) => {
      const alter = (old: unknown) => (typeof old === 'boolean' ? !old : typeof old === 'number' ? old + 1 : `${old}x`);
      for (const change of [alter, () => undefined]) {
        const seen = await verifyCard(changeAt(signed, path, change) as object, { keys: [ours.jwk] });
        expect(seen).not.toHaveProperty('card');
      }
    },
  );

  it('is refused where something was added', async () => {
    const more = { url: 'https://evil.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
    const card = { ...signed, supportedInterfaces: [more, ...signed.supportedInterfaces] };
    expect((await verifyCard(card, { keys: [ours.jwk] })).verdicts).toEqual([
      { kid: 'ours', alg: 'ES256', fault: 'it is not over this card, or not by this key' },
    ]);
  });

  it('gets no scheme in the old way, although the form of SDKs leaves such a scheme out as empty', async () => {
    const flows = { clientCredentials: { tokenUrl: 'https://evil.example', scopes: {} } };
    const evil = { ...CARD.securitySchemes, evil: { type: 'oauth2', flows } };
    expect(await verifyCard({ ...signed, securitySchemes: evil }, { keys: [ours.jwk] })).not.toHaveProperty('card');
    const { description: _, securityRequirements: __, ...filled } = CARD;
    const byOthers = { ...signed, securitySchemes: evil, signatures: [await ours.sign(canonicalJson(filled))] };
    const seen = await verifyCard(byOthers, { keys: [ours.jwk] });
    expect(seen).toHaveProperty('card.securitySchemes', CARD.securitySchemes);
  });

  it('gives nothing that no signature covers: unknown members, and those of older versions', async () => {
    const card = {
      ...signed,
      url: 'https://evil.example',
      additionalInterfaces: [{ url: 'https://evil.example', transport: 'JSONRPC' }],
      unknown: true,
    };
    const seen = await verifyCard(card, { keys: [ours.jwk] });
    expect('card' in seen ? seen.card : seen).toEqual({ ...signed, supportedInterfaces: CARD.supportedInterfaces });
  });
});

describe('a signature is refused', () => {
  it('that is not there', async () => {
    const seen = await verifyCard(CARD, { keys: [ours.jwk] });
    expect(seen).toEqual({ error: unverifiedError(/^The agent card is not signed/), verdicts: [] });
  });

  it('by another key of that name', async () => {
    const seen = await verifyCard(signed, { keys: [{ ...other.jwk, kid: 'ours' }] });
    expect(seen).toHaveProperty(
      'error',
      unverifiedError(/signature 1 \(kid "ours", ES256\): it is not over this card/),
    );
  });

  it('by a key that nobody has named', async () => {
    const seen = await verifyCard(signed, { keys: [other.jwk] });
    expect(seen).toHaveProperty('error', unverifiedError(/no trusted key has this kid/));
  });

  it('without an algorithm, or by a shared secret that is the public key', async () => {
    const payload = Buffer.from(textOf(CARD)).toString('base64url');
    const none = { protected: encodeBase64Url({ alg: 'none', kid: 'ours' }), signature: '' };
    const secret = new TextEncoder().encode(JSON.stringify(ours.jwk));
    const hmac = await new FlattenedSign(Buffer.from(payload, 'base64url'))
      .setProtectedHeader({ alg: 'HS256', kid: 'ours' })
      .sign(secret);
    const { verdicts } = await verifyCard({ ...CARD, signatures: [none, hmac] }, { keys: [ours.jwk] });
    expect(verdicts).toEqual([
      { kid: 'ours', alg: 'none', fault: 'its algorithm is not accepted' },
      { kid: 'ours', alg: 'HS256', fault: 'its algorithm is not accepted' },
    ]);
  });

  it('that claims another algorithm than its key is for', async () => {
    const rsa = await signer('ours', 'RS256');
    const card = { ...CARD, signatures: [await rsa.sign(textOf(CARD))] };
    expect(await verifyCard(card, { keys: [ours.jwk] })).toHaveProperty('error', unverifiedError(/no trusted key/));
    expect(await verifyCard(card, { keys: [{ ...rsa.jwk, alg: 'PS256' }] })).toHaveProperty(
      'error',
      unverifiedError(/RS256/),
    );
    expect(await verifyCard(card, { keys: [{ ...rsa.jwk, use: 'enc' }] })).toHaveProperty(
      'error',
      unverifiedError(/RS256/),
    );
  });

  it('whose key is named outside of what is signed', async () => {
    const jws = await ours.sign(textOf(CARD), { kid: undefined });
    const card = { ...CARD, signatures: [{ ...jws, header: { kid: 'ours', jku: 'https://agent.example/jwks.json' } }] };
    expect((await verifyCard(card, { keys: [ours.jwk], jwksOrigins: ['https://agent.example'] })).verdicts).toEqual([
      { alg: 'ES256', fault: 'it names no key (kid)' },
    ]);
  });

  it.each<readonly [string, unknown, RegExp]>([
    ['no object', ['x'], /no protected header or no signature/],
    ['no list', { a: 1 }, /is not signed/],
    ['without a signature', [{ protected: 'e30' }], /no protected header or no signature/],
    ['with a header that is no JSON', [{ protected: 'AAAA', signature: 'AAAA' }], /cannot be read/],
  ])('that is %s', async (_, signatures, message) => {
    const seen = await verifyCard({ ...CARD, signatures }, { keys: [ours.jwk] });
    expect(seen).toHaveProperty('error', unverifiedError(message));
  });

  it('beyond the sixteenth', async () => {
    const none = { protected: encodeBase64Url({ alg: 'none', kid: 'ours' }), signature: '' };
    const sixteen = Array.from({ length: 16 }, () => none);
    const seen = await verifyCard({ ...CARD, signatures: [...sixteen, ...signed.signatures] }, { keys: [ours.jwk] });
    expect(seen.verdicts).toHaveLength(16);
    expect(seen).toHaveProperty('error');
  });

  it('of a card that has no canonical form', async () => {
    const card = { ...signed, name: '\ud800' };
    expect(await verifyCard(card, { keys: [ours.jwk] })).toHaveProperty(
      'error',
      unverifiedError(/no canonical form: .*Unicode/),
    );
  });
});

describe('trust', () => {
  it.each<readonly [string, SignatureOptions, RegExp]>([
    ['in nobody', {}, /name the keys that you trust/],
    ['in a key without a name', { keys: [{ kty: 'EC' }] }, /keys\[0\] needs a kid/],
    ['in a shared secret', { keys: [{ kty: 'oct', kid: 'k', k: 'AAAA' }] }, /keys\[0\] has to be a public key/],
    ['in a private key', { keys: [{ kty: 'EC', kid: 'k', d: 'AAAA' }] }, /keys\[0\] has to be a public key/],
    ['in an origin without TLS', { jwksOrigins: ['http://keys.example'] }, /jwksOrigins holds https origins/],
  ])('%s is a fault of the options', async (_, signatures, message) => {
    const read = fetchAgentCard(CARD, { signatures });
    await expect(read).rejects.toMatchObject({ name: 'OptionsError', message: expect.stringMatching(message) });
  });
});

describe('a client of a signed agent', () => {
  /** An agent whose cards are what it is given, the extended one by any binding. */
  function agent(extended: (stub: StubAgent) => Promise<object> | object) {
    return async () => {
      const cards: { own?: object; extended?: object } = {};
      const stub = await StubAgent.start(({ method, url }) => {
        if (url.endsWith('/agent-card.json')) return { body: cards.own ?? {} };
        return method === 'POST' ? result(cards.extended) : { body: cards.extended ?? {} };
      });
      const own = stub.card({ capabilities: { extendedAgentCard: true } }, ['JSONRPC', 'HTTP+JSON']);
      cards.own = { ...own, signatures: [await ours.sign(textOf(own))] };
      cards.extended = await extended(stub);
      return stub;
    };
  }
  const signatures = () => ({ keys: [ours.jwk] });

  it.each(['JSONRPC', 'HTTP+JSON'])('Spec §8.4: is shown an extended card that is signed, over %s', async (binding) => {
    await using stub = await agent(async (at) => {
      const card = { ...at.card({ name: 'Extended' }), unknown: 1 };
      return { ...card, signatures: [await ours.sign(textOf(card))] };
    })();
    const client = await connect(stub.url, { signatures: signatures(), binding });
    const card = await client.getExtendedAgentCard();
    expect(card.name).toBe('Extended');
    expect(card).not.toHaveProperty('unknown');
    expect(client.card).toBe(card);
  });

  it('Spec §8.4: keeps its card where the extended one is not signed, or its signature is that of the public card', async () => {
    await using stub = await agent((at) => at.card({ name: 'Extended' }))();
    const client = await connect(stub.url, { signatures: signatures() });
    await expect(client.getExtendedAgentCard()).rejects.toEqual(unverifiedError(/is not signed/));
    expect(client.card.name).toBe('Stub');
    await using replayed = await agent(async (at) => {
      const own = at.card({ capabilities: { extendedAgentCard: true } }, ['JSONRPC', 'HTTP+JSON']);
      return { ...own, name: 'Extended', signatures: [await ours.sign(textOf(own))] };
    })();
    const next = await connect(replayed.url, { signatures: signatures() });
    await expect(next.getExtendedAgentCard()).rejects.toEqual(unverifiedError(/not over this card/));
  });

  it('asks once for the key set of both cards', async () => {
    const header = { jku: 'https://keys.example/jwks.json' };
    const own = { ...CARD, name: 'Public', capabilities: { extendedAgentCard: true } };
    const extended = { ...CARD, name: 'Extended' };
    const cards = [own, extended].map(async (card) => ({
      ...card,
      signatures: [await ours.sign(textOf(card), header)],
    }));
    const asked: string[] = [];
    const client = await connect((await cards[0]) as object as AgentCard, {
      signatures: { jwksOrigins: ['https://keys.example'] },
      fetch: async (url) => {
        asked.push(url);
        const answer = url === header.jku ? { keys: [ours.jwk] } : { jsonrpc: '2.0', id: 1, result: await cards[1] };
        return Response.json(answer);
      },
    });
    expect((await client.getExtendedAgentCard()).name).toBe('Extended');
    expect(asked).toEqual([header.jku, CARD.supportedInterfaces[0]?.url]);
  });

  it('verifies a card that comes from the cache, too', async () => {
    await using stub = await agent((at) => at.card())();
    const cached = new Map();
    const cardCache = {
      get: (url: string) => cached.get(url),
      set: (url: string, card: object) => void cached.set(url, card),
    };
    await connect(stub.url, { cardCache });
    expect(cached.size).toBe(1);
    await expect(connect(stub.url, { cardCache, signatures: { keys: [other.jwk] } })).rejects.toEqual(
      unverifiedError(/no trusted key/),
    );
    expect((await connect(stub.url, { cardCache, signatures: signatures() })).card.name).toBe('Stub');
    expect(stub.calls).toHaveLength(1);
  });
});
