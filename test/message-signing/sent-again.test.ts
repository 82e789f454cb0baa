import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentCard, connect, createA2AServer, textOf } from 'parley-a2a';
import { agentCalls } from 'parley-a2a/agent-calls';
import { grpcBinding, grpcTransport } from 'parley-a2a-grpc';
import { messageSigning, signedCalls } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ResettingProxy } from '../support/resetting-proxy.js';
import { SignedServer } from './signed-server.js';
import { AUDIENCE, executor, keyPair, SignedWorld, taskOf } from './world.js';

const CALLEE = 'https://agents.example.com/callee';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-signing-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const BINDINGS = ['JSONRPC', 'GRPC'] as const;

/** A callee that knows repeated messages, behind a proxy that loses its answers, and the calls of a front agent. */
async function lossyCallee(world: SignedWorld, binding: (typeof BINDINGS)[number], isEncrypted: boolean) {
  const [key, opens] = [await keyPair('callee-1'), await keyPair('callee-enc', 'ECDH-ES+A256KW')];
  const own = await keyPair('front-enc', 'ECDH-ES+A256KW');
  const arrived = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  const lines: { proxy?: ResettingProxy; areGood?: boolean } = {};
  const callee = createA2AServer({
    agent: executor(async (context, events) => {
      seen.push(context.message);
      arrived.resolve();
      await events.artifact(`callee heard ${context.text}`);
      await events.complete();
    }),
    bindings: [grpcBinding({ port: 0, listed: 'public' })],
    interceptors: [
      (call, next) => {
        if ('message' in call.request && lines.proxy && lines.areGood !== true) lines.proxy.losesAnswers = true;
        return next(call);
      },
    ],
    idempotency: { anonymous: true },
    logger: world.logger,
    signing: await messageSigning({
      audience: CALLEE,
      required: true,
      trust: [{ id: 'front', keys: [world.agent.shown] }],
      keys: [key.own],
      encryption: { keys: [opens.own], required: isEncrypted },
    }),
  });
  const { url } = await callee.listen(0);
  onTestFinished(() => callee.close({ graceMs: 0 }));
  const { card } = await connect(url);
  const [found] = card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === binding);
  if (found === undefined) throw new Error(`the callee has no ${binding}`);
  const proxy = await ResettingProxy.open(Number(/:(\d+)/.exec(found.url)?.[1]));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const behind = { ...found, url: found.url.replace(/:\d+/, `:${proxy.port}`) };
  const target: AgentCard = { ...card, supportedInterfaces: [behind] };
  lines.proxy = proxy;
  const repair = () => {
    lines.areGood = true;
    Object.assign(proxy, { losesAnswers: false, refuses: false });
    proxy.reset();
  };
  const signing = {
    audience: CALLEE,
    keys: [world.agent.own],
    agent: { keys: [key.shown] },
    ...(isEncrypted && { encryption: { to: { keys: [opens.shown] }, keys: [own.own], required: true } }),
  };
  const bindings = [grpcTransport({ plaintext: true })];
  const calls = agentCalls({
    allow: ['127.0.0.1'],
    bindings,
    resume: { attempts: 0 },
    interceptors: async () => [await signedCalls(signing)],
  });
  const client = async () => connect(target, { bindings, interceptors: [await signedCalls(signing)] });
  return { target, proxy, repair, seen, signing, calls, client, arrived: arrived.promise };
}

describe.each(BINDINGS)('over %s, a signed message whose answer is lost', (binding) => {
  describe.each([false, true])('encrypted: %s', (isEncrypted) => {
    it('is the same when the turn runs again after SIGKILL', async () => {
      await using world = await SignedWorld.make();
      const { target, repair, seen, signing, arrived } = await lossyCallee(world, binding, isEncrypted);
      const file = join(folder, `${randomUUID()}.json`);
      const own = { audience: AUDIENCE, trust: [{ id: 'shop', keys: [world.caller.shown] }], keys: [world.agent.own] };
      await writeFile(file, JSON.stringify({ ...own, called: { target, signing } }));
      const database = `sqlite:${file}.db`;
      await using first = await SignedServer.start(database, { signing: file });
      const client = await world.client(first.url);
      const { id } = taskOf(await client.sendMessage({ message: 'call', configuration: { returnImmediately: true } }));
      await arrived;
      await first.kill();
      repair();
      await using _second = await SignedServer.start(database, { signing: file, port: first.port });
      const task = await client.waitFor(id);
      expect([task.status.state, task.status.message?.parts]).toEqual([
        'TASK_STATE_COMPLETED',
        [{ text: 'callee heard go' }],
      ]);
      expect(seen).toHaveLength(1);
    });

    it.each(['sendMessage', 'ask'] as const)('is the same when a client sends it again: %s', async (send) => {
      await using world = await SignedWorld.make();
      const { proxy, repair, seen, client, arrived } = await lossyCallee(world, binding, isEncrypted);
      const answer = (await client())[send]('go');
      await arrived;
      repair();
      expect(textOf(taskOf(await answer))).toBe('callee heard go');
      expect([seen.length, proxy.resets]).toEqual([1, 1]);
    });

    it('is the same when the agent makes the call again', async () => {
      await using world = await SignedWorld.make();
      const { target, proxy, repair, seen, calls, arrived } = await lossyCallee(world, binding, isEncrypted);
      const agent = executor(async (context, events) => {
        const call = () => context.callAgent(target, 'go', { key: 'one' });
        const failed = Promise.resolve(call()).catch((error: Error) => error);
        await arrived;
        proxy.refuses = true;
        proxy.reset();
        expect(await failed).toBeInstanceOf(Error);
        repair();
        await events.complete(textOf(taskOf(await call())));
      });
      const client = await world.client((await world.listen(agent, {}, { calls })).url);
      const { status } = taskOf(await client.sendMessage('begin'));
      expect([status.state, status.message?.parts]).toEqual(['TASK_STATE_COMPLETED', [{ text: 'callee heard go' }]]);
      expect(seen).toHaveLength(1);
    });
  });
});
