import fc from 'fast-check';
import type { Message, Part } from 'parley-a2a';
import { MemoryStorage } from 'parley-a2a/storage';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { grpcBinding } from 'parley-a2a-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { WIRES } from './wires.js';
import { executor, type KeyPair, keyPair, SignedWorld, taskOf } from './world.js';

/** Values of JavaScript whose JSON is another value. */
const odd = fc.constantFrom<unknown>(
  new Date(0),
  undefined,
  null,
  Number.NaN,
  -0,
  [undefined, new Date(0)],
  { at: new Date(0), none: undefined, own: { toJSON: () => 'as JSON' } },
  { ['__proto__']: 1, constructor: 2 },
);
const free = fc.oneof(odd, fc.jsonValue({ maxDepth: 2 }));
const freeObject = fc.oneof(
  fc.constantFrom(undefined, null, {}),
  fc.dictionary(fc.string({ maxLength: 8 }), free, { maxKeys: 3 }),
);
const label = fc.constantFrom<unknown>(undefined, null, '', 'a b.txt', 'text/markdown');
const base64 = fc
  .tuple(fc.uint8Array({ maxLength: 20 }), fc.constantFrom('base64', 'base64url'))
  .map(([bytes, form]) => Buffer.from(bytes).toString(form as 'base64'));
const content = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => ({ text })),
  free.filter((data) => data !== undefined).map((data) => ({ data })),
  base64.map((raw) => ({ raw })),
  fc.webUrl().map((url) => ({ url })),
);
const part = fc
  .record({
    content,
    filename: label,
    mediaType: label,
    metadata: freeObject,
    unknown: fc.constantFrom(undefined, 1, {}),
  })
  .map(({ content: own, ...about }) => ({ ...own, ...about }));
const list = fc.constantFrom<unknown>(undefined, null, []);
const message = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: 3 }),
  contextId: fc.constantFrom<unknown>(undefined, null, '', 'context-1'),
  taskId: fc.constantFrom<unknown>(undefined, null, ''),
  metadata: freeObject,
  extensions: list,
  referenceTaskIds: list,
  unknownMember: fc.constantFrom<unknown>(undefined, 'x'),
});

let world: SignedWorld;
let server: Awaited<ReturnType<SignedWorld['listen']>>['server'];
let url: string;
let old: string;
let received: Message | undefined;
let encryption: { to: { keys: KeyPair['shown'][] }; keys: KeyPair['own'][] };

/** Publishes the parts of the message, with values of JavaScript in them. */
const agent = executor(async (context, events) => {
  received = context.message;
  const at = { data: { at: new Date(0), none: undefined } } as unknown as Part;
  await events.artifact([...context.message.parts, at], { artifactId: 'a', metadata: { at: new Date(0) } as never });
  await events.complete([at]);
});

beforeAll(async () => {
  world = await SignedWorld.make();
  const sealing = await keyPair('agent-enc', 'ECDH-ES+A256KW');
  encryption = { to: { keys: [sealing.shown] }, keys: [(await keyPair('own-enc', 'ECDH-ES+A256KW')).own] };
  const storage = new MemoryStorage({ clock: systemClock });
  const bindings = [grpcBinding({ port: 0, listed: 'public' }), capnwebBinding()];
  const signing = { encryption: { keys: [sealing.own] } };
  ({ url, server } = await world.listen(agent, signing, { bindings, versions: ['1.0', '0.3'], storage }));
  old = (await world.listen(agent, signing, { versions: ['0.2.5'], storage })).url;
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a message with values that no wire carries as they are', () => {
  it.each(WIRES)('is signed as it arrives over %s', { timeout: 30_000 }, async (name, options) => {
    const target = name === 'in-process' ? server : options.version === '0.2' ? old : url;
    for (const sealed of [undefined, encryption]) {
      const client = await world.client(target, { ...(sealed && { encryption: sealed }) }, options);
      await fc.assert(
        fc.asyncProperty(message, async (given) => {
          const task = taskOf(await client.sendMessage({ message: given as never }));
          const plain = JSON.parse(JSON.stringify(given.parts)) as Part[];
          expect(received?.parts).toHaveLength(plain.length);
          for (const [at, own] of plain.entries()) {
            const arrived = received?.parts[at] as Part;
            if (own.data !== undefined) expect(arrived).toHaveProperty('data', own.data);
            if (own.raw !== undefined)
              expect(arrived).toHaveProperty('raw', Buffer.from(own.raw, 'base64').toString('base64'));
          }
          expect(task.artifacts?.[0]?.parts.at(-1)).toEqual({ data: { at: '1970-01-01T00:00:00.000Z' } });
          expect(task.status.message?.parts).toEqual([{ data: { at: '1970-01-01T00:00:00.000Z' } }]);
        }),
        { numRuns: 15, seed: 43, endOnFailure: true },
      );
      client.close();
    }
  });
});
