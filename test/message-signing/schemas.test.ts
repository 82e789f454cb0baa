import type { Part, Task } from 'parley-a2a';
import type { OutgoingMessage } from 'parley-a2a/client';
import { agentSchemas } from 'parley-a2a/schemas';
import { MemoryStorage } from 'parley-a2a/storage';
import { answerApprovals, answerQuestion, defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';
import { ENCRYPTION_EXTENSION, verifySigned } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { AUDIENCE, executor, type KeyPair, keyPair, SignedWorld, taskOf } from './world.js';

const ORDER = { type: 'object', required: ['apples'], properties: { apples: { type: 'integer' } } };
const ANSWER = { type: 'object', required: ['price'], properties: { price: { type: 'number' } } };
const NOTE = 'https://example.com/ext/note';

let world: SignedWorld;
let agentKey: KeyPair;
let ownKey: KeyPair;
let ran = 0;
const storage = new MemoryStorage({ clock: systemClock });

const agent = executor(async (context, events) => {
  ran += 1;
  const [part] = context.message.parts;
  const data = part !== undefined && part.data !== undefined ? part.data : {};
  const { apples } = data as { readonly apples: number };
  await events.artifact({ data: apples > 9 ? { price: 'too much' } : { price: apples * 2 } });
  await events.complete('done');
});

const serveAgent = async (onMismatch: 'refuse' | 'strip', required = true) => {
  const schemas = agentSchemas({
    input: ORDER,
    output: ANSWER,
    extensions: [{ uri: NOTE, schemas: { part: { type: 'string' }, message: { type: 'string' } }, onMismatch }],
  });
  return world.listen(agent, { encryption: { keys: [agentKey.own], required } }, { schemas, storage });
};

beforeAll(async () => {
  world = await SignedWorld.make();
  agentKey = await keyPair('agent-enc', 'ECDH-ES+A256KW');
  ownKey = await keyPair('own-enc', 'ECDH-ES+A256KW');
});
afterAll(() => world[Symbol.asyncDispose]());

const clientOf = (url: string) =>
  world.client(url, { encryption: { to: { keys: [agentKey.shown] }, keys: [ownKey.own], required: true } });
const sendParams = (part: object, metadata?: object) =>
  ({ message: { parts: [part as Part], ...(metadata && { metadata }) } }) as never;

describe('an agent with schemas', () => {
  it('gets encrypted data that fit, and its own are checked before they are encrypted', async () => {
    const { url } = await serveAgent('refuse');
    const client = await clientOf(url);
    const task = taskOf(await client.sendMessage(sendParams({ data: { apples: 3 } })));
    expect(task.artifacts?.[0]?.parts).toEqual([{ data: { price: 6 } }]);
    await verifySigned(
      { task: await (await world.client(url, {}, { extensions: [ENCRYPTION_EXTENSION] })).getTask(task.id) },
      { audience: AUDIENCE, agent: { keys: [world.agent.shown] } },
    );
    const failed = taskOf(await client.sendMessage(sendParams({ data: { apples: 10 } })));
    expect([failed.status.state, failed.artifacts]).toEqual(['TASK_STATE_FAILED', undefined]);
    expect(failed.status.message?.parts).toEqual([{ text: 'The agent gave an invalid response.' }]);
  });

  it('refuses encrypted data that do not fit, with the field, before it runs', async () => {
    const { url } = await serveAgent('refuse');
    const client = await clientOf(url);
    const before = ran;
    for (const [part, field] of [
      [{ data: { apples: 'many' } }, 'message.parts[0].data.apples'],
      [{ data: {} }, 'message.parts[0].data'],
      [{ data: { apples: 1 }, metadata: { [NOTE]: 5 } }, `message.parts[0].metadata[${JSON.stringify(NOTE)}]`],
    ] as const) {
      const refused = client.sendMessage(sendParams(part));
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      const error = (await refused.catch((thrown: unknown) => thrown)) as {
        details: { violations: readonly { field: string }[] };
      };
      expect(error.details.violations[0]?.field).toBe(field);
    }
    expect(ran).toBe(before);
  });

  it('strips metadata of the message, but refuses those of an encrypted part, which it cannot change', async () => {
    const { url } = await serveAgent('strip');
    const client = await clientOf(url);
    const task = taskOf(await client.sendMessage(sendParams({ data: { apples: 3 } }, { [NOTE]: 5 })));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.history?.[0]?.metadata).not.toHaveProperty([NOTE]);
    expect(task.history?.[0]?.parts).toEqual([{ data: { apples: 3 } }]);
    await expect(
      client.sendMessage(sendParams({ data: { apples: 3 }, metadata: { [NOTE]: 5 } })),
    ).rejects.toMatchObject({
      details: {
        violations: [{ field: 'message.parts[0].metadata', description: expect.stringContaining('encrypted') }],
      },
    });
  });

  const nights = { type: 'object', properties: { nights: { type: 'integer' } }, required: ['nights'] };
  const any = jsonSchema<unknown>({});
  const tools = [
    defineTool({ name: 'pay', input: any, needsApproval: true, run: () => 'paid' }),
    defineTool({
      name: 'room',
      input: any,
      run: (_, { ask }) => ask?.({ message: 'Nights?', schema: nights }) as never,
    }),
  ];
  const callTool = (name: string) =>
    toolAgent(new ToolRegistry(tools), async (run, { events }) => {
      await run.call(name, {});
      await events.artifact({ data: { price: 1 } });
      await events.complete();
    });

  it.each<[string, string, (task: Task) => OutgoingMessage]>([
    ['an approval', 'pay', (task) => answerApprovals(task, 'approve')],
    ['a named answer', 'room', (task) => answerQuestion(task, { action: 'accept', content: { nights: 2 } })],
    ['a plain answer', 'room', ({ id }) => ({ taskId: id, parts: [{ data: { nights: 2 } }] })],
  ])('takes the answer to its encrypted question: %s', async (_, name, answer) => {
    for (const required of [true, false]) {
      const schemas = agentSchemas({ input: ORDER, output: ANSWER });
      const encryption = { keys: [agentKey.own], required };
      const { url } = await world.listen(callTool(name), { encryption }, { schemas, storage });
      const client = await clientOf(url);
      const asked = taskOf(await client.sendMessage(sendParams({ text: 'Go' })));
      expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      const done = taskOf(await client.sendMessage({ message: answer(asked) }));
      expect([done.status.state, done.artifacts?.at(-1)?.parts]).toEqual([
        'TASK_STATE_COMPLETED',
        [{ data: { price: 1 } }],
      ]);
    }
  });

  it('refuses encrypted parts in the form of an answer to no question, or in another form', async () => {
    const schemas = agentSchemas({ input: ORDER, output: ANSWER });
    const { url } = await world.listen(callTool('pay'), { encryption: { keys: [agentKey.own] } }, { schemas, storage });
    const client = await clientOf(url);
    const decision = { toolApproval: { callId: '1.1', decision: 'approve' } };
    const refused = { code: 'INVALID_PARAMS', message: expect.stringContaining('message.parts[') };
    await expect(client.sendMessage(sendParams({ data: decision }))).rejects.toMatchObject(refused);
    const { id: taskId } = taskOf(await client.sendMessage(sendParams({ text: 'Go' })));
    for (const data of [
      { ...decision, evil: 1 },
      { toolApproval: { ...decision.toolApproval, callId: '9.9' } },
      { toolAnswer: { callId: '1.1', content: { evil: 1 } } },
    ])
      await expect(client.sendMessage({ message: { taskId, parts: [{ data }] } })).rejects.toMatchObject(refused);
  });
});
