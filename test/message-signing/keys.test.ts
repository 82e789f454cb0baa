import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { A2AError } from 'parley-a2a';
import { BearerTokens } from 'parley-a2a/auth';
import { bearerToken } from 'parley-a2a/credentials';
import { messageSigning, SIGNING_EXTENSION, signedCalls, verifiedSigners, verifySigned } from 'parley-a2a-signing';
import { afterEach, describe, expect, it } from 'vitest';
import { AUDIENCE, executor, keyPair, SignedWorld, taskOf } from './world.js';

const agent = executor(async (context, events) => {
  await events.complete(
    verifiedSigners(context)
      .map(({ id, kid }) => `${id}/${kid}`)
      .join(),
  );
});
const statusParts = (answer: Parameters<typeof taskOf>[0]) => taskOf(answer).status.message?.parts;

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** A server of a key set, which counts its readers. */
async function keyServer(
  answer: () => object | undefined,
): Promise<{ readonly url: string; readonly reads: () => number }> {
  let reads = 0;
  const server: Server = createServer((_, response) => {
    reads += 1;
    const keys = answer();
    response.statusCode = keys === undefined ? 500 : 200;
    response.end(JSON.stringify(keys ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stop = () => server.close();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`, reads: () => reads };
}

describe('a key set at a url', () => {
  it('is read once, and for an unknown key only after a pause', async () => {
    await using world = await SignedWorld.make();
    const keys = await keyServer(() => ({ keys: [world.caller.shown] }));
    const trust = [{ id: 'shop', jwksUrl: keys.url }];
    const { url } = await world.listen(agent, { trust, allow: ['127.0.0.1'] });
    expect(statusParts(await (await world.client(url)).sendMessage('x'))).toEqual([{ text: 'shop/caller-1' }]);
    expect(keys.reads()).toBe(1);
    const stranger = await world.client(url, { keys: [(await keyPair('unknown')).own] });
    for (let at = 0; at < 5; at += 1)
      await expect(stranger.sendMessage('x')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(keys.reads()).toBe(1);
  });

  it('at a private address is not read unless it is allowed, and the caller hears that it cannot be read now', async () => {
    await using world = await SignedWorld.make();
    const keys = await keyServer(() => ({ keys: [world.caller.shown] }));
    const { url } = await world.listen(agent, { trust: [{ id: 'shop', jwksUrl: keys.url }] });
    const client = await world.client(url, {}, { retry: { attempts: 1 } });
    await expect(client.sendMessage('x')).rejects.toThrow('The keys of shop cannot be read now');
    expect(keys.reads()).toBe(0);
  });

  it('is refused if it is too long or holds only secrets, and other peers still count', async () => {
    await using world = await SignedWorld.make();
    const keys = await keyServer(() => ({
      keys: [{ kty: 'oct', k: 'AAAA', kid: 'caller-1' }],
      more: 'x'.repeat(300_000),
    }));
    const trust = [
      { id: 'broken', jwksUrl: keys.url },
      { id: 'shop', keys: { keys: [world.caller.shown] } },
    ];
    const { url } = await world.listen(agent, { trust, allow: ['127.0.0.1'] });
    expect(statusParts(await (await world.client(url)).sendMessage('x'))).toEqual([{ text: 'shop/caller-1' }]);
  });
});

it('a peer signs for its own user only', async () => {
  await using world = await SignedWorld.make();
  const authenticator = new BearerTokens([
    { token: 'token-of-ada', subject: 'ada' },
    { token: 'token-of-eve', subject: 'eve' },
  ]);
  const trust = [{ id: 'ada', keys: [world.caller.shown], user: 'bearer|ada' }];
  const { url } = await world.listen(agent, { trust }, { authenticator });
  const as = (token: string) => world.client(url, {}, { credentials: bearerToken(token) });
  expect(statusParts(await (await as('token-of-ada')).sendMessage('x'))).toEqual([{ text: 'ada/caller-1' }]);
  const thrown: unknown = await (await as('token-of-eve')).sendMessage('x').catch((error: unknown) => error);
  expect((thrown as A2AError).details.violations?.[0]?.description).toBe(
    'is by a signer that does not sign for this caller',
  );
});

it('an agent without signing has no verified signers, whatever its caller writes', async () => {
  await using world = await SignedWorld.make();
  const { createA2AServer, connect } = await import('parley-a2a');
  await using server = Object.assign(createA2AServer({ agent, logger: world.logger }), {
    [Symbol.asyncDispose]: () => server.close(),
  });
  const metadata = { 'urn:parley-a2a:extension:message-signing:v1': { signers: [{ id: 'shop', kid: 'caller-1' }] } };
  expect(
    statusParts(await (await connect(server)).sendMessage({ message: { parts: [{ text: 'x' }], metadata } })),
  ).toEqual([{ text: '' }]);
});

describe('options', () => {
  it.each<[string, RegExp, object]>([
    ['no trust', /trust: is required/, { trust: undefined }],
    ['an unknown name', /unknown option "requried" \(did you mean "required"\?\)/, { requried: true }],
    [
      'a bound user of another name',
      /unknown option "trust\[0\].users"/,
      { trust: [{ id: 'a', keys: [], users: 'u' }] },
    ],
    ['a peer with an empty list', /trust\[0\] has no keys/, { trust: [{ id: 'a', keys: [] }] }],
    ['no audience', /audience must be a text/, { audience: '' }],
    ['a peer without keys', /trust\[0\] needs either keys or jwksUrl/, { trust: [{ id: 'a' }] }],
    [
      'two peers of one name',
      /trust\[0\] has the id a of another peer/,
      {
        trust: [
          { id: 'a', keys: [] },
          { id: 'a', keys: [] },
        ],
      },
    ],
    [
      'a private key that is trusted',
      /trust\[0\] keys\[0\] has to be a public key/,
      { trust: [{ id: 'a', keys: [{ kty: 'EC', kid: 'k', d: 'x' }] }] },
    ],
    [
      'a shared secret',
      /trust\[0\] keys\[0\] has to be a public key/,
      { trust: [{ id: 'a', keys: [{ kty: 'oct', kid: 'k', k: 'x' }] }] },
    ],
    [
      'a plain url',
      /trust\[0\] jwksUrl must be an https url/,
      { trust: [{ id: 'a', jwksUrl: 'http://keys.example/' }] },
    ],
    ['a public key that should sign', /keys needs a private key/, { keys: 'public' }],
    ['encryption without keys that sign', /encryption needs keys/, { keys: undefined, encryption: { keys: [] } }],
    ['encryption without a private key', /encryption.keys needs a private key/, { encryption: { keys: [] } }],
  ])('with %s are refused', async (_, message, change) => {
    const pair = await keyPair('agent-1');
    const options = { audience: AUDIENCE, trust: [], keys: [pair.own], ...change };
    const keys = 'keys' in change && change.keys === 'public' ? [pair.shown] : options.keys;
    await expect(messageSigning({ ...options, keys } as never)).rejects.toThrow(message);
  });

  it('of a client are refused in the same way', async () => {
    const pair = await keyPair('caller-1');
    const encryption = { to: {} };
    await expect(signedCalls({ audience: AUDIENCE, keys: [pair.own], encryption })).rejects.toThrow(
      'encryption needs agent',
    );
    const agentKeys = { keys: [pair.shown] };
    await expect(signedCalls({ audience: AUDIENCE, keys: [pair.own], agent: agentKeys, encryption })).rejects.toThrow(
      'encryption.to needs either',
    );
    await expect(signedCalls({ audience: AUDIENCE, keys: [] })).rejects.toThrow('keys needs a private key');
    // Without `agent`, answers would not be verified.
    const wrong = { audience: AUDIENCE, keys: [pair.own], agents: agentKeys };
    await expect(signedCalls(wrong)).rejects.toThrow('unknown option "agents" (did you mean "agent"?)');
    await expect(signedCalls({ audience: AUDIENCE } as never)).rejects.toThrow('keys: is required');
    const own = { audience: AUDIENCE, keys: [pair.own], agent: { keys: [pair.own] } };
    await expect(signedCalls(own as never)).rejects.toThrow('agent keys[0] has to be a public key');
    const task = { id: 't', status: { state: 'TASK_STATE_WORKING' as const } };
    const unsafe = { audience: AUDIENCE, agent: agentKeys, require: true };
    await expect(verifySigned({ task }, unsafe)).rejects.toThrow('unknown option "require"');
  });

  it('name the agent on a server with several', async () => {
    const { createA2AHost: createA2AServer } = await import('parley-a2a');
    const pair = await keyPair('agent-1');
    const common = { audience: AUDIENCE, trust: [], keys: [pair.own] };
    const agents = { '/a': { agent }, '/b': { agent: executor(() => {}) } };
    const signing = await messageSigning(common);
    expect(() => createA2AServer({ agents, signing })).toThrow('needs agent');
    const lost = await messageSigning({ ...common, agent: '/c' });
    expect(() => createA2AServer({ agents, signing: lost })).toThrow('names no agent of this server: /c');
    const named = await messageSigning({ ...common, agent: '/a' });
    const extensions = createA2AServer({ agents, signing: named }).agentCards;
    expect(extensions['/a']?.capabilities.extensions?.some(({ uri }) => uri === SIGNING_EXTENSION)).toBe(true);
    expect(extensions['/b']?.capabilities.extensions?.some(({ uri }) => uri === SIGNING_EXTENSION)).toBe(false);
  });
});
