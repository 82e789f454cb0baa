import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentCard as SdkCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { decodeProtectedHeader, exportJWK, generateKeyPair, importJWK } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { capnwebBinding, capnwebTransport } from '../../packages/capnweb/src/index.js';
import { grpcBinding, grpcTransport } from '../../packages/grpc/src/index.js';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { connect, fetchAgentCard } from '../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../packages/parley/src/exports/credentials.js';
import type { AgentCard } from '../../packages/parley/src/exports/index.js';
import { type A2AServerOptions, createA2AServer, readCardKeys } from '../../packages/parley/src/exports/node.js';
import { type CardJwk, createAgentHandler } from '../../packages/parley/src/exports/server.js';
import { signer, textOf, unverifiedError } from '../client/card-signer.js';
import { freePort } from '../support/servers/free-port.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A signed card, or a key set. */
type Json = AgentCard & Required<Pick<AgentCard, 'signatures'>> & { readonly keys: readonly CardJwk[] };

const URL_OF_CARD = 'https://agent.example';

async function keyOf(kid: string, alg = 'ES256'): Promise<CardJwk> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg } as CardJwk;
}

function publicPart({ d: _, p: __, q: ___, dp: ____, dq: _____, qi: ______, ...key }: CardJwk): CardJwk {
  return key as CardJwk;
}

async function serveSigned(keys: readonly CardJwk[], options: Partial<A2AServerOptions> = {}) {
  const server = createA2AServer({
    name: 'Übersetzer',
    description: '',
    agent: () => 'ok',
    url: URL_OF_CARD,
    cardSigning: { keys },
    ...options,
  } as A2AServerOptions);
  closers.push(() => server.close({ graceMs: 0 }));
  const bound = server.listen(0);
  await bound;
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await server.fetch(new Request(`${URL_OF_CARD}${path}`, { headers }));
    return { answer, json: (await answer.json()) as Json };
  };
  return { server, read };
}

const CARD = '/.well-known/agent-card.json';
const current = { 'a2a-version': '1.0' };

describe('a signed card', () => {
  it.each(['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256'])('is verified by its published key: %s', async (alg) => {
    const { read } = await serveSigned([await keyOf('now', alg)]);
    const { json: jwks } = await read('/.well-known/jwks.json');
    for (const headers of [current, {}] as Record<string, string>[]) {
      const { json: card } = await read(CARD, headers);
      expect(await fetchAgentCard(card, { signatures: { keys: jwks } })).toMatchObject({ name: 'Übersetzer' });
      const tampered = { ...card, name: 'Evil' };
      await expect(fetchAgentCard(tampered, { signatures: { keys: jwks } })).rejects.toThrow('not over this card');
    }
  });

  it('names key, algorithm, type and the url of the keys', async () => {
    const { read } = await serveSigned([await keyOf('now')]);
    const { json: card } = await read(CARD, current);
    expect(decodeProtectedHeader(card.signatures[0] ?? {})).toEqual({
      alg: 'ES256',
      kid: 'now',
      typ: 'JOSE',
      jku: `${URL_OF_CARD}/.well-known/jwks.json`,
    });
  });

  it('does not name keys that are not https', async () => {
    const { server } = await serveSigned([await keyOf('now')], { url: 'http://agent.example' });
    const answer = await server.fetch(new Request(`http://agent.example${CARD}`, { headers: current }));
    const { signatures } = (await answer.json()) as { signatures: { protected: string }[] };
    expect(decodeProtectedHeader(signatures[0] ?? { protected: '' })).not.toHaveProperty('jku');
  });

  it('is verified by the official JavaScript SDK, also with empty required members', async () => {
    // The SDK prints each signature that is not valid.
    for (const level of ['log', 'info', 'debug'] as const) vi.spyOn(console, level).mockImplementation(() => {});
    closers.push(() => vi.restoreAllMocks());
    const key = await keyOf('now');
    const verify = verifyAgentCardSignature(async () => (await importJWK(publicPart(key) as never, 'ES256')) as never);
    for (const description of ['', 'D'] as const) {
      const { read } = await serveSigned([key], { description });
      const { json } = await read(CARD, current);
      await verify(SdkCard.fromJSON(json) as SdkCard);
      await expect(verify(SdkCard.fromJSON({ ...json, name: 'Evil' }) as SdkCard)).rejects.toThrow();
    }
  });

  it('of 0.3 is signed as it is sent', async () => {
    const key = await keyOf('now');
    const { read } = await serveSigned([key], { versions: ['0.3'] });
    const { json } = await read(CARD);
    expect(json).toHaveProperty('protocolVersion');
    expect(await fetchAgentCard(json, { signatures: { keys: [publicPart(key)] as never } })).toHaveProperty('name');
  });

  it('stays the same between two reads, with a tag', async () => {
    const { read } = await serveSigned([await keyOf('now')]);
    const first = await read(CARD, current);
    const second = await read(CARD, current);
    expect(second.json).toEqual(first.json);
    expect(second.answer.headers.get('etag')).toBe(first.answer.headers.get('etag'));
  });
});

describe('rotation', () => {
  it('signs with every private key, and publishes earlier keys', async () => {
    const [retired, now, next] = [await keyOf('retired'), await keyOf('now'), await keyOf('next', 'EdDSA')];
    const { read } = await serveSigned([now, next, publicPart(retired)]);
    const { json: jwks, answer } = await read('/.well-known/jwks.json');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    expect(jwks.keys.map(({ kid }: CardJwk) => kid)).toEqual(['now', 'next', 'retired']);
    expect(JSON.stringify(jwks)).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
    const { json: card } = await read(CARD, current);
    for (const key of [now, next]) {
      expect(await fetchAgentCard(card, { signatures: { keys: [publicPart(key)] as never } })).toHaveProperty('name');
    }
    await expect(fetchAgentCard(card, { signatures: { keys: [publicPart(retired)] as never } })).rejects.toThrow();
    const impostor = publicPart(await keyOf('now'));
    await expect(fetchAgentCard(card, { signatures: { keys: [impostor] as never } })).rejects.toThrow();
  });

  it('needs no credential for the keys', async () => {
    const authenticator = new BearerTokens([{ token: 'token-of-ada', subject: 'ada' }]);
    const { read } = await serveSigned([await keyOf('now')], { authenticator });
    expect((await read('/.well-known/jwks.json')).answer.status).toBe(200);
  });
});

describe('the extended card', () => {
  const authenticator = new BearerTokens(
    ['ada', 'bob', 'eve'].map((subject) => ({ token: `token-of-${subject}`, subject })),
  );

  async function serveExtended(keys: readonly CardJwk[]) {
    return serveSigned(keys, {
      authenticator,
      versions: ['1.0', '0.3', '0.2.5'],
      extendedAgentCard: async (card, { id }) =>
        id.includes('eve') ? undefined : { ...card, description: `for ${id}`, signatures: [] },
    });
  }

  it('is signed for each user, apart from the public card', async () => {
    const key = await keyOf('now');
    const { read } = await serveExtended([key]);
    for (const user of ['ada', 'bob']) {
      const headers = { ...current, authorization: `Bearer token-of-${user}` };
      const { json, answer } = await read('/a2a/rest/extendedAgentCard', headers);
      expect(answer.headers.get('cache-control')).toBe('private, no-store');
      const card = await fetchAgentCard(json, { signatures: { keys: [publicPart(key)] as never } });
      expect(card.description).toContain(user);
      expect(card.supportedInterfaces[0]?.url).toMatch(/^https:\/\/agent.example/);
    }
  });

  it('is refused to a user without one, and to anonymous callers', async () => {
    const { read } = await serveExtended([await keyOf('now')]);
    const path = '/a2a/rest/extendedAgentCard';
    expect((await read(path, { ...current, authorization: 'Bearer token-of-eve' })).answer.status).toBe(403);
    expect((await read(path, current)).answer.status).toBe(401);
  });

  it('reaches a client that requires signatures, over both bindings', async () => {
    const key = await keyOf('now');
    const server = createA2AServer({
      agent: () => 'ok',
      authenticator,
      extendedAgentCard: async (card, { id }) => ({ ...card, description: `for ${id}` }),
      url: 'http://127.0.0.1:1',
      cardSigning: { keys: [key] },
    });
    closers.push(() => server.close({ graceMs: 0 }));
    const { fetch } = server;
    const client = await connect('http://127.0.0.1:1', {
      credentials: bearerToken('token-of-ada'),
      fetch: (input, init) => fetch(new Request(input, init)),
      signatures: { keys: [publicPart(key)] as never },
    });
    expect((await client.getExtendedAgentCard()).description).toContain('ada');
  });
});

describe.each([
  ['GRPC', grpcTransport],
  ['https://parley-a2a.dev/bindings/capnweb/v1', capnwebTransport],
])('the extended card over %s', (binding, transport) => {
  it('is verified by a signature of its own', async () => {
    const key = await keyOf('now');
    const port = await freePort();
    const server = createA2AServer({
      agent: () => 'ok',
      authenticator: new BearerTokens([{ token: 'token-of-ada', subject: 'ada' }]),
      extendedAgentCard: (card, { id }) => ({ ...card, description: `for ${id}` }),
      bindings: [grpcBinding({ port: 0, listed: 'public' }), capnwebBinding()],
      url: `http://127.0.0.1:${port}`,
      cardSigning: { keys: [key] },
    });
    closers.push(() => server.close({ graceMs: 0 }));
    await server.listen(port);
    const publicCard = server.agentCard;
    const publicSigner = await signer('public');
    const card = { ...publicCard, signatures: [await publicSigner.sign(textOf(publicCard))] } as object as AgentCard;
    const connectExtended = async (keys: readonly object[]) => {
      const client = await connect(card, {
        binding,
        bindings: [transport()],
        credentials: bearerToken('token-of-ada'),
        signatures: { keys: keys as never },
      });
      closers.push(() => client.close());
      expect(client.agentInterface.protocolBinding).toBe(binding);
      return client.getExtendedAgentCard();
    };
    expect((await connectExtended([publicSigner.jwk, publicPart(key)])).description).toContain('ada');
    await expect(connectExtended([publicSigner.jwk])).rejects.toEqual(unverifiedError(/kid "now"/));
  });
});

it('an interface that only the extended card lists is used if a trusted key signed that card', async () => {
  const key = await keyOf('now');
  const port = await freePort();
  const server = createA2AServer({
    agent: () => 'ok',
    versions: ['1.0', '0.3'],
    authenticator: new BearerTokens([{ token: 'token-of-ada', subject: 'ada' }]),
    extendedAgentCard: (card) => card,
    bindings: [grpcBinding({ port: 0, listed: 'extended' }), capnwebBinding()],
    url: `http://127.0.0.1:${port}`,
    cardSigning: { keys: [key] },
  });
  closers.push(() => server.close({ graceMs: 0 }));
  await server.listen(port);
  const publicCard = server.agentCard;
  const publicSigner = await signer('public');
  const card = { ...publicCard, signatures: [await publicSigner.sign(textOf(publicCard))] } as object as AgentCard;
  const connectGrpc = (keys: readonly object[]) =>
    connect(card, {
      binding: 'GRPC',
      bindings: [grpcTransport()],
      credentials: bearerToken('token-of-ada'),
      signatures: { keys: keys as never },
    });
  const client = await connectGrpc([publicSigner.jwk, publicPart(key)]);
  closers.push(() => client.close());
  expect(client.agentInterface.protocolBinding).toBe('GRPC');
  expect(await client.sendMessage('hi')).toHaveProperty('task');
  await expect(connectGrpc([publicSigner.jwk])).rejects.toMatchObject({
    code: 'UNSUPPORTED_OPERATION',
    message: expect.stringContaining('kid "now"'),
  });
});

describe('keys that cannot be used', () => {
  it('are refused without a public url', async () => {
    const keys = [await keyOf('now')];
    expect(() => createA2AServer({ agent: () => 'ok', cardSigning: { keys } })).toThrow('cardSigning: needs url');
    expect(() => createAgentHandler({ agent: () => 'ok', cardSigning: { keys } })).toThrow('cardSigning: needs url');
  });

  it('are refused when the server starts', async () => {
    const good = await keyOf('now');
    for (const [keys, problem] of [
      [[publicPart(good)], 'needs a private key'],
      [[good, { ...good }], 'has the kid of another key'],
      [[{ kty: 'oct', k: 'c2VjcmV0', kid: 'x' }], 'is no EC, Ed25519 or RSA key'],
      [[{ ...good, alg: 'HS256' }], 'cannot sign with HS256'],
      [[{ ...good, d: 'AAAA' }], 'cardSigning.keys[0]'],
    ] as [CardJwk[], string][]) {
      const server = createA2AServer({ agent: () => 'ok', url: URL_OF_CARD, cardSigning: { keys } });
      closers.push(() => server.close({ graceMs: 0 }));
      const started = server.listen(0);
      await expect(started).rejects.toThrow(problem);
      await expect(started).rejects.not.toThrow(String(good.d));
    }
  });

  it('are read from files: PEM, keys and key sets, named by their thumbprints', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'card-keys-'));
    closers.push(() => rm(folder, { recursive: true }));
    const file = async (name: string, text: string) => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    };
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { publicKey } = generateKeyPairSync('ed25519');
    const paths = [
      await file('signing.pem', String(privateKey.export({ type: 'pkcs8', format: 'pem' }))),
      await file('earlier.pem', String(publicKey.export({ type: 'spki', format: 'pem' }))),
      await file('set.json', JSON.stringify({ keys: [await keyOf('in a set', 'RS256')] })),
    ];
    const { read } = await serveSigned(await readCardKeys(paths));
    const { json: jwks } = await read('/.well-known/jwks.json');
    expect(jwks.keys.map(({ kty, alg }: CardJwk) => [kty, alg])).toEqual([
      ['EC', 'ES256'],
      ['OKP', 'EdDSA'],
      ['RSA', 'RS256'],
    ]);
    expect(jwks.keys[0]?.kid).toMatch(/^[\w-]{43}$/);
    const wrong = await file('wrong.pem', 'nothing of use');
    await expect(readCardKeys([wrong, join(folder, 'missing')])).rejects.toThrow('wrong.pem" cannot be read');
  });
});
