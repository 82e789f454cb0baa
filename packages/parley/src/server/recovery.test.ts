import { describe, expect, it } from 'vitest';
import { CountingIds } from '../../test/counting-ids.js';
import {
  CapturingLogger,
  call,
  completes,
  type Execute,
  engine,
  ids,
  message,
  send,
  textOf,
  tick,
  waitForAbort,
} from '../../test/engine.js';
import { ManualClock } from '../../test/manual-clock.js';
import { onSharedStorage } from '../../test/shared-view.js';
import type { Claim } from '../store/held-turn.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { AgentExecutor } from './agent-executor.js';
import { DefaultRequestHandler } from './default-request-handler.js';
import type { EventQueue } from './event-queue.js';

/** Processes that start and stop on one storage. */
class Processes {
  readonly clock = new ManualClock();
  readonly #memory = new MemoryStorage({ clock: this.clock });
  #count = 0;
  client = { dead: false };

  async boot(executor: AgentExecutor | Execute): Promise<DefaultRequestHandler> {
    this.#count += 1;
    const handler = new DefaultRequestHandler({
      agent: 'test',
      executor: typeof executor === 'function' ? { execute: executor } : executor,
      storage: onSharedStorage(this.#memory, this.client),
      clock: this.clock,
      ids: new CountingIds(`process-${this.#count}-`),
      logger: new CapturingLogger(),
    });
    const started = handler.start();
    await this.clock.settle();
    if (!this.client.dead) await started;
    return handler;
  }

  /** Creates tasks whose messages no process has claimed yet; resolves to their ids. */
  async fill(texts: readonly string[]): Promise<readonly string[]> {
    for (const text of texts) {
      await this.#memory.accept({
        scope: { agent: 'test', tenant: '', owner: null },
        message: message({ messageId: text, parts: [{ text }] }),
        caller: { extensions: [], version: '1.0' },
        task: { create: { id: text, contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } } },
        waitingLimit: 1,
      });
    }
    return texts;
  }

  /** Starts one more process. */
  join(executor: AgentExecutor | Execute): Promise<DefaultRequestHandler> {
    this.client = { dead: false };
    return this.boot(executor);
  }

  /** Shuts down the latest process, and starts another one at once. */
  async deploy(handler: DefaultRequestHandler, executor: AgentExecutor | Execute): Promise<DefaultRequestHandler> {
    const closing = handler.close();
    await this.clock.settle();
    await closing;
    return this.join(executor);
  }

  /** Kills the latest process, and starts another one when its leases have expired. */
  async restart(executor: AgentExecutor | Execute): Promise<DefaultRequestHandler> {
    this.client.dead = true;
    await this.clock.advance(15_001);
    return this.join(executor);
  }
}

describe('after a crash', () => {
  const hangs: Execute = async (context, events) => {
    await events.working();
    await events.artifact('partial', { artifactId: 'a' });
    await waitForAbort(context);
  };

  it('a turn that had begun ends in FAILED saying why, and the old process can write nothing more', async () => {
    let zombie: EventQueue | undefined;
    const processes = new Processes();
    const { clock } = processes;
    const handler = await processes.boot(async (context, events) => {
      zombie = events;
      await hangs(context, events);
    });
    send(handler);
    await clock.settle();
    const [taskId] = await ids(handler);
    const second = await processes.restart(completes);
    const task = await second.getTask({ id: taskId ?? '' }, call());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message?.parts)).toContain('cannot resume');
    await zombie?.complete().catch(() => {});
    await clock.settle();
    expect((await second.getTask({ id: taskId ?? '' }, call())).status.state).toBe('TASK_STATE_FAILED');
    expect(handler.load.runningTurns).toBe(0);
  });

  it('a resumable agent runs again with its attempt, events and checkpoint', async () => {
    const processes = new Processes();
    const { clock } = processes;
    const handler = await processes.boot(async (context, events) => {
      await events.working();
      await events.artifact('partial', { artifactId: 'a' });
      await context.saveCheckpoint({ step: 3 });
      await waitForAbort(context);
    });
    send(handler);
    await clock.settle();
    const seen: unknown[] = [];
    const second = await processes.restart({
      resumable: true,
      async execute(context, events) {
        seen.push(context.attempt, context.checkpoint, (await context.previousEvents()).length, context.text);
        await events.artifact('whole', { artifactId: 'a' });
        await events.complete();
      },
    });
    const [taskId] = await ids(second);
    const task = await second.getTask({ id: taskId ?? '' }, call());
    expect(seen).toEqual([2, { step: 3 }, 2, 'hi']);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'whole' }] }]);
    expect(task.history).toHaveLength(1);
  });

  it('gives up after three attempts', async () => {
    const executor: AgentExecutor = { resumable: true, execute: hangs };
    const processes = new Processes();
    const { clock } = processes;
    const handler = await processes.boot(executor);
    send(handler);
    await clock.settle();
    await processes.restart(executor);
    const third = await processes.restart(executor);
    expect(third.load.runningTurns).toBe(1);
    const fourth = await processes.restart(executor);
    const [taskId] = await ids(fourth);
    const task = await fourth.getTask({ id: taskId ?? '' }, call());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message?.parts)).toContain('each time');
  });

  it('a message that waited runs, and a task that waited for input goes on waiting', async () => {
    const processes = new Processes();
    const { clock } = processes;
    const handler = await processes.boot(async (context, events) => {
      await events.working();
      if (context.text === 'ask') return void (await events.inputRequired());
      await waitForAbort(context);
    });
    const asked = send(handler, { parts: [{ text: 'ask' }] });
    await clock.settle();
    const running = send(handler, { messageId: 'm2', taskId: asked.task?.id ?? '', parts: [{ text: 'run' }] });
    const idle = send(handler, { messageId: 'm3', parts: [{ text: 'ask' }] });
    await clock.settle();
    send(handler, { messageId: 'm4', taskId: idle.task?.id ?? '', parts: [{ text: 'ask' }] });
    await clock.settle();
    expect(running.settled).toBe(false);
    const second = await processes.restart(completes);
    expect((await second.getTask({ id: asked.task?.id ?? '' }, call())).status.state).toBe('TASK_STATE_FAILED');
    expect((await second.getTask({ id: idle.task?.id ?? '' }, call())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  it('another process that runs takes over what its leases no longer protect, and nothing that lives', async () => {
    const processes = new Processes();
    const { clock } = processes;
    const first = await processes.boot(hangs);
    send(first);
    await clock.settle();
    const dying = processes.client;
    const second = await processes.join(completes);
    await clock.advance(120_000);
    expect(first.load.runningTurns).toBe(1);
    dying.dead = true;
    await clock.advance(60_000);
    const [taskId] = await ids(second);
    const task = await second.getTask({ id: taskId ?? '' }, call());
    expect(textOf(task.status.message?.parts)).toContain('cannot resume');
    expect(second.load.runningTurns).toBe(0);
  });

  it('an agent that cannot resume is not run again, although its process died before its first commit', async () => {
    const processes = new Processes();
    let runs = 0;
    const dies: Execute = () => {
      runs += 1;
      processes.client.dead = true;
      return new Promise(() => {});
    };
    send(await processes.boot(dies));
    await processes.clock.settle();
    const second = await processes.restart(dies);
    const [taskId] = await ids(second);
    const task = await second.getTask({ id: taskId ?? '' }, call());
    expect(runs).toBe(1);
    expect(textOf(task.status.message?.parts)).toContain('cannot resume');
    expect(task.history?.map(({ messageId }) => messageId)).toEqual(['m1']);
  });

  it('one claim that makes no sense keeps no other turn from running', async () => {
    const memory = new MemoryStorage({ clock: new ManualClock() });
    for (let at = 0; at < 150; at += 1) {
      await memory.accept({
        scope: { agent: 'test', tenant: '', owner: null },
        message: message({ messageId: `m${at}` }),
        caller: { extensions: [], version: '1.0' },
        task: { create: { id: `t${at}`, contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } } },
        waitingLimit: 1,
      });
    }
    const claim = memory.claim.bind(memory);
    memory.claim = async (request) => {
      const { claims, more } = await claim(request);
      const breakThird = (each: Claim) =>
        each.task.id === 't3' ? ({ ...each, task: null } as unknown as Claim) : each;
      return { claims: claims.map(breakThird), more };
    };
    const { handler, clock, logger } = engine(completes, { storage: memory });
    const starting = handler.start();
    await clock.settle();
    await starting;
    const { totalSize } = await handler.listTasks({ status: 'TASK_STATE_COMPLETED' }, call());
    expect(totalSize).toBe(149);
    expect(logger.lines.map(({ message: text }) => text)).toEqual(['a claimed turn cannot be taken over']);
  });

  it('an answer to a question is not lost with a process that dies before the agent has said anything', async () => {
    const processes = new Processes();
    const { clock } = processes;
    const handler = await processes.boot(async (context, events) => {
      if (context.text === 'ask') return void (await events.inputRequired());
      processes.client.dead = true;
      await new Promise(() => {});
    });
    const asked = send(handler, { parts: [{ text: 'ask' }] });
    await clock.settle();
    const taskId = asked.task?.id ?? '';
    send(handler, { messageId: 'm2', taskId });
    await clock.settle();
    const second = await processes.restart(completes);
    const task = await second.getTask({ id: taskId }, call());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(task.history?.map(({ messageId }) => messageId)).toContain('m2');
  });

  it.each([true, false])(
    'turns that never began run, also beside one that ends each process (resumable: %s)',
    async (resumable) => {
      const processes = new Processes();
      const { clock } = processes;
      const begun: string[] = [];
      const executor: AgentExecutor = {
        resumable,
        async execute(context, events) {
          begun.push(context.text);
          if (context.text === 'kill') {
            processes.client.dead = true;
            await new Promise(() => {});
          }
          if (context.text === 'ask') return void (await events.inputRequired());
          await events.complete();
        },
      };
      const waiting = await processes.fill(['ask', 'kill', 'one', 'two', 'three']);
      await processes.boot(executor);
      let last = await processes.restart(executor);
      for (let deaths = 1; deaths < 4; deaths += 1) last = await processes.restart(executor);
      await clock.settle();
      const states = await Promise.all(waiting.map(async (id) => (await last.getTask({ id }, call())).status.state));
      expect(states.slice(1)).toEqual([
        'TASK_STATE_FAILED',
        'TASK_STATE_COMPLETED',
        'TASK_STATE_COMPLETED',
        'TASK_STATE_COMPLETED',
      ]);
      expect(begun.filter((text) => text === 'kill')).toHaveLength(resumable ? 3 : 1);
    },
  );

  it('a turn that ends each process leaves the attempts of those beside it, which run again and again', async () => {
    const processes = new Processes();
    const { clock } = processes;
    const executor: AgentExecutor = {
      resumable: true,
      async execute(context, events) {
        await events.working(`attempt ${context.attempt}`);
        if (context.text === 'kill') {
          processes.client.dead = true;
          return new Promise(() => {});
        }
        // Longer than a lease: later writes of a dead process are refused.
        await tick(clock, 20_000);
        await events.complete();
      },
    };
    const handler = await processes.boot(executor);
    for (const text of ['one', 'two', 'three', 'kill']) send(handler, { messageId: text, parts: [{ text }] });
    await clock.settle();
    let last = handler;
    let deaths = 0;
    for (; processes.client.dead; deaths += 1) {
      last = await processes.restart(executor);
      for (let seconds = 0; seconds < 300 && !processes.client.dead; seconds += 1) await clock.advance(1_000);
    }
    expect(deaths).toBe(3);
    const { tasks } = await last.listTasks({ historyLength: 10 }, call());
    const ends = tasks.map(({ history, status }) => [textOf(history?.[0]?.parts), status.state]);
    expect(Object.fromEntries(ends)).toEqual({
      one: 'TASK_STATE_COMPLETED',
      two: 'TASK_STATE_COMPLETED',
      three: 'TASK_STATE_COMPLETED',
      kill: 'TASK_STATE_FAILED',
    });
  });

  it('hand-overs in order are no attempts, and the agent knows that it has run before', async () => {
    const processes = new Processes();
    const { clock } = processes;
    const attempts: number[] = [];
    const executor: AgentExecutor = {
      resumable: true,
      async execute(context) {
        attempts.push(context.attempt);
        await waitForAbort(context);
      },
    };
    let handler = await processes.boot(executor);
    send(handler);
    await clock.settle();
    for (let deploys = 0; deploys < 5; deploys += 1) handler = await processes.deploy(handler, executor);
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6]);
    expect(handler.load.runningTurns).toBe(1);
  });

  it('a turn that cannot resume is over after a hand-over, once its agent has begun', async () => {
    const processes = new Processes();
    const { clock } = processes;
    const handler = await processes.boot((context) => waitForAbort(context));
    send(handler);
    await clock.settle();
    const second = await processes.deploy(handler, completes);
    const [taskId] = await ids(second);
    const task = await second.getTask({ id: taskId ?? '' }, call());
    expect(textOf(task.status.message?.parts)).toContain('cannot resume');
  });
});
