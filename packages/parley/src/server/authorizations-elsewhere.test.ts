import { afterEach, describe, expect, it, vi } from 'vitest';
import { call, type Execute, engine, message, Seen, textOf } from '../../test/engine.js';
import { onSharedStorage } from '../../test/shared-view.js';
import { systemClock as clock, systemIds as ids } from '../exports/runtime.js';
import { isObject } from '../model/json.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { AgentExecutor } from './agent-executor.js';
import type { DefaultRequestHandler } from './default-request-handler.js';
import type { EngineLimits } from './engine-limits.js';

const SECRET = 'planted-code-4711';
const granted = { kind: 'granted', parameters: { code: SECRET } } as const;
const ada = call({ user: { id: 'ada' } });
const SCOPE = { agent: 'test', tenant: '', owner: 'ada' };
const FAST: Partial<EngineLimits> = {
  lookMs: 20,
  leaseMs: 400,
  leaseRenewalMs: 50,
  fenceMarginMs: 50,
  cancelGraceMs: 300,
};

/** Processes on one storage, with an agent that asks for an authorization. */
class AskingReplicas {
  readonly memory = new MemoryStorage({ clock });
  readonly seen: string[] = [];
  runs = 0;
  readonly #handlers: DefaultRequestHandler[] = [];

  async boot({
    isDeaf = false,
    expiresInMs,
    limits,
  }: {
    /** True if wake-ups do not reach the process. */
    readonly isDeaf?: boolean;
    readonly expiresInMs?: number;
    readonly limits?: Partial<EngineLimits>;
  } = {}) {
    const client = { dead: false, isCutOff: false, wakeups: isDeaf ? ('lose' as const) : ('deliver' as const) };
    const execute: Execute = async (context, events) => {
      this.runs += 1;
      await events.working();
      if (context.text === 'no, thanks') return events.reject('as you wish');
      const { parameters } = await context.requestAuthorization({
        message: 'Please allow it',
        url: ({ state }) => `https://provider.example/?state=${state}`,
        ...(expiresInMs !== undefined && { expiresInMs }),
      });
      this.seen.push(String(parameters.code));
      await events.complete('done');
    };
    const executor: AgentExecutor = { execute };
    const storage = onSharedStorage(this.memory, client);
    const { handler } = engine(executor, { storage, clock, ids, limits: { ...FAST, ...limits } });
    this.#handlers.push(handler);
    await handler.start();
    return { handler, client };
  }

  async end(): Promise<void> {
    await Promise.all(this.#handlers.map((handler) => handler.close()));
  }
}

let replicas = new AskingReplicas();
afterEach(async () => {
  await replicas.end();
  replicas = new AskingReplicas();
});

async function startAndAsk(handler: DefaultRequestHandler) {
  const sent = await handler.sendMessage({ message: message({ messageId: ids.random() }) }, ada);
  if (sent.task === undefined) throw new Error('There is a task');
  const { id, status } = sent.task;
  expect(status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  const [, part] = status.message?.parts ?? [];
  const data = part && 'data' in part && isObject(part.data) ? part.data.authorization : undefined;
  const link = new URL(isObject(data) ? String(data.url) : '');
  return { id, state: link.searchParams.get('state') ?? '' };
}

const statusOf = async (handler: DefaultRequestHandler, id: string) => (await handler.getTask({ id }, ada)).status;
const until = (handler: DefaultRequestHandler, id: string, state: string) =>
  vi.waitFor(async () => expect((await statusOf(handler, id)).state).toBe(`TASK_STATE_${state}`), { timeout: 5_000 });

describe('an authorization that arrives at another process than the one that waits (Spec §7.6)', () => {
  it.each([
    ['arrive', false],
    ['are lost', true],
  ])('continues the waiting turn, where wake-ups %s', async (_name, isDeaf) => {
    const [one, other] = [await replicas.boot({ isDeaf }), await replicas.boot({ isDeaf })];
    const { id, state } = await startAndAsk(one.handler);
    const stream = new Seen(other.handler.subscribeToTask({ id }, ada));
    expect(await other.handler.authorize(state, granted)).toBe(id);
    await until(other.handler, id, 'COMPLETED');
    await vi.waitFor(() => expect(stream.ended).toBe(true), 15_000);
    expect([replicas.seen, replicas.runs]).toEqual([[SECRET], 1]);
    expect(stream.shown.slice(1)).toEqual(['WORKING', 'COMPLETED']);
  });

  it('tells the waiting agent that the caller refuses', async () => {
    const [one, other] = [await replicas.boot(), await replicas.boot()];
    const { id, state } = await startAndAsk(one.handler);
    expect(await other.handler.authorize(state, { kind: 'denied', reason: 'access_denied' })).toBe(id);
    await until(one.handler, id, 'FAILED');
    expect(textOf((await statusOf(one.handler, id)).message?.parts)).toBe('The authorization was refused.');
  });

  it('works once, although it comes to all processes at the same time', async () => {
    const [one, other, third] = [await replicas.boot(), await replicas.boot(), await replicas.boot()];
    const all = [one, other, third];
    const { id, state } = await startAndAsk(one.handler);
    const answers = await Promise.all(all.map(({ handler }) => handler.authorize(state, granted)));
    expect(answers.filter((answer) => answer === id)).toHaveLength(1);
    await until(third.handler, id, 'COMPLETED');
    for (const { handler } of all) expect(await handler.authorize(state, granted)).toBeUndefined();
    expect(replicas.seen).toEqual([SECRET]);
  });

  it('is not in the storage as it came', async () => {
    const [one, other] = [await replicas.boot({ isDeaf: true, limits: { lookMs: 1e6 } }), await replicas.boot()];
    const { state } = await startAndAsk(one.handler);
    const kept: string[] = [];
    const remember = replicas.memory.keys.remember.bind(replicas.memory.keys);
    replicas.memory.keys.remember = (...args) => {
      kept.push(JSON.stringify(args));
      return remember(...args);
    };
    await other.handler.authorize(state, granted);
    expect(kept).toHaveLength(1);
    expect(kept[0]).not.toContain(SECRET);
    expect(kept[0]).not.toContain(state);
  });

  it('reaches an agent that runs again, if the process that waited has died', async () => {
    const [one, other] = [await replicas.boot(), await replicas.boot()];
    const { id, state } = await startAndAsk(one.handler);
    one.client.dead = true;
    expect(await other.handler.authorize(state, granted)).toBe(id);
    await until(other.handler, id, 'COMPLETED');
    expect([replicas.seen, replicas.runs]).toEqual([[SECRET], 2]);
  });

  it('reaches an agent that runs again, if another process has taken the turn over', async () => {
    const [one, , third] = [await replicas.boot(), await replicas.boot(), await replicas.boot()];
    const { id, state } = await startAndAsk(one.handler);
    one.client.dead = true;
    await vi.waitFor(async () => expect((await replicas.memory.task(SCOPE, id))?.epoch).toBe(2), { timeout: 5_000 });
    expect(await third.handler.authorize(state, granted)).toBe(id);
    await until(third.handler, id, 'COMPLETED');
    expect([replicas.seen, replicas.runs]).toEqual([[SECRET], 2]);
  });
});

describe('a message to a task whose agent waits for an authorization in another process', () => {
  it.each([
    ['arrive', false],
    ['are lost', true],
  ])('takes the place of the waiting turn, where wake-ups %s', async (_name, isDeaf) => {
    const [one, other] = [await replicas.boot({ isDeaf }), await replicas.boot({ isDeaf })];
    const { id, state } = await startAndAsk(one.handler);
    const parts = [{ text: 'no, thanks' }];
    await other.handler.sendMessage({ message: message({ messageId: 'm2', taskId: id, parts }) }, ada);
    await until(other.handler, id, 'REJECTED');
    expect(await other.handler.authorize(state, granted)).toBeUndefined();
    expect(replicas.seen).toEqual([]);
  });
});

describe('the time for an authorization', () => {
  it('ends the task also after its process has died', async () => {
    const one = await replicas.boot({ expiresInMs: 1_200 });
    const other = await replicas.boot();
    const { id, state } = await startAndAsk(one.handler);
    one.client.dead = true;
    await vi.waitFor(async () => expect((await replicas.memory.task(SCOPE, id))?.epoch).toBe(2), { timeout: 5_000 });
    expect((await statusOf(other.handler, id)).state).toBe('TASK_STATE_AUTH_REQUIRED');
    await until(other.handler, id, 'FAILED');
    const { message: why } = await statusOf(other.handler, id);
    expect(textOf(why?.parts)).toBe('The authorization was not given in time.');
    expect(await other.handler.authorize(state, granted)).toBeUndefined();
    expect(other.handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
  });

  it('does not keep a message of the caller, or a cancel, waiting after a takeover', async () => {
    const one = await replicas.boot();
    const other = await replicas.boot();
    const third = await replicas.boot();
    const tasks = [await startAndAsk(one.handler), await startAndAsk(one.handler), await startAndAsk(one.handler)];
    one.client.dead = true;
    await vi.waitFor(
      async () => {
        for (const { id } of tasks) expect((await replicas.memory.task(SCOPE, id))?.epoch).toBe(2);
      },
      { timeout: 5_000 },
    );
    const [first, second, last] = tasks.map(({ id }) => id);
    const parts = [{ text: 'no, thanks' }];
    await other.handler.sendMessage({ message: message({ messageId: 'm2', taskId: first ?? '', parts }) }, ada);
    await third.handler.sendMessage({ message: message({ messageId: 'm3', taskId: second ?? '', parts }) }, ada);
    expect((await third.handler.cancelTask({ id: last ?? '' }, ada)).status.state).toBe('TASK_STATE_CANCELED');
    await until(other.handler, first ?? '', 'REJECTED');
    await until(other.handler, second ?? '', 'REJECTED');
  });

  it('hands the wait over to the next process in order', async () => {
    const one = await replicas.boot({ expiresInMs: 1_000 });
    const other = await replicas.boot();
    const { id } = await startAndAsk(one.handler);
    await one.handler.close();
    expect((await statusOf(other.handler, id)).state).toBe('TASK_STATE_AUTH_REQUIRED');
    await until(other.handler, id, 'FAILED');
  });
});
