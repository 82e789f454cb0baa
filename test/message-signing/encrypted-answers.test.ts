import type { StreamResponse } from 'parley-a2a';
import { BearerTokens } from 'parley-a2a/auth';
import { bearerToken } from 'parley-a2a/credentials';
import { answerApprovals, defineTool, jsonSchema, ToolRegistry, toolAgent } from 'parley-a2a/tools';
import { type MessageSigningOptions, signedCalls } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeMessages } from './wire.js';
import { AUDIENCE, executor, type KeyPair, keyPair, SignedWorld, taskOf } from './world.js';

let world: SignedWorld;
let agentKey: KeyPair;
let ownKey: KeyPair;
let other: KeyPair;
let otherKey: KeyPair;

const agent = executor(async (context, events) => {
  if (context.text === 'ask') await context.requestAuthorization({ message: 'secret question' });
  if (context.text === 'throw') throw new Error('secret');
  await events.artifact('secret answer', { artifactId: 'a' });
  await events.inputRequired('secret question');
});

beforeAll(async () => {
  world = await SignedWorld.make();
  agentKey = await keyPair('agent-enc', 'ECDH-ES+A256KW');
  ownKey = await keyPair('own-enc', 'ECDH-ES+A256KW');
  other = await keyPair('other-1');
  otherKey = await keyPair('other-enc', 'ECDH-ES+A256KW');
});
afterAll(() => world[Symbol.asyncDispose]());

const encryption = (pair: KeyPair) => ({ to: { keys: [agentKey.shown] }, keys: [pair.own], required: true });
const REFUSED = 'must be encrypted: this client takes no plain answers';

describe('a client that requires encrypted answers', () => {
  it('takes them, and the question for an authorization too', async () => {
    const { url } = await world.listen(agent, { encryption: { keys: [agentKey.own] } });
    const wire: StreamResponse[] = [];
    const client = await world.client(url, { encryption: encryption(ownKey) });
    const task = taskOf(await client.sendMessage('x'));
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'secret answer' }]);
    expect((await client.getTask(task.id)).status.message?.parts).toEqual([{ text: 'secret question' }]);
    for await (const event of client.sendStreamingMessage('x')) wire.push(event);
    expect(JSON.stringify(wire)).toContain('secret answer');
    let asked: StreamResponse | undefined;
    for await (const event of client.sendStreamingMessage('ask')) {
      asked = event;
      if (event.statusUpdate !== undefined && event.statusUpdate.status.state === 'TASK_STATE_AUTH_REQUIRED') break;
    }
    expect(asked).toMatchObject({
      statusUpdate: { status: { message: { parts: [{ text: 'secret question' }, {}] } } },
    });
    const id = asked !== undefined && asked.statusUpdate !== undefined ? asked.statusUpdate.taskId : '';
    const bare = await world.client(url);
    expect(JSON.stringify(await bare.getTask(id))).not.toContain('secret question');
  });

  it('approves a call of a tool that the agent asks about', async () => {
    const text = jsonSchema<string>({ type: 'string' });
    const pay = defineTool({ name: 'pay', input: text, needsApproval: true, run: (what) => `paid ${what}` });
    const shop = toolAgent(new ToolRegistry([pay]), async (run, { events }) => {
      await events.complete(`${await run.call(pay, 'Dune')}`);
    });
    const { url } = await world.listen(shop, { encryption: { keys: [agentKey.own] } });
    const client = await world.client(url, { encryption: encryption(ownKey) });
    const asked = taskOf(await client.ask('go'));
    const done = taskOf(await client.ask({ message: answerApprovals(asked, 'approve') }));
    expect([done.status.state, done.status.message?.parts]).toEqual(['TASK_STATE_COMPLETED', [{ text: 'paid Dune' }]]);
  });

  it('takes an end that the engine wrote: its text is plain', async () => {
    const { url } = await world.listen(agent, { encryption: { keys: [agentKey.own] } });
    const client = await world.client(url, { encryption: encryption(ownKey) });
    expect(taskOf(await client.sendMessage('throw')).status.state).toBe('TASK_STATE_FAILED');
  });

  it('refuses plain ones, in an answer, a stream, a task and a list', async () => {
    const { url } = await world.listen(agent);
    const plain = await world.client(url);
    const { id } = taskOf(await plain.sendMessage('x'));
    const client = await world.client(url, { encryption: encryption(ownKey) });
    const refused = { code: 'INVALID_AGENT_RESPONSE', message: expect.stringContaining(REFUSED) };
    await expect(client.getTask(id)).rejects.toMatchObject(refused);
    await expect(client.listTasks({ includeArtifacts: true })).rejects.toMatchObject(refused);
    const follow = await world.client(url, {
      encryption: { to: { keys: [agentKey.shown] }, keys: [ownKey.own], required: true },
    });
    const streamed = (async () => {
      for await (const _ of follow.subscribeToTask(id));
    })();
    await expect(streamed).rejects.toMatchObject(refused);
  });

  it('needs a key', async () => {
    const options = { audience: AUDIENCE, keys: [world.caller.own], agent: { keys: [world.agent.shown] } };
    const sealed = { to: { keys: [agentKey.shown] }, required: true };
    await expect(signedCalls({ ...options, encryption: sealed })).rejects.toThrow('encryption.required needs');
  });
});

describe('the key for answers', () => {
  const authenticator = new BearerTokens([
    { token: 'token-of-ada', subject: 'ada' },
    { token: 'token-of-eve', subject: 'eve' },
  ]);
  const listen = (signing: Partial<MessageSigningOptions>, isAnonymous = false) =>
    world.listen(
      agent,
      {
        trust: [
          { id: 'ada', keys: [world.caller.shown], user: 'bearer|ada' },
          { id: 'desk', keys: [other.shown] },
        ],
        encryption: { keys: [agentKey.own] },
        ...signing,
      },
      isAnonymous ? {} : { authenticator },
    );
  const as = (token: string, pair: KeyPair, key: KeyPair) => ({ token, pair, key });
  const clientOf = (url: string, { token, pair, key }: ReturnType<typeof as>) =>
    world.client(url, { keys: [pair.own], encryption: encryption(key) }, { credentials: bearerToken(token) });
  const NOT_CALLERS = 'is not by a signer of this caller. The operator binds a signer to its user';

  it('of an authenticated caller needs a signer that is bound to the caller', async () => {
    const { url } = await listen({});
    const ada = await clientOf(url, as('token-of-ada', world.caller, ownKey));
    expect(taskOf(await ada.sendMessage('x')).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    for (const token of ['token-of-ada', 'token-of-eve']) {
      const desk = await clientOf(url, as(token, other, otherKey));
      await expect(desk.sendMessage('x')).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        details: { violations: [{ field: expect.stringContaining('replyTo'), description: NOT_CALLERS }] },
      });
    }
  });

  it('of any trusted signer counts by the rule of the operator', async () => {
    const { url } = await listen({ encryption: { keys: [agentKey.own], answerKeys: 'signer' } });
    const desk = await clientOf(url, as('token-of-eve', other, otherKey));
    expect(taskOf(await desk.sendMessage('x')).artifacts?.[0]?.parts).toEqual([{ text: 'secret answer' }]);
  });

  it('of an anonymous caller counts in its own tasks only', async () => {
    const trust = [
      { id: 'shop', keys: [world.caller.shown] },
      { id: 'desk', keys: [other.shown] },
    ];
    const { url } = await listen({ trust }, true);
    const shop = await world.client(url, { encryption: encryption(ownKey) });
    const { id, contextId = '' } = taskOf(await shop.sendMessage('x'));
    const message = { parts: [{ text: 'more' }], taskId: id, contextId };
    expect(taskOf(await shop.sendMessage({ message })).artifacts?.[0]?.parts).toEqual([{ text: 'secret answer' }]);
    const desk = await world.client(url, { keys: [other.own], encryption: encryption(otherKey) });
    await expect(desk.sendMessage({ message })).rejects.toMatchObject({
      details: { violations: [{ description: 'is not by the signer that began the task' }] },
    });
  });

  it('that a proxy puts in the place of the signed one is refused', async () => {
    const { url } = await listen({});
    const change = changeMessages((message) => ({
      ...message,
      metadata: JSON.parse(JSON.stringify(message.metadata).replaceAll('own-enc', 'other-enc')),
    }));
    const ada = await world.client(
      url,
      { encryption: encryption(ownKey) },
      { credentials: bearerToken('token-of-ada'), interceptors: [change] },
    );
    await expect(ada.sendMessage('x')).rejects.toMatchObject({
      details: { violations: [{ description: 'is not over this content, or not by this key' }] },
    });
  });
});
