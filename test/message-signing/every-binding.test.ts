import type { ConnectOptions } from 'parley-a2a/client';
import { MemoryStorage } from 'parley-a2a/storage';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { grpcBinding } from 'parley-a2a-grpc';
import { verifiedSigners } from 'parley-a2a-signing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { WIRES } from './wires.js';
import { executor, type KeyPair, keyPair, SignedWorld, taskOf } from './world.js';

/** Parts with every kind of content, and numbers at the edges of a double. */
const PARTS = [
  { text: '' },
  { text: 'Žlutý kůň 🐎' },
  { data: { float: 0.1, large: 1e21, whole: 9007199254740991, none: null, list: [], deep: { a: [{}] } } },
  { data: [1, 'two'] },
  { raw: 'AAEC/w==', filename: 'b.bin', mediaType: 'application/x' },
  { url: 'https://example.com/file', mediaType: 'text/plain' },
];
const METADATA = { 'https://example.com/own': { n: 1.5, empty: {} } };

const agent = executor(async (context, events) => {
  await events.working([{ text: String(verifiedSigners(context)[0]?.id) }]);
  const id = await events.artifact(context.message.parts, { name: 'copy', description: 'd', metadata: METADATA });
  await events.append(id, [{ data: { more: 0.25 } }], { lastChunk: true });
  await events.complete(context.message.parts);
});

let world: SignedWorld;
let url: string;
/** A server of 0.2.5 on the same storage. */
let old: string;
let server: Awaited<ReturnType<SignedWorld['listen']>>['server'];
let agentKey: KeyPair;
let ownKey: KeyPair;
beforeAll(async () => {
  world = await SignedWorld.make();
  agentKey = await keyPair('agent-enc', 'ECDH-ES+A256KW');
  ownKey = await keyPair('own-enc', 'ECDH-ES+A256KW');
  const signing = { encryption: { keys: [agentKey.own] } };
  const storage = new MemoryStorage({ clock: systemClock });
  const bindings = [grpcBinding({ port: 0, listed: 'public' }), capnwebBinding()];
  ({ url, server } = await world.listen(agent, signing, { bindings, versions: ['1.0', '0.3'], storage }));
  old = (await world.listen(agent, signing, { versions: ['0.2.5'], storage })).url;
});
afterAll(() => world[Symbol.asyncDispose]());

const urlOf = ({ version }: ConnectOptions) => (version === '0.2' ? old : url);

it.each(WIRES)(
  'a message is signed and its answer verified by %s, and by every other binding',
  async (name, options) => {
    for (const encryption of [undefined, { to: { keys: [agentKey.shown] }, keys: [ownKey.own] }]) {
      const target = name === 'in-process' ? server : urlOf(options);
      const client = await world.client(target, { ...(encryption && { encryption }) }, options);
      const request = { message: { parts: PARTS, metadata: METADATA } };
      const task = taskOf(await client.sendMessage(request));
      expect(task.artifacts?.[0]?.parts).toEqual([...PARTS, { data: { more: 0.25 } }]);
      const events = [];
      for await (const event of client.sendStreamingMessage(request)) events.push(event);
      expect(events.length).toBeGreaterThan(3);
      for (const [, other] of WIRES.filter(([row]) => row !== 'in-process')) {
        const reader = await world.client(urlOf(other), { ...(encryption && { encryption }) }, other);
        const read = await reader.getTask(task.id);
        expect(read.artifacts?.[0]?.parts).toHaveLength(PARTS.length + 1);
        reader.close();
      }
      client.close();
    }
  },
);
