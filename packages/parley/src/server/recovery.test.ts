import { describe, expect, it } from 'vitest';
import { CountingIds } from '../../../../test/support/counting-ids.js';
import {
  aborted,
  CapturingLogger,
  call,
  completes,
  type Execute,
  ids,
  send,
  textOf,
} from '../../../../test/support/engine.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { onSharedStorage } from '../../../../test/support/shared-view.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { AgentExecutor } from './agent-executor.js';
import { DefaultRequestHandler } from './default-request-handler.js';
import type { EventQueue } from './event-queue.js';

/** Processes that come and go on one storage. */
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
    await started;
    return handler;
  }

  /** One more process beside the last one. */
  join(executor: AgentExecutor | Execute): Promise<DefaultRequestHandler> {
    this.client = { dead: false };
    return this.boot(executor);
  }

  /** The process that ran last dies; another one starts when its leases have ended. */
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
    await aborted(context);
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
      await aborted(context);
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
      await aborted(context);
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
});
