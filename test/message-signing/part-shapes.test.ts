import fc from 'fast-check';
import type { Client, Part } from 'parley-a2a';
import { MemoryStorage } from 'parley-a2a/storage';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { grpcBinding } from 'parley-a2a-grpc';
import { SIGNING_EXTENSION, verifySigned } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { changeMessages } from './wire.js';
import { WIRES } from './wires.js';
import { AUDIENCE, executor, SignedWorld, taskOf } from './world.js';

const CONTENTS: readonly Part[] = [
  { text: '' },
  { text: 'kůň' },
  { data: { n: 1 } },
  { data: {} },
  { data: [1, null] },
  { data: 'text' },
  { raw: 'AAEC' },
  { url: 'https://example.com/f' },
];
const LABELS = [{}, { filename: 'a b.txt' }, { mediaType: 'text/markdown' }, { filename: 'a', mediaType: 'x/y' }];
const METADATA = [{}, { metadata: { own: { n: 0.5 } } }];

/** Every kind of content, with and without each label and metadata. */
const SHAPES = CONTENTS.flatMap((content) =>
  LABELS.flatMap((labels) => METADATA.map((metadata): Part => ({ ...content, ...labels, ...metadata }))),
);

const jsonObject = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const label = fc.option(fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }), { nil: undefined });
const anyPart = fc
  .record({
    content: fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => ({ text })),
      fc.jsonValue({ maxDepth: 2 }).map((data) => ({ data })),
      fc.uint8Array({ maxLength: 20 }).map((bytes) => ({ raw: Buffer.from(bytes).toString('base64') })),
      fc.webUrl().map((url) => ({ url })),
    ),
    filename: label,
    mediaType: label,
    metadata: fc.option(jsonObject, { nil: undefined }),
  })
  .map(({ content, filename, mediaType, metadata }): Part => {
    const labels = { ...(filename && { filename }), ...(mediaType && { mediaType }) };
    const kept = metadata !== undefined && Object.keys(metadata).length > 0;
    return JSON.parse(JSON.stringify({ ...content, ...labels, ...(kept && { metadata }) })) as Part;
  });

let world: SignedWorld;
let server: Awaited<ReturnType<SignedWorld['listen']>>['server'];
let url: string;
let old: string;
let received: readonly Part[] = [];

const agent = executor(async (context, events) => {
  received = context.message.parts;
  await events.artifact(received, { artifactId: 'a' });
  await events.append('a', received);
  await events.complete(received);
});

beforeAll(async () => {
  world = await SignedWorld.make();
  const storage = new MemoryStorage({ clock: systemClock });
  const bindings = [grpcBinding({ port: 0, listed: 'public' }), capnwebBinding()];
  ({ url, server } = await world.listen(agent, {}, { bindings, versions: ['1.0', '0.3'], storage }));
  old = (await world.listen(agent, {}, { versions: ['0.2.5'], storage })).url;
});
afterAll(() => world[Symbol.asyncDispose]());

async function isCarried(client: Client, parts: readonly Part[]): Promise<void> {
  const task = taskOf(await client.sendMessage({ message: { parts } }));
  expect(received).toEqual(parts);
  expect(task.artifacts?.[0]?.parts).toEqual([...parts, ...parts]);
  expect(task.status.message?.parts).toEqual(parts);
  for await (const event of client.sendStreamingMessage({ message: { parts } }))
    if (event.artifactUpdate !== undefined) expect(event.artifactUpdate.artifact.parts).toEqual(parts);
}

describe.each(WIRES)('by %s', (name, options) => {
  const target = () => (name === 'in-process' ? server : options.version === '0.2' ? old : url);

  it('parts of every shape arrive as they were signed, and come back so', async () => {
    const client = await world.client(target(), {}, options);
    await isCarried(client, SHAPES);
    client.close();
  });

  it('so do random parts', async () => {
    const client = await world.client(target(), {}, options);
    await fc.assert(
      fc.asyncProperty(fc.array(anyPart, { minLength: 1, maxLength: 4 }), (parts) => isCarried(client, parts)),
      { numRuns: 15 },
    );
    client.close();
  });

  it('labels that a proxy adds, changes or repeats in metadata are refused', async () => {
    const signingMetadata = (value: object) => ({ metadata: { [SIGNING_EXTENSION]: value } });
    const changes: readonly ((part: Part) => Part)[] = [
      (part) => ({ ...part, ...signingMetadata({ filename: 'b' }) }) as Part,
      (part) => ({ ...part, ...signingMetadata({ mediaType: 'text/html' }) }) as Part,
      ...(options.version === '1.0' ? [(part: Part): Part => ({ ...part, mediaType: 'text/html' })] : []),
    ];
    for (const change of changes) {
      const proxy = changeMessages((message) => ({ ...message, parts: message.parts.map(change) }));
      const client = await world.client(target(), {}, { ...options, interceptors: [proxy] });
      await expect(client.sendMessage('plain')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      client.close();
    }
  });
});

it('a stored task with labels in both places is verified, and a label of the part itself counts', async () => {
  const reader = await world.client(url);
  const task = taskOf(await reader.sendMessage({ message: { parts: [{ text: 'x', filename: 'a' }] } }));
  const { connect } = await import('parley-a2a');
  const bare = await connect(url, { extensions: [SIGNING_EXTENSION] });
  const stored = await bare.getTask(task.id);
  const trust = { audience: AUDIENCE, agent: { keys: [world.agent.shown] } };
  await verifySigned({ task: stored }, trust);
  const [artifact] = stored.artifacts ?? [];
  if (artifact === undefined) throw new Error('no artifact');
  const parts = artifact.parts.map((part) => ({ ...part, filename: 'b' }));
  await expect(verifySigned({ task: { ...stored, artifacts: [{ ...artifact, parts }] } }, trust)).rejects.toThrow(
    'not over this content',
  );
});

it('an agent reads its earlier answers as it has published them', async () => {
  const parts = [
    { text: 'x', filename: 'a' },
    { data: 1, mediaType: 'x/y', metadata: { own: 1 } },
  ];
  const read: unknown[] = [];
  const rereading = executor(async (context, events) => {
    const earlier = (await context.conversation()).flatMap(({ artifact }) => (artifact ? [artifact.parts] : []));
    const question = context.history.find(({ role }) => role === 'ROLE_AGENT');
    const referred = (await context.referenceTasks()).map(({ artifacts }) => artifacts?.[0]?.parts);
    read.push(earlier, context.task?.artifacts?.[0]?.parts, question?.parts, referred);
    if (context.task?.artifacts === undefined) await events.artifact(parts, { artifactId: 'a' });
    await events.inputRequired(parts);
  });
  const { url: own } = await world.listen(rereading);
  const client = await world.client(own);
  const { id, contextId = '' } = taskOf(await client.sendMessage('x'));
  read.length = 0;
  await client.sendMessage({
    message: { parts: [{ text: 'y' }], taskId: id, contextId, referenceTaskIds: [id] },
  });
  expect(read).toEqual([[parts], parts, parts, [parts]]);
});
