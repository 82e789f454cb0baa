import { describe, expect, it } from 'vitest';
import {
  call,
  completes,
  type Execute,
  engine,
  ids,
  message,
  Sent,
  send,
  short,
  textOf,
  tick,
  waitForAbort,
} from '../../test/engine.js';
import { ManualClock } from '../../test/manual-clock.js';
import { StorageError } from '../errors/storage-error.js';
import { interceptedStorage, type StorageCall } from '../store/intercepted-storage.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { Append, TaskStorage } from '../store/task-storage.js';
import type { AgentExecutor } from './agent-executor.js';

const DAY_MS = 86_400_000;
const GRACE_MS = 5_000;
const PATIENCE_MS = 10_000;
/** Maximum duration of a CancelTask call. */
const CANCEL_MS = 7_500;

/** `throws`: synchronously, and not with a rejected promise. */
type Fault = 'stalls' | 'fails' | 'throws';

/** A storage that can be broken and repaired: meanwhile, calls of some methods hang or fail. */
class BreakableStorage {
  readonly clock = new ManualClock();
  readonly memory = new MemoryStorage({ clock: this.clock });
  readonly #stalled: (() => void)[] = [];
  #broken: readonly StorageCall[] | 'all' = [];
  #how: Fault = 'stalls';

  readonly storage: TaskStorage = interceptedStorage(this.memory, (call, _args, run) => {
    if (this.#broken !== 'all' && !this.#broken.includes(call)) return run();
    if (this.#how === 'throws') throw new StorageError('The disk is full');
    if (this.#how === 'fails') return Promise.reject(new StorageError('The disk is full'));
    return new Promise((resolve) => this.#stalled.push(() => resolve(run())));
  });

  break(how: Fault, ...names: StorageCall[]): void {
    this.#how = how;
    this.#broken = names;
  }

  breakAll(how: Fault): void {
    this.#how = how;
    this.#broken = 'all';
  }

  repair(): void {
    this.#broken = [];
    for (const run of this.#stalled.splice(0)) run();
  }

  engine(executor: AgentExecutor | Execute) {
    const push = { maxConfigs: 3, violations: () => [] };
    return engine(executor, { storage: this.storage, clock: this.clock, push });
  }
}

const works: Execute = async (context, events) => {
  await events.working();
  await waitForAbort(context);
};

describe('a caller is answered in time', () => {
  it('who cancels while the storage does not answer', async () => {
    const broken = new BreakableStorage();
    const { handler } = broken.engine(works);
    const { clock } = broken;
    send(handler);
    await clock.settle();
    const [id = ''] = await ids(handler);
    broken.break('stalls', 'requestCancel');
    const canceled = new Sent(handler.cancelTask({ id }, call()));
    await clock.advance(CANCEL_MS - 1);
    expect(canceled.settled).toBe(false);
    await clock.advance(1);
    expect(canceled.error).toMatchObject({ code: 'UNAVAILABLE' });
    broken.repair();
    await clock.advance(GRACE_MS);
    expect(handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
  });

  it.each(['stalls', 'fails'] as const)('who cancels, and who waits for the task, while writing %s', async (how) => {
    const broken = new BreakableStorage();
    const { handler } = broken.engine(works);
    const { clock } = broken;
    const sent = send(handler);
    await clock.settle();
    const [id = ''] = await ids(handler);
    const queued = send(handler, { messageId: 'm2', taskId: id });
    await clock.settle();
    broken.break(how, 'append');
    const canceled = new Sent(handler.cancelTask({ id }, call()));
    await clock.advance(GRACE_MS + PATIENCE_MS);
    for (const caller of [canceled, sent, queued]) expect(caller.error).toMatchObject({ code: 'UNAVAILABLE' });
    broken.repair();
    await clock.advance(GRACE_MS + PATIENCE_MS);
    expect((await handler.getTask({ id }, call())).status.state).toBe('TASK_STATE_CANCELED');
    expect(handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(
    (['stalls', 'fails', 'throws'] as const).flatMap((how) => [
      [how, 'stops', works] as const,
      [how, 'ignores it', (async () => new Promise(() => {})) satisfies Execute] as const,
    ]),
  )('who cancels, as soon as the request is stored and the end %s (the agent %s)', async (how, _agent, execute) => {
    const broken = new BreakableStorage();
    const { handler } = broken.engine(execute);
    const { clock } = broken;
    send(handler);
    await clock.settle();
    const [id = ''] = await ids(handler);
    broken.break(how, 'append', 'release', 'task');
    const canceled = new Sent(handler.cancelTask({ id }, call()));
    await clock.advance(CANCEL_MS);
    expect(canceled.error).toMatchObject({ code: 'UNAVAILABLE' });
    broken.repair();
    await clock.advance(GRACE_MS);
    expect((await handler.getTask({ id }, call())).status.state).toBe('TASK_STATE_CANCELED');
    expect(handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('who asks for a webhook, reads, lists or deletes it', async () => {
    const broken = new BreakableStorage();
    const { handler } = broken.engine(works);
    const { clock } = broken;
    send(handler);
    await clock.settle();
    const [taskId = ''] = await ids(handler);
    broken.breakAll('stalls');
    const asked = [
      handler.createTaskPushNotificationConfig({ taskId, url: 'https://example.com' }, call()),
      handler.getTaskPushNotificationConfig({ taskId, id: 'c' }, call()),
      handler.listTaskPushNotificationConfigs({ taskId }, call()),
      handler.deleteTaskPushNotificationConfig({ taskId, id: 'c' }, call()),
    ];
    const answers = Promise.allSettled(asked);
    await clock.advance(PATIENCE_MS);
    const unavailable = { status: 'rejected', reason: expect.objectContaining({ code: 'UNAVAILABLE' }) };
    expect(await answers).toEqual(asked.map(() => unavailable));
  });

  it('and a storage that throws at once ends no process: the task goes on when it works again', async () => {
    const broken = new BreakableStorage();
    const { handler } = broken.engine(async (context, events) => {
      await events.working();
      broken.breakAll('throws');
      await events.artifact(context.text);
      await events.complete();
    });
    const { clock } = broken;
    const sent = send(handler);
    await clock.advance(PATIENCE_MS);
    expect(sent.error).toMatchObject({ code: 'UNAVAILABLE' });
    for (const ask of [send(handler, { messageId: 'm2' }), new Sent(handler.cancelTask({ id: 't' }, call()))]) {
      await clock.settle();
      expect(ask.error).toBeInstanceOf(StorageError);
    }
    broken.repair();
    await clock.advance(GRACE_MS);
    const [id = ''] = await ids(handler);
    expect((await handler.getTask({ id }, call())).status.state).toBe('TASK_STATE_COMPLETED');
    broken.breakAll('throws');
    await handler.close();
  });

  it.each<[string, Execute]>([
    ['COMPLETED', completes],
    ['INPUT_REQUIRED', (_context, events) => void events.inputRequired()],
    [
      'AUTH_REQUIRED',
      async (context, events) => {
        await events.authRequired();
        await waitForAbort(context);
      },
    ],
  ])('who waits for %s, which cannot be stored', async (state, execute) => {
    const broken = new BreakableStorage();
    const { handler } = broken.engine(execute);
    const { clock } = broken;
    broken.break('fails', 'append');
    const sent = send(handler);
    await clock.advance(PATIENCE_MS - 1);
    expect(sent.settled).toBe(false);
    await clock.advance(1);
    expect(sent.error).toMatchObject({ code: 'UNAVAILABLE' });
    broken.repair();
    await clock.advance(GRACE_MS + PATIENCE_MS);
    const [id = ''] = await ids(handler);
    expect(short((await handler.getTask({ id }, call())).status.state)).toBe(state);
    await handler.close();
    await clock.settle();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['task', 'either'] as const)(
    'whose message is not taken in; it is processed when it is (replies: %s)',
    async (replies) => {
      const broken = new BreakableStorage();
      const { handler } = broken.engine({ replies, execute: completes });
      const { clock } = broken;
      broken.break('stalls', 'accept');
      const sent = send(handler);
      await clock.advance(PATIENCE_MS);
      expect(sent.error).toMatchObject({ code: 'UNAVAILABLE' });
      broken.repair();
      await clock.settle();
      const [id = ''] = await ids(handler);
      expect((await handler.getTask({ id }, call())).status.state).toBe('TASK_STATE_COMPLETED');
      expect(handler.load).toEqual({ runningTurns: 0, watchedTasks: 0 });
      expect(clock.pendingTimers).toBe(0);
    },
  );
});

describe('waiting tasks expire', () => {
  const scope = { agent: 'test', tenant: '', owner: null };

  async function waitingTasks(memory: MemoryStorage, count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) {
      const status = { state: 'TASK_STATE_INPUT_REQUIRED' as const, timestamp: '2026-01-01T00:00:00.000Z' };
      await memory.create(scope, { id: `t${at}`, contextId: 'c', status });
    }
  }

  async function states(memory: MemoryStorage): Promise<Map<string, number>> {
    const { tasks } = await memory.tasks({ scope, orderBy: 'created', limit: 2_000, artifacts: false, history: false });
    const counts = new Map<string, number>();
    for (const { task } of tasks) {
      const state = short(task.status.state);
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return counts;
  }

  it('in one look, however many there are', async () => {
    const clock = new ManualClock();
    const memory = new MemoryStorage({ clock });
    await waitingTasks(memory, 1_050);
    const { handler } = engine(completes, { storage: memory, clock });
    await handler.start();
    await clock.advance(7 * DAY_MS + 60_000);
    expect(Object.fromEntries(await states(memory))).toEqual({ FAILED: 1_050 });
    await handler.close();
    await clock.settle();
    expect(clock.pendingTimers).toBe(0);
  });

  it('although some of them cannot be ended, at which nothing loops', async () => {
    const clock = new ManualClock();
    const memory = new MemoryStorage({ clock });
    await waitingTasks(memory, 300);
    let tries = 0;
    const append = memory.append.bind(memory);
    memory.append = (each: Append) => {
      if (!/^t\d$/.test(each.key.id)) return append(each);
      tries += 1;
      return each.key.id === 't1' ? Promise.resolve({ kind: 'fenced' }) : Promise.reject(new Error('damaged'));
    };
    const { handler } = engine(completes, { storage: memory, clock });
    await handler.start();
    await clock.advance(7 * DAY_MS + 60_000);
    expect(Object.fromEntries(await states(memory))).toEqual({ FAILED: 290, INPUT_REQUIRED: 10 });
    expect(tries).toBe(10);
    await handler.close();
  });

  it('also while their agent waits for a login, at the time of other waiting and not at its deadline', async () => {
    const clock = new ManualClock();
    let signal: AbortSignal | undefined;
    const { handler } = engine(
      async (context, events) => {
        signal = context.signal;
        await events.authRequired('who are you?');
        await waitForAbort(context);
      },
      { clock, storage: new MemoryStorage({ clock }) },
    );
    const sent = send(handler);
    await clock.settle();
    const id = sent.task?.id ?? '';
    await clock.advance(7 * DAY_MS - 1);
    expect((await handler.getTask({ id }, call())).status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    const { status } = await handler.getTask({ id }, call());
    expect([short(status.state), textOf(status.message?.parts)]).toEqual([
      'FAILED',
      'The task waited too long and has expired.',
    ]);
    expect(signal?.aborted).toBe(true);
    expect(handler.load.runningTurns).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('but not after the login: then the agent has its full time again', async () => {
    const clock = new ManualClock();
    const { handler } = engine(
      async (context, events) => {
        await events.authRequired('who are you?');
        await tick(clock, 3 * DAY_MS);
        await events.working('welcome');
        await waitForAbort(context);
      },
      { clock, storage: new MemoryStorage({ clock }) },
    );
    const sent = send(handler, { parts: message().parts });
    await clock.settle();
    const id = sent.task?.id ?? '';
    await clock.advance(3 * DAY_MS + 3_599_999);
    expect((await handler.getTask({ id }, call())).status.state).toBe('TASK_STATE_WORKING');
    await clock.advance(1);
    const { status } = await handler.getTask({ id }, call());
    expect(textOf(status.message?.parts)).toContain('time limit');
    expect(clock.pendingTimers).toBe(0);
  });
});
