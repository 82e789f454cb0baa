import type { Message } from 'parley-a2a';
import { SIGNING_EXTENSION } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeMessages, headerOf, signaturesOf, signedAgain, withSignatures } from './wire.js';
import { AUDIENCE, executor, keyPair, SignedWorld, taskOf } from './world.js';

let world: SignedWorld;
let url: string;
let ran = 0;
let stranger: Awaited<ReturnType<typeof keyPair>>;
const fetched: string[] = [];

beforeAll(async () => {
  world = await SignedWorld.make();
  stranger = await keyPair('caller-1');
  const agent = executor(async (context, events) => {
    ran += 1;
    await events.artifact(context.text);
    await events.inputRequired('more?');
  });
  const fetch = async (address: string) => {
    fetched.push(address);
    return Response.json({ keys: [stranger.shown] });
  };
  ({ url } = await world.listen(agent, { fetch }));
});
afterAll(() => world[Symbol.asyncDispose]());

const ORDER = {
  messageId: 'm-1',
  role: 'ROLE_USER' as const,
  parts: [{ text: 'buy 1 apple' }, { data: { price: 1.5, list: [] } }],
  metadata: { other: { deep: [1, null] } },
};
const encodeBase64Url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = () => Math.floor(Date.now() / 1_000);

/** Sends an order whose signed message is changed on its way. */
async function refusal(change: (message: Message) => Message | Promise<Message>, given: object = ORDER) {
  const before = ran;
  const client = await world.client(url, {}, { interceptors: [changeMessages(change)] });
  const error = await client.sendMessage({ message: given as Message }).then(
    () => undefined,
    (thrown: unknown) =>
      thrown as { code: string; details: { violations?: readonly { field: string; description: string }[] } },
  );
  expect(ran).toBe(before);
  expect(error?.code).toBe('INVALID_PARAMS');
  return error?.details.violations?.[0];
}

const place = `message.metadata[${JSON.stringify(SIGNING_EXTENSION)}]`;
const NOT_OVER = 'is not over this content, or not by this key';

/** The header of a signed message with other members, signed by the trusted key. */
const signChangedHeader =
  (change: (header: Record<string, unknown>) => Record<string, unknown>) => (message: Message) =>
    signedAgain(message, world.caller.own, change(headerOf(message)));

describe('a message is refused before the agent runs, with the field', () => {
  it.each<[string, string, (message: Message) => Message | Promise<Message>]>([
    ['its text was changed', NOT_OVER, (m) => ({ ...m, parts: [{ text: 'buy 9 apples' }, ...m.parts.slice(1)] })],
    [
      'its data was changed',
      NOT_OVER,
      (m) => ({ ...m, parts: [...m.parts.slice(0, 1), { data: { price: 0.5, list: [] } }] }),
    ],
    ['its parts were swapped', NOT_OVER, (m) => ({ ...m, parts: m.parts.toReversed() })],
    ['a part was removed', NOT_OVER, (m) => ({ ...m, parts: m.parts.slice(0, 1) })],
    ['a part was added', NOT_OVER, (m) => ({ ...m, parts: [...m.parts, { text: '' }] })],
    ['a part got a file name', NOT_OVER, (m) => ({ ...m, parts: m.parts.map((part) => ({ ...part, filename: 'a' })) })],
    ['its id was changed', NOT_OVER, (m) => ({ ...m, messageId: 'm-2' })],
    ['its role was changed', NOT_OVER, (m) => ({ ...m, role: 'ROLE_AGENT' })],
    ['its metadata were changed', NOT_OVER, (m) => ({ ...m, metadata: { ...m.metadata, other: 1 } })],
    ['metadata were added', NOT_OVER, (m) => ({ ...m, metadata: { ...m.metadata, more: 1 } })],
    ['a reference was added', NOT_OVER, (m) => ({ ...m, referenceTaskIds: ['t'] })],
    [
      'it was put into a context',
      'is over a message with other ids (contextId, taskId)',
      (m) => ({ ...m, contextId: 'c' }),
    ],
    ['it was put into a task', 'is over a message with other ids (contextId, taskId)', (m) => ({ ...m, taskId: 't' })],
    ['the signature is by another key of that name', NOT_OVER, (m) => signedAgain(m, stranger.own, headerOf(m))],
    [
      'it is for another audience',
      'is for another audience (aud)',
      signChangedHeader((h) => ({ ...h, aud: `${AUDIENCE}/x` })),
    ],
    ['it names no audience', 'is for another audience (aud)', signChangedHeader(({ aud: _, ...h }) => h)],
    ['it has expired', 'has expired', signChangedHeader((h) => ({ ...h, exp: now() - 61 }))],
    ['it is too old', 'has expired', signChangedHeader((h) => ({ ...h, iat: now() - 361, exp: now() + 9_999 }))],
    ['it is from the future', 'is from the future (iat)', signChangedHeader((h) => ({ ...h, iat: now() + 90 }))],
    ['it never ends', 'has no time at which it ends (exp)', signChangedHeader(({ exp: _, ...h }) => h)],
    ['it has no time', 'its iat must be a time in seconds', signChangedHeader(({ iat: _, ...h }) => h)],
    [
      'it is an answer',
      'is over an answer, not over a message to an agent',
      signChangedHeader((h) => ({ ...h, iss: AUDIENCE })),
    ],
    [
      'its type is that of an artifact',
      'its typ must be a2a-message+jws',
      signChangedHeader((h) => ({ ...h, typ: 'a2a-artifact+jws' })),
    ],
    ['it has no type', 'its typ must be a2a-message+jws', signChangedHeader(({ typ: _, ...h }) => h)],
    ['it names no key', 'its header must name a key (kid)', signChangedHeader(({ kid: _, ...h }) => h)],
    [
      'a member is critical',
      'its header must have no member "urgent"',
      signChangedHeader((h) => ({ ...h, urgent: 1, crit: ['urgent'] })),
    ],
    [
      'its payload is not encoded',
      'its header must have no member "b64"',
      signChangedHeader((h) => ({ ...h, b64: true })),
    ],
    [
      'its algorithm is none',
      'its algorithm is not accepted',
      (m) => withSignatures(m, [{ protected: encodeBase64Url({ ...headerOf(m), alg: 'none' }), signature: '' }]),
    ],
    [
      'its algorithm is HMAC with the public key',
      'its algorithm is not accepted',
      (m) =>
        signedAgain(m, new TextEncoder().encode(JSON.stringify(world.caller.shown)), { ...headerOf(m), alg: 'HS256' }),
    ],
    [
      'its algorithm was changed to one of another kind of key',
      'has no signature by a trusted key',
      (m) =>
        withSignatures(m, [
          { ...signaturesOf(m).signatures[0], protected: encodeBase64Url({ ...headerOf(m), alg: 'RS256' }) },
        ]),
    ],
    [
      'its header has a member twice',
      'its protected header must be base64url of JSON without blanks and without a member twice',
      (m) => {
        const twice = JSON.stringify(headerOf(m)).replace('{', '{"aud":"x",');
        return withSignatures(m, [
          { ...signaturesOf(m).signatures[0], protected: Buffer.from(twice).toString('base64url') },
        ]);
      },
    ],
    [
      'it has a second header',
      'must have no member "header"',
      (m) => withSignatures(m, [{ ...signaturesOf(m).signatures[0], header: { alg: 'ES256' } }]),
    ],
    [
      'it has a payload of its own',
      'must have no member "payload"',
      (m) => withSignatures(m, [{ ...signaturesOf(m).signatures[0], payload: encodeBase64Url(ORDER) }]),
    ],
    [
      'a signature is too long',
      'must have a member signature of at most 1366 characters',
      (m) => withSignatures(m, [{ ...signaturesOf(m).signatures[0], signature: 'A'.repeat(1_367) }]),
    ],
    [
      'its header is too long',
      'must have a member protected of at most 8192 characters',
      (m) => withSignatures(m, [{ ...signaturesOf(m).signatures[0], protected: 'A'.repeat(8_193) }]),
    ],
    ['the signature is no object', 'must be an object', (m) => withSignatures(m, ['x'])],
  ])('%s', async (_, description, change) => {
    const violation = await refusal(change);
    expect(violation?.description).toBe(description);
    expect(violation?.field.startsWith(place)).toBe(true);
  });

  it.each<[string, string, (message: Message) => Message]>([
    ['there is no signature', 'is required: this agent takes signed messages only', ({ metadata: _, ...m }) => m],
    ['the list is empty', 'must have 1 to 8 signatures', (m) => withSignatures(m, [])],
    [
      'there are too many signatures',
      'must have 1 to 8 signatures',
      (m) =>
        withSignatures(
          m,
          Array.from({ length: 9 }, () => signaturesOf(m).signatures[0]),
        ),
    ],
    [
      'only names of signers are sent',
      'must have 1 to 8 signatures',
      (m) => ({ ...m, metadata: { [SIGNING_EXTENSION]: { signers: [{ id: 'shop', kid: 'caller-1' }] } } }),
    ],
  ])('%s', async (_, description, change) => {
    expect(await refusal(change)).toEqual({ field: place, description });
  });

  it('a signature of another message', async () => {
    let first: Message | undefined;
    const keep = await world.client(
      url,
      {},
      {
        interceptors: [
          changeMessages((m) => {
            first = m;
            return m;
          }),
        ],
      },
    );
    const { id, contextId = '' } = taskOf(await keep.sendMessage('one'));
    const moved = await refusal((m) => withSignatures(m, signaturesOf(first as Message).signatures));
    expect(moved).toEqual({ field: `${place}.signatures[0]`, description: NOT_OVER });
    const replayed = await refusal(() => ({ ...(first as Message), taskId: id, contextId }));
    expect(replayed?.description).toBe('is over a message with other ids (contextId, taskId)');
  });

  it('a key in its header, and a key set of a stranger, which is not fetched', async () => {
    const other = await keyPair('stranger-1');
    const header = { jwk: other.shown, jku: 'https://stranger.example/jwks.json', kid: 'stranger-1' };
    const violation = await refusal((m) => signedAgain(m, other.own, { ...headerOf(m), ...header }));
    expect(violation).toEqual({ field: place, description: 'has no signature by a trusted key' });
    expect(fetched).toEqual([]);
  });

  it('without the extension (Spec §3.2.6)', async () => {
    const { connect } = await import('parley-a2a');
    const client = await connect(url);
    await expect(client.sendMessage('x')).rejects.toMatchObject({ code: 'EXTENSION_SUPPORT_REQUIRED' });
  });
});

it('several signatures count if one of them is by a trusted key, and none of a trusted key is wrong', async () => {
  const other = await keyPair('other-1');
  const both = await world.client(url, { keys: [other.own, world.caller.own] });
  expect(taskOf(await both.sendMessage('hi')).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const wrong = await refusal(async (m) => {
    const again = await signedAgain(m, stranger.own, headerOf(m));
    return withSignatures(m, [...signaturesOf(m).signatures, ...signaturesOf(again).signatures]);
  });
  expect(wrong).toEqual({ field: `${place}.signatures[1]`, description: NOT_OVER });
});
