import type { Message, Part } from 'parley-a2a';
import { MemoryStorage } from 'parley-a2a/storage';
import { ENCRYPTION_EXTENSION, verifySigned } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { changeMessages, headerOf, signedAgain } from './wire.js';
import { AUDIENCE, executor, type KeyPair, keyPair, SignedWorld, taskOf } from './world.js';

let world: SignedWorld;
let agentKey: KeyPair;
let ownKey: KeyPair;
let otherKey: KeyPair;
let url: string;
const storage = new MemoryStorage({ clock: systemClock });
const seen: string[] = [];

const agent = executor(async (context, events) => {
  const before = await context.conversation();
  const [earlier] = context.history;
  seen.push(
    context.text,
    ...before.map(({ text }) => text),
    ...(earlier?.parts ?? []).map((part) => JSON.stringify(part)),
  );
  const id = await events.artifact([{ text: `answer to ${context.text}` }, { raw: 'AAEC', filename: 'b' }]);
  await events.append(id, { data: { total: 5 } });
  await events.inputRequired('a plain-looking question');
});

beforeAll(async () => {
  world = await SignedWorld.make();
  agentKey = await keyPair('agent-enc', 'ECDH-ES+A256KW');
  ownKey = await keyPair('own-enc', 'RSA-OAEP-256');
  otherKey = await keyPair('agent-enc', 'ECDH-ES+A256KW');
  ({ url } = await world.listen(agent, { encryption: { keys: [agentKey.own], required: true } }, { storage }));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const encryption = () => ({ to: { jwksUrl: `${url}/signing/jwks.json` }, keys: [ownKey.own] });
const client = (more: object = {}, interceptors: Parameters<SignedWorld['client']>[2] = {}) =>
  world.client(url, { encryption: encryption(), allow: ['127.0.0.1'], ...more }, interceptors);

const SECRET = 'pl4in-words-of-the-caller';
const SENT: { readonly message: { readonly parts: readonly Part[] } } = {
  message: {
    parts: [{ text: SECRET }, { data: { amount: 10, list: [] } }, { url: 'https://example.com/x', filename: 'x' }],
  },
};

describe('an encrypted message', () => {
  it('is plain for the agent and the caller, and encrypted in the storage and on the wire', async () => {
    const wire: Message[] = [];
    const calls = await client(
      {},
      {
        interceptors: [
          changeMessages((message) => {
            wire.push(message);
            return message;
          }),
        ],
      },
    );
    const task = taskOf(await calls.sendMessage(SENT));
    expect(task.artifacts?.[0]?.parts).toEqual([
      { text: `answer to ${SECRET}` },
      { raw: 'AAEC', filename: 'b' },
      { data: { total: 5 } },
    ]);
    expect(task.status.message?.parts).toEqual([{ text: 'a plain-looking question' }]);
    expect(task.history?.[0]?.parts).toEqual(SENT.message.parts);
    expect(JSON.stringify(wire)).not.toContain(SECRET);
    const follow = await calls.sendMessage({
      message: { parts: [{ text: 'again' }], taskId: task.id, contextId: task.contextId ?? '' },
    });
    expect(taskOf(follow).artifacts).toHaveLength(2);
    expect(seen).toContain('a plain-looking question');
    expect(seen).toContain(`answer to ${SECRET}`);
    expect(seen).toContain(JSON.stringify({ text: SECRET }));
    const events: string[] = [];
    for await (const event of calls.sendStreamingMessage('streamed')) events.push(JSON.stringify(event));
    expect(events.join()).toContain('answer to streamed');
    const scope = { agent: '/', tenant: '', owner: null };
    const { records } = await storage.records({ scope, id: task.id }, 0, 1_000_000);
    const stored = JSON.stringify([
      await storage.task(scope, task.id),
      records.map(({ text, history }) => [text, history]),
    ]);
    expect(stored).toContain('"jwe"');
    expect(stored).not.toContain(SECRET);
    expect(stored).not.toContain('plain-looking');
  });

  it('is opened by an agent whose client has no key for answers, with either kind of key', async () => {
    const rsa = await keyPair('agent-rsa', 'RSA-OAEP-256');
    const { url: both } = await world.listen(agent, { encryption: { keys: [agentKey.own, rsa.own], required: true } });
    for (const { shown } of [agentKey, rsa]) {
      const calls = await world.client(both, { encryption: { to: { keys: { keys: [shown] } } } });
      const task = taskOf(await calls.sendMessage(SENT));
      expect(task.artifacts?.[0]?.parts[0]).toEqual({ text: `answer to ${SECRET}` });
    }
  });

  it('keeps the signatures of its task valid without the keys', async () => {
    const reader = await world.client(url, {}, { extensions: [ENCRYPTION_EXTENSION] });
    const written = taskOf(await (await client()).sendMessage(SENT));
    const read = await reader.getTask(written.id);
    expect(JSON.stringify(read)).not.toContain(SECRET);
    await verifySigned({ task: read }, { audience: AUDIENCE, agent: { keys: [world.agent.shown] } });
  });

  const encodeBase64Url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const jweOf = (part: Part | undefined) => (part as { data: { jwe: Record<string, unknown> } }).data.jwe;
  const withJwe = (message: Message, change: (jwe: Record<string, unknown>) => Record<string, unknown>): Message => ({
    ...message,
    parts: message.parts.map((part, at) =>
      at === 0 ? ({ ...part, data: { jwe: change(jweOf(part)) } } as Part) : part,
    ),
  });
  const withHeader = (change: object) => (message: Message) =>
    withJwe(message, (jwe) => ({
      ...jwe,
      protected: encodeBase64Url({
        ...JSON.parse(Buffer.from(String(jwe.protected), 'base64url').toString()),
        ...change,
      }),
    }));
  const withRecipient = (change: object) => (message: Message) =>
    withJwe(message, (jwe) => ({
      ...jwe,
      recipients: (jwe.recipients as { header: object }[]).map((one) => ({
        ...one,
        header: { ...one.header, ...change },
      })),
    }));

  /** Sends a message that its signer has changed after the encryption: the signature is right. */
  async function refusal(change: (message: Message) => Message) {
    const signed = changeMessages((message) => signedAgain(change(message), world.caller.own, headerOf(message)));
    const calls = await client({}, { interceptors: [signed] });
    const thrown = await calls.sendMessage(SENT).then(
      () => undefined,
      (error: unknown) =>
        error as { code: string; details: { violations?: readonly { field: string; description: string }[] } },
    );
    expect(thrown?.code).toBe('INVALID_PARAMS');
    return thrown?.details.violations?.[0];
  }

  let other: Message;
  beforeAll(async () => {
    const calls = await client(
      {},
      {
        interceptors: [
          changeMessages((message) => {
            other = message;
            return message;
          }),
        ],
      },
    );
    await calls.sendMessage(SENT);
  });

  it.each<[string, string | RegExp, (message: Message) => Message]>([
    ['swapped parts', 'belongs to another place (index)', (m) => ({ ...m, parts: m.parts.toReversed() })],
    ['a removed part', 'belongs to another place (parts)', (m) => ({ ...m, parts: m.parts.slice(0, 2) })],
    ['parts of another message', 'belongs to another place (messageId)', (m) => ({ ...m, parts: other.parts })],
    ['a plain part', 'must be encrypted: this agent takes no plain parts', (m) => ({ ...m, parts: [{ text: 'x' }] })],
    ['zip', 'its header must have no member "zip"', withHeader({ zip: 'DEF' })],
    ['crit', 'its header must have no member "crit"', withHeader({ crit: ['x'] })],
    ['another content algorithm', /^its typ must be/, withHeader({ enc: 'A128CBC-HS256' })],
    ['a changed place in its header', 'cannot be decrypted with the key that it names', withHeader({ by: [] })],
    ['another signer', 'was encrypted by another signer (by)', withHeader({ by: ['other'] })],
    ['a password', /^the alg of a recipient must be one of/, withRecipient({ alg: 'PBES2-HS256+A128KW' })],
    ['direct encryption', /^the alg of a recipient must be one of/, withRecipient({ alg: 'dir' })],
    ['another algorithm of the list', 'its algorithm is not that of the key', withRecipient({ alg: 'RSA-OAEP-256' })],
    ['an unknown key', 'is encrypted for other keys', withRecipient({ kid: 'unknown' })],
    [
      'a member for passwords',
      'the header of a recipient must have only alg, kid and epk',
      withRecipient({ p2c: 9e9 }),
    ],
    [
      'too many recipients',
      'its jwe must have 1 to 4 recipients',
      (m) => withJwe(m, (jwe) => ({ ...jwe, recipients: Array(5).fill((jwe.recipients as unknown[])[0]) })),
    ],
    ['additional data', 'its jwe must have no member "aad"', (m) => withJwe(m, (jwe) => ({ ...jwe, aad: '' }))],
    [
      'an unprotected header',
      'its jwe must have no member "unprotected"',
      (m) => withJwe(m, (jwe) => ({ ...jwe, unprotected: { zip: 'DEF' } })),
    ],
    [
      'a changed ciphertext',
      'cannot be decrypted with the key that it names',
      (m) => withJwe(m, (jwe) => ({ ...jwe, ciphertext: `A${String(jwe.ciphertext).slice(1)}` })),
    ],
    [
      'no jwe',
      'must have data with a member jwe, and true in its metadata',
      (m) => ({ ...m, parts: [{ data: {}, metadata: { [ENCRYPTION_EXTENSION]: true } }] }),
    ],
  ])('is refused with %s', async (_, description, change) => {
    const violation = await refusal(change);
    expect(violation?.field).toBe('message.parts[0]');
    expect(violation?.description).toEqual(
      typeof description === 'string' ? description : expect.stringMatching(description),
    );
  });

  it.each<[string, unknown]>([
    ['a private key', () => ownKey.own],
    ['a secret', () => ({ kty: 'oct', k: 'AAAA' })],
    ['a short RSA key', () => ({ kty: 'RSA', n: 'A'.repeat(171), e: 'AQAB' })],
    ['a key with a huge member', () => ({ ...ownKey.shown, n: 'A'.repeat(9_999) })],
    ['no key', () => 'x'],
  ])('is refused with %s for answers', async (_, key) => {
    const replyTo = (key as () => unknown)();
    const violation = await refusal((m) => ({ ...m, metadata: { [ENCRYPTION_EXTENSION]: { replyTo } as never } }));
    expect(violation?.field).toContain('replyTo');
  });

  it('cannot be claimed by another trusted signer, nor opened by an agent with another key', async () => {
    const thief = await keyPair('thief-1');
    const { url: lenient } = await world.listen(agent, {
      encryption: { keys: [agentKey.own] },
      trust: [
        { id: 'shop', keys: [world.caller.shown] },
        { id: 'thief', keys: [thief.shown] },
      ],
    });
    const claimed = changeMessages((message) =>
      signedAgain(message, thief.own, { ...headerOf(message), kid: 'thief-1' }),
    );
    const stolen = await world.client(
      lenient,
      { encryption: { to: { keys: [agentKey.shown] } } },
      { interceptors: [claimed] },
    );
    await expect(stolen.sendMessage(SENT)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    const wrong = await world.client(lenient, { encryption: { to: { keys: [otherKey.shown] } } });
    await expect(wrong.sendMessage(SENT)).rejects.toMatchObject({
      details: {
        violations: [{ field: 'message.parts[0]', description: 'cannot be decrypted with the key that it names' }],
      },
    });
    const plain = await world.client(lenient);
    expect(taskOf(await plain.sendMessage('plain')).status.message?.parts).toEqual([
      { text: 'a plain-looking question' },
    ]);
  });

  it('needs a signature for the key of its answers', async () => {
    const { url: open } = await world.listen(agent, { required: false, encryption: { keys: [agentKey.own] } });
    const { connect } = await import('parley-a2a');
    const metadata = { [ENCRYPTION_EXTENSION]: { replyTo: ownKey.shown } } as never;
    await expect(
      (await connect(open)).sendMessage({ message: { parts: [{ text: 'x' }], metadata } }),
    ).rejects.toMatchObject({
      details: { violations: [{ description: 'needs a signature: others could name a key of their own' }] },
    });
  });
});
