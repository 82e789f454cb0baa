import { describe, expect, it } from 'vitest';
import { CountingIds } from '../../../../test/support/counting-ids.js';
import {
  aborted,
  CapturingLogger,
  call,
  completes,
  type Execute,
  ids,
  message,
  Seen,
  Sent,
  send,
} from '../../../../test/support/engine.js';
import type { WakeupFate } from '../../../../test/support/faulty-wakeups.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { onSharedStorage } from '../../../../test/support/shared-view.js';
import type { Clock } from '../runtime/clock.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { AgentExecutor } from './agent-executor.js';
import { DefaultRequestHandler, type DefaultRequestHandlerOptions } from './default-request-handler.js';
import { RetentionSweeper } from './retention-sweeper.js';

const SCOPE = { agent: 'test', tenant: '', owner: null };

/** A process on the storage. */
interface Replica {
  readonly handler: DefaultRequestHandler;
  readonly client: { dead: boolean; isCutOff: boolean; wakeups: WakeupFate };
  readonly storage: TaskStorage;
  readonly logger: CapturingLogger;
}

/** Processes side by side on one storage. */
class Replicas {
  readonly clock = new ManualClock();
  readonly memory = new MemoryStorage({ clock: this.clock });
  #count = 0;

  async boot(
    executor: AgentExecutor | Execute,
    { clockOff = 0, ...options }: Partial<DefaultRequestHandlerOptions> & { readonly clockOff?: number } = {},
  ): Promise<Replica> {
    this.#count += 1;
    const client = { dead: false, isCutOff: false, wakeups: 'deliver' as WakeupFate };
    const storage = onSharedStorage(this.memory, client);
    const logger = new CapturingLogger();
    const handler = new DefaultRequestHandler({
      agent: 'test',
      executor: typeof executor === 'function' ? { execute: executor } : executor,
      storage,
      clock: offBy(this.clock, clockOff),
      ids: new CountingIds(`replica-${this.#count}-`),
      logger,
      ...options,
    });
    const started = handler.start();
    await this.clock.settle();
    await started;
    return { handler, client, storage, logger };
  }

  /** Two processes with the same agent, whose wake-ups all have one fate. */
  async two(executor: AgentExecutor | Execute, wakeups: WakeupFate = 'deliver'): Promise<readonly [Replica, Replica]> {
    const [one, other] = [await this.boot(executor), await this.boot(executor)];
    one.client.wakeups = wakeups;
    other.client.wakeups = wakeups;
    return [one, other];
  }
}

/** The clock of a process whose time of day is wrong. */
function offBy(clock: ManualClock, ms: number): Clock {
  return {
    now: () => clock.now() + ms,
    monotonic: () => clock.monotonic() - 1_000_000 * Math.sign(ms),
    after: (wait, task) => clock.after(wait, task),
    soon: (task) => clock.soon(task),
  };
}

/** Publishes an artifact for each call of the returned function, and completes at the last one. */
function stepwise() {
  let next: (last: boolean) => void = () => {};
  const execute: Execute = async (_context, events) => {
    await events.working();
    for (;;) {
      const last = await new Promise<boolean>((resolve) => {
        next = resolve;
      });
      if (last) return events.complete('done');
      await events.artifact('x', { artifactId: 'a' });
    }
  };
  return { execute, step: (last = false) => next(last) };
}

/** Runs until it is told to stop. */
const works: Execute = async (context, events) => {
  await events.working();
  await aborted(context);
};

describe('two processes on one storage', () => {
  it.each([
    ['arrive', 'deliver', 0],
    ['come twice', 'repeat', 0],
    ['are lost', 'lose', 5_000],
  ] as const)('show the same stream, without a gap and to its end: wake-ups %s', async (_, fate, wait) => {
    const replicas = new Replicas();
    const agent = stepwise();
    const [one, other] = await replicas.two(agent.execute, fate);
    const here = new Seen(one.handler.sendStreamingMessage({ message: message() }, call()));
    await replicas.clock.settle();
    const [id = ''] = await ids(one.handler);
    const there = new Seen(other.handler.subscribeToTask({ id }, call()));
    await replicas.clock.settle();
    for (let step = 0; step < 4; step += 1) {
      agent.step();
      await replicas.clock.advance(3);
    }
    await replicas.clock.advance(wait);
    expect(there.items.length).toBeGreaterThan(4);
    agent.step(true);
    await replicas.clock.advance(wait);
    expect(there.ended).toBe(true);
    expect(there.error).toBeUndefined();
    expect(there.seqs).toEqual(here.seqs.slice(1));
    expect(there.shown.at(-1)).toBe('COMPLETED');
    expect(other.handler.load.watchedTasks).toBe(0);
  });

  it.each(['deliver', 'lose'] as const)(
    'answer a blocking repeat of a message on both (wake-ups: %s)',
    async (fate) => {
      const replicas = new Replicas();
      const agent = stepwise();
      const [one, other] = await replicas.two(agent.execute, fate);
      const ann = call({ user: { id: 'ann' } });
      const first = new Sent(one.handler.sendMessage({ message: message() }, ann));
      await replicas.clock.settle();
      const repeat = new Sent(other.handler.sendMessage({ message: message() }, ann));
      await replicas.clock.settle();
      expect([first.settled, repeat.settled]).toEqual([false, false]);
      agent.step(true);
      await replicas.clock.advance(5_000);
      expect(first.task?.status.state).toBe('TASK_STATE_COMPLETED');
      expect(repeat.task).toEqual(first.task);
    },
  );

  it.each(['deliver', 'lose'] as const)(
    'answer a sender whose message waits for a turn elsewhere (wake-ups: %s)',
    async (fate) => {
      const replicas = new Replicas();
      const agent = stepwise();
      const [one, other] = await replicas.two(async (context, events) => {
        if (context.text === 'second') return events.complete('second');
        await agent.execute(context, events);
      }, fate);
      send(one.handler, {}, { returnImmediately: true });
      await replicas.clock.settle();
      const [taskId = ''] = await ids(one.handler);
      const sent = send(other.handler, { messageId: 'm2', taskId, parts: [{ text: 'second' }] });
      await replicas.clock.settle();
      expect(sent.settled).toBe(false);
      agent.step(true);
      await replicas.clock.advance(5_000);
      // The first turn has ended the task before the second began.
      expect(sent.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
      expect([one, other].map(({ handler }) => handler.load.watchedTasks)).toEqual([0, 0]);
    },
  );

  it('carry on a conversation: the answer to a question may come to the other one', async () => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two(async (context, events) => {
      if (context.text === 'ask') return events.inputRequired('and?');
      await events.artifact(`answer: ${context.text}`, { artifactId: 'a' });
      await events.complete();
    });
    const asked = send(one.handler, { parts: [{ text: 'ask' }] });
    await replicas.clock.settle();
    const taskId = asked.task?.id ?? '';
    const seen = new Seen(one.handler.subscribeToTask({ id: taskId }, call()));
    await replicas.clock.settle();
    const answered = send(other.handler, { messageId: 'm2', taskId, parts: [{ text: 'yes' }] });
    await replicas.clock.advance(10);
    expect(answered.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(seen.shown).toEqual(['task INPUT_REQUIRED', 'WORKING', 'artifact a', 'COMPLETED']);
    expect(seen.ended).toBe(true);
  });

  it('cancel an idle agent of the other one at once', async () => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two(works);
    const sent = send(one.handler);
    await replicas.clock.settle();
    const [id = ''] = await ids(one.handler);
    const canceled = new Sent(other.handler.cancelTask({ id }, call()));
    await replicas.clock.advance(10);
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(sent.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(one.handler.load.runningTurns).toBe(0);
  });

  it('cancel the agent of the other one by its heartbeat, where wake-ups are lost', async () => {
    const replicas = new Replicas();
    let stoppedAt = 0;
    const [one, other] = await replicas.two(async (context, events) => {
      await events.working();
      await aborted(context);
      stoppedAt = replicas.clock.now();
    }, 'lose');
    const sent = send(one.handler);
    await replicas.clock.advance(1_000);
    const [id = ''] = await ids(one.handler);
    const asked = replicas.clock.now();
    const canceled = new Sent(other.handler.cancelTask({ id }, call()));
    await replicas.clock.advance(10_000);
    expect(stoppedAt - asked).toBeLessThanOrEqual(5_000);
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(sent.task?.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('end a task by force in the name of its turn, so that its sender gets the task', async () => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two(async (_context, events) => {
      await events.working();
      await new Promise(() => {});
    });
    const sent = send(one.handler);
    const stream = new Seen(one.handler.sendStreamingMessage({ message: message({ messageId: 'm2' }) }, call()));
    await replicas.clock.settle();
    one.client.isCutOff = true;
    const tasks = await ids(other.handler);
    const canceled = tasks.map((id) => new Sent(other.handler.cancelTask({ id }, call())));
    await replicas.clock.advance(5_000);
    expect(canceled.map(({ task }) => task?.status.state)).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
    one.client.isCutOff = false;
    await replicas.clock.advance(10_000);
    expect(sent.error).toBeUndefined();
    expect(sent.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(stream.shown).toEqual(['task SUBMITTED', 'WORKING', 'CANCELED']);
    expect(stream.error).toBeUndefined();
  });

  it.each(['deliver', 'lose'] as const)(
    'end streams and waiting senders of a task that is deleted elsewhere (wake-ups: %s)',
    async (fate) => {
      const replicas = new Replicas();
      const [one, other] = await replicas.two((_context, events) => events.inputRequired('what?'), fate);
      const asked = send(one.handler);
      await replicas.clock.settle();
      const id = asked.task?.id ?? '';
      const seen = [one, other].map(({ handler }) => new Seen(handler.subscribeToTask({ id }, call())));
      await replicas.clock.settle();
      expect(await other.storage.delete(SCOPE, id)).toBe('deleted');
      await replicas.clock.advance(5_000);
      expect(seen.map(({ error }) => error)).toEqual([
        expect.objectContaining({ code: 'TASK_NOT_FOUND' }),
        expect.objectContaining({ code: 'TASK_NOT_FOUND' }),
      ]);
    },
  );

  it('run a turn that one of them gave up', async () => {
    const replicas = new Replicas();
    const begun: number[] = [];
    const [one, other] = await replicas.two({
      resumable: true,
      async execute(context, events) {
        begun.push(context.attempt);
        if (context.attempt > 1) return events.complete();
        await works(context, events);
      },
    });
    send(one.handler);
    await replicas.clock.settle();
    const seen = new Seen(other.handler.subscribeToTask({ id: (await ids(one.handler))[0] ?? '' }, call()));
    await replicas.clock.settle();
    const closed = one.handler.close();
    await replicas.clock.settle();
    await closed;
    await replicas.clock.advance(3);
    expect(begun).toEqual([1, 2]);
    expect(seen.shown.at(-1)).toBe('COMPLETED');
  });

  it('see each other in the list of nodes', async () => {
    const replicas = new Replicas();
    const [one] = await replicas.two(works);
    send(one.handler);
    await replicas.clock.advance(5_000);
    const nodes = await replicas.memory.nodes();
    expect(nodes.map(({ agents, runningTurns, seenAt }) => ({ agents, runningTurns, seenAt }))).toEqual([
      { agents: ['test'], runningTurns: 1, seenAt: replicas.clock.now() },
      { agents: ['test'], runningTurns: 0, seenAt: replicas.clock.now() },
    ]);
  });
});

describe('a process that is cut off from the storage', () => {
  it('stops its agents before another process may run their turns', async () => {
    const replicas = new Replicas();
    let stoppedAt = 0;
    let takenOverAt = 0;
    const [one, other] = await replicas.two({
      resumable: true,
      async execute(context, events) {
        if (context.attempt > 1) {
          takenOverAt = replicas.clock.now();
          return events.complete();
        }
        await events.working();
        await aborted(context);
        stoppedAt = replicas.clock.now();
      },
    });
    send(one.handler);
    await replicas.clock.advance(7_000);
    const cutAt = replicas.clock.now();
    one.client.isCutOff = true;
    await replicas.clock.advance(30_000);
    expect(stoppedAt).toBeGreaterThan(cutAt);
    expect(stoppedAt).toBeLessThan(takenOverAt);
    expect(takenOverAt - cutAt).toBeLessThanOrEqual(30_000);
    expect(one.handler.load.runningTurns).toBe(0);
    expect(one.logger.lines.map(({ message: text }) => text)).toContain(
      'leases could not be renewed in time, their turns are stopped',
    );
    expect((await other.handler.listTasks({ status: 'TASK_STATE_COMPLETED' }, call())).totalSize).toBe(1);
  });

  it('keeps its turns through an outage that is shorter than a lease', async () => {
    const replicas = new Replicas();
    const agent = stepwise();
    const [one] = await replicas.two(agent.execute);
    const sent = send(one.handler);
    await replicas.clock.advance(6_000);
    const { storage } = one;
    const renew = storage.renew.bind(storage);
    replicas.memory.renew = () => Promise.reject(new Error('the connection is lost'));
    await replicas.clock.advance(5_500);
    replicas.memory.renew = renew;
    await replicas.clock.advance(20_000);
    agent.step(true);
    await replicas.clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('takes its turns up again when it is the only one that is left', async () => {
    const replicas = new Replicas();
    const attempts: number[] = [];
    const one = await replicas.boot({
      resumable: true,
      async execute(context, events) {
        attempts.push(context.attempt);
        if (context.attempt > 1) return events.complete();
        await works(context, events);
      },
    });
    const sent = send(one.handler);
    await replicas.clock.settle();
    one.client.isCutOff = true;
    await replicas.clock.advance(40_000);
    one.client.isCutOff = false;
    await replicas.clock.advance(30_000);
    expect(attempts).toEqual([1, 2]);
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('a storage whose network hangs', () => {
  it('keeps no caller waiting for a read', async () => {
    const replicas = new Replicas();
    const one = await replicas.boot((_context, events) => events.inputRequired('what?'));
    const sent = send(one.handler);
    await replicas.clock.settle();
    const id = sent.task?.id ?? '';
    one.client.isCutOff = true;
    const read = new Sent(one.handler.getTask({ id }, call()));
    const canceled = new Sent(one.handler.cancelTask({ id }, call()));
    const listed = one.handler.listTasks({}, call()).catch(({ code }: { code: string }) => code);
    const stream = new Seen(one.handler.subscribeToTask({ id }, call()));
    await replicas.clock.advance(15_000);
    expect([read.error, canceled.error, stream.error]).toEqual([
      expect.objectContaining({ code: 'UNAVAILABLE' }),
      expect.objectContaining({ code: 'UNAVAILABLE' }),
      expect.objectContaining({ code: 'UNAVAILABLE' }),
    ]);
    expect(await listed).toBe('UNAVAILABLE');
    expect(one.handler.load.watchedTasks).toBe(0);
  });
});

describe('the leases of a process', () => {
  it('are renewed while a claim hangs', async () => {
    const replicas = new Replicas();
    const agent = stepwise();
    const one = await replicas.boot(agent.execute);
    replicas.memory.claim = () => new Promise(() => {});
    const sent = send(one.handler);
    await replicas.clock.advance(120_000);
    expect(one.handler.load.runningTurns).toBe(1);
    agent.step(true);
    await replicas.clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('of several agents are renewed together, and their turns claimed together', async () => {
    const { EngineNode } = await import('./execution/engine-node.js');
    const replicas = new Replicas();
    const { clock, memory } = replicas;
    const calls: string[] = [];
    const storage = new Proxy(onSharedStorage(memory), {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (name !== 'renew' && name !== 'claim' && name !== 'heartbeat') return member;
        return (request: { readonly turns?: unknown[]; readonly agents?: unknown[] }) => {
          calls.push(`${name} ${(request.turns ?? request.agents ?? []).length}`);
          return Reflect.apply(member as () => unknown, target, [request]);
        };
      },
    });
    const node = new EngineNode({ storage, clock, ids: new CountingIds('node-'), logger: new CapturingLogger() });
    const agents = [];
    for (const agent of ['a', 'b', 'c']) agents.push(await replicas.boot(works, { agent, storage, node }));
    for (const { handler } of agents) send(handler);
    await clock.settle();
    calls.length = 0;
    await clock.advance(5_000);
    expect(calls.sort()).toEqual(['claim 3', 'heartbeat 3', 'renew 3']);
  });

  it('are taken over within two leases, as many as the process may run', async () => {
    const replicas = new Replicas();
    const limits = { runningTurns: 3 };
    const agent: AgentExecutor = { resumable: true, execute: works };
    const [one, other] = [await replicas.boot(agent), await replicas.boot(agent, { limits })];
    for (let at = 0; at < 5; at += 1) send(one.handler, { messageId: `m${at}` });
    await replicas.clock.advance(2_000);
    one.client.dead = true;
    await replicas.clock.advance(30_000);
    expect(other.handler.load.runningTurns).toBe(3);
    const [first = ''] = (await other.handler.listTasks({ status: 'TASK_STATE_WORKING' }, call())).tasks.map(
      ({ id }) => id,
    );
    const canceled = new Sent(other.handler.cancelTask({ id: first }, call()));
    await replicas.clock.advance(10_000);
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(other.handler.load.runningTurns).toBe(3);
  });
});

describe('processes whose clocks differ by minutes', () => {
  it.each([300_000, -300_000])('write the times of the storage (%i ms)', async (clockOff) => {
    const replicas = new Replicas();
    const { clock } = replicas;
    const one = await replicas.boot(completes, { clockOff });
    await clock.advance(1_234);
    const sent = send(one.handler);
    await clock.settle();
    expect(sent.task?.status.timestamp).toBe(new Date(clock.now()).toISOString());
  });

  it('expire and forget by the time of the storage', async () => {
    const replicas = new Replicas();
    const { clock, memory } = replicas;
    const limits = { waitingExpiryMs: 60_000, expiryCheckMs: 1_000 };
    const one = await replicas.boot((_context, events) => events.inputRequired('what?'), { clockOff: 300_000, limits });
    const sent = send(one.handler);
    await clock.advance(50_000);
    const id = sent.task?.id ?? '';
    expect((await memory.task(SCOPE, id))?.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await clock.advance(20_000);
    expect((await memory.task(SCOPE, id))?.task.status.state).toBe('TASK_STATE_FAILED');
    const policy = { taskRetentionMs: 60_000, everyMs: 1_000 };
    const sweeper = new RetentionSweeper({ storage: memory, clock: offBy(clock, 300_000), logger: one.logger, policy });
    sweeper.start();
    await clock.advance(40_000);
    expect(await memory.task(SCOPE, id)).toBeDefined();
    await clock.advance(30_000);
    expect(await memory.task(SCOPE, id)).toBeUndefined();
    await sweeper.stop();
  });
});

describe('a message behind a turn that waits for a login', () => {
  it.each(['before', 'after'] as const)('is answered with that state, where its sender came %s it', async (when) => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two(async (context, events) => {
      await events.working();
      if (when === 'before') await new Promise<void>((resolve) => void replicas.clock.after(100, resolve));
      await events.authRequired('where?');
      await aborted(context);
    });
    send(one.handler, {}, { returnImmediately: true });
    await replicas.clock.settle();
    const [taskId = ''] = await ids(one.handler);
    const sent = [one, other].map(({ handler }, at) => send(handler, { messageId: `n${at}`, taskId }));
    await replicas.clock.advance(200);
    expect(sent.map(({ task }) => task?.status.state)).toEqual([
      'TASK_STATE_AUTH_REQUIRED',
      'TASK_STATE_AUTH_REQUIRED',
    ]);
  });
});
