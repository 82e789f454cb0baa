import { createA2AServer, textOf } from 'parley-a2a';
import { type AgentCallsOptions, type AgentTarget, agentCalls } from 'parley-a2a/agent-calls';
import { messageSigning, SIGNING_EXTENSION, signedCalls, verifiedSigners } from 'parley-a2a-signing';
import { describe, expect, it } from 'vitest';
import { executor, type KeyPair, keyPair, SignedWorld, taskOf } from './world.js';

const CALLEE = 'https://agents.example.com/callee';

/** A callee that takes signed messages of `front` only, and a front agent that passes messages on to it. */
async function chain(world: SignedWorld, calls: (callee: KeyPair) => AgentCallsOptions) {
  const [calleeKey, calleeOpens] = [await keyPair('callee-1'), await keyPair('callee-enc', 'ECDH-ES+A256KW')];
  const seen: unknown[] = [];
  const callee = createA2AServer({
    agent: executor(async (context, events) => {
      seen.push(context.message, verifiedSigners(context));
      await events.artifact([{ text: `callee heard ${context.text}`, filename: 'a.txt' }]);
      await events.complete('done');
    }),
    logger: world.logger,
    signing: await messageSigning({
      audience: CALLEE,
      required: true,
      trust: [{ id: 'front', keys: [world.agent.shown] }],
      keys: [calleeKey.own],
      encryption: { keys: [calleeOpens.own] },
    }),
  });
  const { url } = await callee.listen(0);
  let target: AgentTarget = url;
  const front = executor(async (context, events) => {
    const answer = await context.callAgent(target, context.message, { into: events });
    await events.complete(textOf(answer.task !== undefined ? answer.task : answer.message));
  });
  const options = { allow: ['127.0.0.1'], ...calls(calleeKey) };
  const { url: frontUrl } = await world.listen(front, {}, { calls: agentCalls(options) });
  return {
    url: frontUrl,
    seen,
    calleeOpens,
    callLocally: () => {
      target = callee;
    },
    [Symbol.asyncDispose]: () => callee.close({ graceMs: 0 }),
  };
}

const signCallsOf =
  (world: SignedWorld, more: (target: AgentTarget) => object = () => ({})): ((callee: KeyPair) => AgentCallsOptions) =>
  (callee) => ({
    interceptors: async (target) => [
      await signedCalls({
        audience: CALLEE,
        keys: [world.agent.own],
        agent: { keys: [callee.shown] },
        ...more(target),
      }),
    ],
  });

describe('an agent that calls another one', () => {
  it('signs its message, verifies the answer, and signs what it passes on', async () => {
    await using world = await SignedWorld.make();
    const targets: AgentTarget[] = [];
    await using agents = await chain(
      world,
      signCallsOf(world, (target) => {
        targets.push(target);
        return {};
      }),
    );
    const client = await world.client(agents.url);
    for (const isLocal of [false, true]) {
      if (isLocal) agents.callLocally();
      const task = taskOf(await client.sendMessage({ message: { parts: [{ text: 'hello' }], metadata: { own: 1 } } }));
      expect(task.status.message?.parts).toEqual([{ text: 'callee heard hello' }]);
      expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'callee heard hello', filename: 'a.txt' }]);
      expect(agents.seen.splice(0)).toEqual([
        expect.objectContaining({ metadata: { own: 1, [SIGNING_EXTENSION]: expect.anything() } }),
        [{ id: 'front', kid: 'agent-1' }],
      ]);
    }
    expect(targets[0]).toMatch(/^http/);
    expect(targets[1]).toBeTypeOf('object');
  });

  it('encrypts for its callee, and gets answers for its own key, not for that of its caller', async () => {
    await using world = await SignedWorld.make();
    const own = await keyPair('front-enc', 'ECDH-ES+A256KW');
    let opens: KeyPair | undefined;
    await using agents = await chain(
      world,
      signCallsOf(world, () => ({ encryption: { to: { keys: [opens?.shown] }, keys: [own.own], required: true } })),
    );
    opens = agents.calleeOpens;
    const caller = await world.client(agents.url);
    expect(taskOf(await caller.sendMessage('hello')).artifacts?.[0]?.parts).toMatchObject([
      { text: 'callee heard hello' },
    ]);
  });

  it('gets no trusted answer without signatures, and no foreign signature goes on', async () => {
    await using world = await SignedWorld.make();
    await using agents = await chain(world, () => ({}));
    const client = await world.client(agents.url);
    expect(taskOf(await client.sendMessage('hello')).status.state).toBe('TASK_STATE_FAILED');
    expect(agents.seen).toEqual([]);
  });
});
