import { createPublicKey } from 'node:crypto';
import type { JWK } from 'jose';
import type { Message, StreamResponse, Task } from 'parley-a2a';
import { BearerTokens } from 'parley-a2a/auth';
import type { ClientCallContext, Interceptor } from 'parley-a2a/client';
import { bearerToken } from 'parley-a2a/credentials';
import { ENCRYPTION_EXTENSION, verifiedSigners } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeMessages, changingEvents, headerOf, signedAgain, withSignatures } from './wire.js';
import { executor, type KeyPair, keyPair, SignedWorld, taskOf } from './world.js';

let world: SignedWorld;
let url: string;
let ran = 0;

const agent = executor(async (context, events) => {
  ran += 1;
  await events.artifact(`for ${context.text}`, { artifactId: 'a' });
  if (context.text === 'end') return events.complete();
  await events.inputRequired(
    verifiedSigners(context)
      .map(({ id }) => id)
      .join(),
  );
});

beforeAll(async () => {
  world = await SignedWorld.make();
  ({ url } = await world.listen(agent));
});
afterAll(() => world[Symbol.asyncDispose]());

const REFUSED = { code: 'INVALID_AGENT_RESPONSE' };

/** A proxy that answers calls of one task by the answer to another. */
const answerInstead =
  (operation: string, answer: () => Task): Interceptor<ClientCallContext> =>
  (call, next) =>
    call.operation === operation ? (Promise.resolve(answer()) as never) : next(call);

async function eventsOf(events: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const all: StreamResponse[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('a splice', () => {
  const noResume = { resume: { attempts: 0 } } as const;

  it('of the events of another task into a stream is refused, event by event', async () => {
    const plain = await world.client(url);
    const other = await eventsOf(plain.sendStreamingMessage('end'));
    const { id, contextId = '' } = taskOf(await plain.sendMessage('x'));
    const message = { parts: [{ text: 'x' }], taskId: id, contextId };
    for (const kind of ['artifactUpdate', 'statusUpdate']) {
      const spliced = changingEvents((event) => (kind in event ? other.filter((one) => kind in one) : [event]));
      const client = await world.client(url, {}, { interceptors: [spliced], ...noResume });
      const seen: StreamResponse[] = [];
      const reading = (async () => {
        for await (const event of client.sendStreamingMessage({ message })) seen.push(event);
      })();
      await expect(reading).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('another task') });
      expect(JSON.stringify(seen)).not.toContain('for end');
    }
  });

  it('of their ids too breaks the signature', async () => {
    const other = await eventsOf((await world.client(url)).sendStreamingMessage('end'));
    const chunk = other.find((event) => event.artifactUpdate !== undefined);
    const spliced = changingEvents((event) => {
      if (event.artifactUpdate === undefined || chunk === undefined || chunk.artifactUpdate === undefined)
        return [event];
      const { taskId, contextId } = event.artifactUpdate;
      return [{ artifactUpdate: { ...chunk.artifactUpdate, taskId, contextId } }];
    });
    const client = await world.client(url, {}, { interceptors: [spliced], ...noResume });
    await expect(eventsOf(client.sendStreamingMessage('x'))).rejects.toMatchObject(REFUSED);
  });

  it('of a whole other task into an answer or a subscription is refused', async () => {
    const plain = await world.client(url);
    const other = taskOf(await plain.sendMessage('other'));
    const { id, contextId = '' } = taskOf(await plain.sendMessage('x'));
    for (const operation of ['getTask', 'cancelTask'] as const) {
      const proxy = answerInstead(operation, () => other);
      const client = await world.client(url, {}, { interceptors: [proxy] });
      await expect(client[operation](id)).rejects.toMatchObject(REFUSED);
    }
    const swapped = changingEvents((event) => (event.task !== undefined ? [{ task: other }] : [event]));
    const client = await world.client(url, {}, { interceptors: [swapped], ...noResume });
    await expect(eventsOf(client.subscribeToTask(id))).rejects.toMatchObject(REFUSED);
    const message = { parts: [{ text: 'x' }], taskId: id, contextId };
    await expect(eventsOf(client.sendStreamingMessage({ message }))).rejects.toMatchObject(REFUSED);
  });
});

describe('a replay', () => {
  it('of an earlier end as the answer to a follow-up message is refused', async () => {
    const plain = await world.client(url);
    const first = taskOf(await plain.sendMessage('x'));
    const said = first.status.message as Message;
    const iat = Number(headerOf(said).iat);
    const old = await signedAgain(said, world.agent.own, { ...headerOf(said), iat: iat - 120 });
    const before = { ...first, status: { ...first.status, message: old } };
    const proxy: Interceptor<ClientCallContext> = (call, next) =>
      call.operation === 'sendMessage' ? (Promise.resolve({ task: before }) as never) : next(call);
    const client = await world.client(url, {}, { interceptors: [proxy] });
    const message = { parts: [{ text: 'y' }], taskId: first.id, contextId: first.contextId ?? '' };
    await expect(client.sendMessage({ message })).rejects.toThrow('is older than the message (iat)');
    const late = changingEvents((event) => {
      if (event.statusUpdate === undefined || event.statusUpdate.status.message === undefined) return [event];
      return [{ statusUpdate: { ...event.statusUpdate, status: before.status } }];
    });
    const watcher = await world.client(url, {}, { interceptors: [late], resume: { attempts: 0 } });
    await expect(eventsOf(watcher.sendStreamingMessage({ message }))).rejects.toMatchObject(REFUSED);
  });

  it('of a message gives the first answer again, and the agent runs once', async () => {
    const authenticator = new BearerTokens([{ token: 'token-of-ada', subject: 'ada' }]);
    const rows = [
      [{ authenticator }, { credentials: bearerToken('token-of-ada') }],
      [{ idempotency: { anonymous: true } }, {}],
    ] as const;
    for (const [serverOptions, clientOptions] of rows) {
      const { url: own } = await world.listen(agent, {}, serverOptions);
      let sent: Message | undefined;
      const keep = changeMessages((message) => {
        sent ??= message;
        return sent;
      });
      const client = await world.client(own, {}, { ...clientOptions, interceptors: [keep] });
      const before = ran;
      const first = taskOf(await client.sendMessage('buy'));
      // The reader of the replayed answer has sent another message.
      await expect(client.sendMessage('buy')).rejects.toMatchObject(REFUSED);
      const blind = await world.client(own, { agent: undefined as never }, { ...clientOptions, interceptors: [keep] });
      expect(taskOf(await blind.sendMessage('buy')).id).toBe(first.id);
      expect(ran).toBe(before + 1);
    }
  });
});

describe('a confusion of keys', () => {
  let rsa: KeyPair;
  const refusal = async (
    signing: Parameters<SignedWorld['listen']>[1],
    change: (message: Message) => Message | Promise<Message>,
  ) => {
    const { url: own } = await world.listen(agent, signing);
    const client = await world.client(own, {}, { interceptors: [changeMessages(change)] });
    const thrown = (await client.sendMessage('x').catch((error: unknown) => error)) as {
      details: { violations?: readonly { description: string }[] };
    };
    return thrown.details.violations?.[0]?.description;
  };
  beforeAll(async () => {
    rsa = await keyPair('rsa-1', 'RS256');
  });

  it('of an RSA public key with a secret is refused, whatever its encoding', async () => {
    const key = createPublicKey({ key: rsa.shown as JWK as never, format: 'jwk' });
    const secrets = [
      key.export({ type: 'spki', format: 'pem' }),
      key.export({ type: 'pkcs1', format: 'pem' }),
      key.export({ type: 'spki', format: 'der' }),
      JSON.stringify(rsa.shown),
      String(rsa.shown.n),
    ];
    for (const alg of ['HS256', 'HS384', 'HS512'])
      for (const secret of secrets) {
        const bytes = new Uint8Array(Buffer.from(secret));
        const change = (message: Message) => signedAgain(message, bytes, { ...headerOf(message), alg, kid: 'rsa-1' });
        expect(await refusal({ trust: [{ id: 'rsa', keys: [rsa.shown] }] }, change)).toBe(
          'its algorithm is not accepted',
        );
      }
  });

  it('of algorithms of one key is refused: a key signs with its own only', async () => {
    const change = (message: Message) =>
      signedAgain(message, { ...rsa.own, alg: 'PS256' } as never, { ...headerOf(message), alg: 'PS256', kid: 'rsa-1' });
    expect(await refusal({ trust: [{ id: 'rsa', keys: [rsa.shown] }] }, change)).toBe(
      'has no signature by a trusted key',
    );
  });

  it('of a key for encryption with one for signatures is refused', async () => {
    const enc = await keyPair('enc-1', 'ECDH-ES+A256KW');
    for (const shown of [enc.shown, { ...enc.shown, use: 'enc', alg: 'ES256' }]) {
      const change = (message: Message) =>
        signedAgain(message, { ...enc.own, alg: 'ES256' } as never, {
          ...headerOf(message),
          alg: 'ES256',
          kid: 'enc-1',
        });
      expect(await refusal({ trust: [{ id: 'enc', keys: [shown as never] }] }, change)).toBe(
        'has no signature by a trusted key',
      );
    }
  });

  it('of two signers with the same kid is decided by the key', async () => {
    const twin = await keyPair('caller-1');
    const trust = [
      { id: 'shop', keys: [world.caller.shown] },
      { id: 'twin', keys: [twin.shown] },
    ];
    const { url: own } = await world.listen(agent, { trust });
    for (const [id, keys] of [
      ['shop', [world.caller.own]],
      ['twin', [twin.own]],
    ] as const) {
      const client = await world.client(own, { keys });
      expect(taskOf(await client.sendMessage('x')).status.message?.parts).toEqual([{ text: id }]);
    }
  });
});

describe('a costly or odd header', () => {
  const refusal = async (change: (message: Message) => Message) => {
    const client = await world.client(url, {}, { interceptors: [changeMessages(change)] });
    const before = ran;
    await expect(client.sendMessage('x')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(ran).toBe(before);
  };
  const withHeader = (text: string) => (message: Message) =>
    withSignatures(message, [{ protected: Buffer.from(text).toString('base64url'), signature: 'AAAA' }]);

  it.each([
    ['lists within lists', '['.repeat(6_000)],
    ['objects within objects', '{"a":'.repeat(1_200)],
    ['a list', '[]'],
    ['null', 'null'],
    ['a member of the prototype', '{"__proto__":{"alg":"ES256"},"kid":"caller-1"}'],
    ['a byte that is no UTF-8', '\u00ff'],
    ['a key id of thousands of characters', JSON.stringify({ alg: 'ES256', kid: 'k'.repeat(5_000) })],
    ['a time that is no integer', '{"alg":"ES256","kid":"caller-1","typ":"a2a-message+jws","iat":1e400}'],
  ])('is refused in a signature: %s', async (_, text) => {
    await refusal(withHeader(text));
  });

  it('is refused in an encrypted part, before any key is used', async () => {
    const agentKey = await keyPair('agent-enc', 'ECDH-ES+A256KW');
    const { url: own } = await world.listen(agent, { encryption: { keys: [agentKey.own] } });
    type Jwe = { protected: string; recipients: { encrypted_key: string; header: Record<string, unknown> }[] };
    const changes: readonly [RegExp, (jwe: Jwe) => unknown][] = [
      [/within their bounds/, (jwe) => ({ ...jwe, protected: 'A'.repeat(8_193) })],
      [
        /must have an encrypted_key/,
        (jwe) => ({ ...jwe, recipients: jwe.recipients.map((one) => ({ ...one, encrypted_key: 'A'.repeat(2_049) })) }),
      ],
      [
        /only alg, kid and epk/,
        (jwe) => ({
          ...jwe,
          recipients: jwe.recipients.map((one) => ({ ...one, header: { ...one.header, epk: 'A'.repeat(2_049) } })),
        }),
      ],
      [
        // A point that is not on the curve could tell bits of the private key.
        /cannot be decrypted/,
        (jwe) => ({
          ...jwe,
          protected: Buffer.from(
            JSON.stringify({
              ...JSON.parse(Buffer.from(jwe.protected, 'base64url').toString()),
              epk: { kty: 'EC', crv: 'P-256', x: 'AQ', y: 'AQ' },
            }),
          ).toString('base64url'),
          recipients: jwe.recipients.map(({ header: { epk: _, ...header }, ...one }) => ({ ...one, header })),
        }),
      ],
    ];
    for (const [fault, change] of changes) {
      const proxy = changeMessages((message) => {
        const parts = message.parts.map((part) => {
          const { jwe } = (part as unknown as { data: { jwe: Jwe } }).data;
          return { data: { jwe: change(jwe) }, metadata: { [ENCRYPTION_EXTENSION]: true } } as never;
        });
        return signedAgain({ ...message, parts }, world.caller.own, headerOf(message));
      });
      const client = await world.client(
        own,
        { encryption: { to: { keys: [agentKey.shown] } } },
        { interceptors: [proxy] },
      );
      await expect(client.sendMessage('x')).rejects.toMatchObject({
        details: { violations: [{ field: 'message.parts[0]', description: expect.stringMatching(fault) }] },
      });
    }
  });
});
