import { once } from 'node:events';
import { createServer, request as open } from 'node:http';
import type { AddressInfo } from 'node:net';
import { textOf } from 'parley-a2a';
import { AGENT_CALLS_EXTENSION, type AgentTarget } from 'parley-a2a/agent-calls';
import {
  type Interceptor,
  MemoryStorage,
  type ServerCallContext,
  type StreamItem,
  systemClock,
} from 'parley-a2a/server';
import { CAPNWEB_BINDING, capnwebBinding, capnwebTransport } from 'parley-a2a-capnweb';
import { grpcBinding, grpcTransport } from 'parley-a2a-grpc';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Agents, executor, taskOf } from './world.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

type ServerInterceptor = Interceptor<ServerCallContext, StreamItem>;

/** An agent that calls another agent, and answers with its answer, or with the fault of the call. */
const callingOn = (target: () => AgentTarget, options: object = {}) =>
  executor(
    async (context, events) => {
      const said = await context.callAgent(target(), context.text, options).then(
        (answer) => textOf(answer.task !== undefined ? answer.task : answer.message),
        (error: { fault?: string; name: string }) => {
          if (context.signal.aborted) throw error;
          return `fault: ${error.fault ?? error.name}`;
        },
      );
      await events.artifact(said);
      await events.complete();
    },
    { resumable: true },
  );

const echo = executor(async ({ text }, events) => {
  await events.artifact(`echo ${text}`);
  await events.complete();
});

describe('what goes to the callee', () => {
  it('is the traceparent of the caller, with the message and with a cancel', async () => {
    await using agents = new Agents();
    const told: string[] = [];
    const recordTraces: ServerInterceptor = (call, next) => {
      told.push(`${call.operation} ${call.context.traceparent}`);
      return next(call);
    };
    const callee = await agents.listen(
      executor(async ({ signal }, events) => {
        await events.working();
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      }),
      { interceptors: [recordTraces] },
    );
    const { client } = await agents.listen(callingOn(() => callee.url, { timeoutMs: 2_000 }));
    const task = taskOf(await client.ask('go', { traceparent: TRACEPARENT }));
    expect(textOf(task)).toBe('fault: time');
    await expect.poll(() => told).toContain(`cancelTask ${TRACEPARENT}`);
    expect(told[0]).toBe(`sendStreamingMessage ${TRACEPARENT}`);
    expect(told.filter((one) => !one.endsWith(TRACEPARENT))).toEqual([]);
  });

  it('is the time that is left: it shrinks from call to call', async () => {
    await using agents = new Agents();
    const told: number[] = [];
    const noteChain = (next: ReturnType<typeof callingOn>) =>
      executor((context, events) => {
        const chain = context.metadata?.[AGENT_CALLS_EXTENSION] as { remainingMs: number } | undefined;
        told.push(chain?.remainingMs ?? Number.POSITIVE_INFINITY);
        return next.execute(context, events);
      });
    const last = await agents.listen(noteChain(echo));
    const middle = await agents.listen(noteChain(callingOn(() => last.url)));
    const first = await agents.listen(callingOn(() => middle.url, { timeoutMs: 20_000 }));
    expect(textOf(taskOf(await first.client.ask('go')))).toBe('echo go');
    const [atMiddle = 0, atLast = 0] = told;
    expect(atMiddle).toBeLessThanOrEqual(20_000);
    expect(atLast).toBeLessThanOrEqual(atMiddle);
    expect(atLast).toBeGreaterThan(0);
  });

  it('ends the whole chain when the time of the first caller is over', async () => {
    await using agents = new Agents();
    let isBegun = false;
    const ended = Promise.withResolvers<void>();
    const last = await agents.listen(
      executor(async ({ signal }, events) => {
        await events.working();
        isBegun = true;
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ended.resolve();
      }),
    );
    const middle = await agents.listen(callingOn(() => last.url));
    const first = await agents.listen(callingOn(() => middle.url, { timeoutMs: 300 }));
    // A machine that stands still uses up the time before the last call, so the first one is made again.
    do expect(textOf(taskOf(await first.client.ask('go')))).toBe('fault: time');
    while (!isBegun);
    await ended.promise;
  });
});

describe.each([
  ['GRPC', () => grpcBinding({ port: 0, listed: 'public' }), () => grpcTransport({ plaintext: true })],
  [CAPNWEB_BINDING, capnwebBinding, capnwebTransport],
] as const)('a callee over %s', (binding, bound, transport) => {
  const serveCallee = async (agents: Agents) => {
    const callee = await agents.listen(echo, { bindings: [bound()] });
    const { card } = callee.client;
    const supportedInterfaces = card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === binding);
    expect(supportedInterfaces.length).toBeGreaterThan(0);
    return { ...card, supportedInterfaces };
  };
  const callTo = (card: Awaited<ReturnType<typeof serveCallee>>) =>
    executor(async (context, events) => {
      const answer = await context.callAgent(card, context.text).then(
        (found) => textOf(taskOf(found)),
        (error: { name: string; code?: string; fault?: string }) => `fault: ${error.fault ?? error.code ?? error.name}`,
      );
      await events.artifact(answer);
      await events.complete();
    });

  it('is called with its transport', async () => {
    await using agents = new Agents();
    const card = await serveCallee(agents);
    const bindings = [transport()];
    const { client } = await agents.listen(callTo(card), {}, { bindings });
    expect(textOf(taskOf(await client.ask('hi')))).toBe('echo hi');
  });

  it('is not called at a private address, nor without its transport', async () => {
    await using agents = new Agents();
    const card = await serveCallee(agents);
    const bindings = [transport()];
    const guarded = await agents.listen(callTo(card), {}, { bindings, allow: [] });
    expect(textOf(taskOf(await guarded.client.ask('hi')))).toMatch(/^fault: /);
    const without = await agents.listen(callTo(card));
    expect(textOf(taskOf(await without.client.ask('hi')))).toBe('fault: UNSUPPORTED_OPERATION');
  });
});

describe('the rule of addresses', () => {
  it('calls only the places of `only`', async () => {
    await using agents = new Agents();
    const [one, other] = [await agents.listen(echo), await agents.listen(echo)];
    const only = [`127.0.0.1:${new URL(one.url).port}`];
    const allowed = await agents.listen(
      callingOn(() => one.url),
      {},
      { only },
    );
    const refused = await agents.listen(
      callingOn(() => other.url),
      {},
      { only },
    );
    expect(textOf(taskOf(await allowed.client.ask('hi')))).toBe('echo hi');
    expect(textOf(taskOf(await refused.client.ask('hi')))).toBe('fault: address');
    expect((await other.client.listTasks()).tasks).toEqual([]);
  });
});

describe('a takeover before the callee has named its task', () => {
  /** Starts a proxy that delays the answers to messages until `release`. */
  async function startHoldingAgent() {
    let target = '';
    let isHeld = true;
    const arrived = Promise.withResolvers<void>();
    const server = createServer((request, response) => {
      const { method, url, headers } = request;
      const passed = open(new URL(url ?? '/', target), { method, headers }, (answer) => {
        if (method !== 'POST' || !isHeld) {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
          return;
        }
        answer.resume();
        arrived.resolve();
      });
      passed.on('error', () => response.destroy());
      request.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      arrived: arrived.promise,
      passTo: (url: string) => {
        target = url;
      },
      release: () => {
        isHeld = false;
      },
    };
  }

  it.each([
    ['once, if it knows repeated messages of its caller', { anonymous: true }, 1],
    ['once more, if it does not', undefined, 2],
  ])('starts the callee %s', async (_, idempotency, starts) => {
    await using agents = new Agents();
    const proxy = await startHoldingAgent();
    const ids: string[] = [];
    const noting = executor((context, events) => {
      ids.push(context.message.messageId);
      return echo.execute(context, events);
    });
    const callee = await agents.listen(noting, idempotency && { idempotency });
    proxy.passTo(callee.url);
    const { card } = callee.client;
    const supportedInterfaces = card.supportedInterfaces.map((one) => ({
      ...one,
      url: one.url.replace(new URL(callee.url).origin, proxy.url),
    }));
    const held = { ...card, supportedInterfaces };
    const storage = new MemoryStorage({ clock: systemClock });
    const first = await agents.listen(
      callingOn(() => held),
      { storage },
    );
    await first.client.sendMessage({ message: 'go', configuration: { returnImmediately: true } });
    await proxy.arrived;
    await first.server.close({ graceMs: 0 });
    proxy.release();
    const second = await agents.listen(
      callingOn(() => held),
      { storage },
    );
    const [task] = (await second.client.listTasks()).tasks;
    const done = await second.client.waitFor(task?.id ?? '');
    expect([done.status.state, textOf(done)]).toEqual(['TASK_STATE_COMPLETED', 'echo go']);
    expect(ids).toHaveLength(starts);
    expect(new Set(ids).size).toBe(1);
  });
});
