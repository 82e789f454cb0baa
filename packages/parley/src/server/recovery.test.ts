import { describe, expect, it } from 'vitest';
import { CountingIds } from '../../../../test/support/counting-ids.js';
import {
  aborted,
  CapturingLogger,
  call,
  completes,
  type Execute,
  engine,
  ids,
  send,
  textOf,
} from '../../../../test/support/engine.js';
import type { ManualClock } from '../../../../test/support/manual-clock.js';
import type { AgentExecutor } from './agent-executor.js';
import { DefaultRequestHandler } from './default-request-handler.js';
import type { EventQueue } from './event-queue.js';

describe('after a crash', () => {
  let restarts = 0;

  /** A second engine on the same storage, after the first one's leases have ended. */
  async function restart(
    executor: AgentExecutor | Execute,
    storage: ReturnType<typeof engine>['storage'],
    clock: ManualClock,
  ) {
    restarts += 1;
    const handler = new DefaultRequestHandler({
      agent: 'test',
      executor: typeof executor === 'function' ? { execute: executor } : executor,
      storage,
      clock,
      ids: new CountingIds(`process-${restarts}-`),
      logger: new CapturingLogger(),
    });
    await clock.advance(15_001);
    const started = handler.start();
    await clock.settle();
    await started;
    return handler;
  }

  const hangs: Execute = async (context, events) => {
    await events.working();
    await events.artifact('partial', { artifactId: 'a' });
    await aborted(context);
  };

  it('a turn that had begun ends in FAILED saying why, and the old process can write nothing more', async () => {
    let zombie: EventQueue | undefined;
    const { handler, clock, storage } = engine(async (context, events) => {
      zombie = events;
      await hangs(context, events);
    });
    send(handler);
    await clock.settle();
    const [taskId] = await ids(handler);
    const second = await restart(completes, storage, clock);
    const task = await second.getTask({ id: taskId ?? '' }, call());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message?.parts)).toContain('cannot resume');
    await zombie?.complete().catch(() => {});
    await clock.settle();
    expect((await second.getTask({ id: taskId ?? '' }, call())).status.state).toBe('TASK_STATE_FAILED');
    expect(handler.load.runningTurns).toBe(0);
  });

  it('a resumable agent runs again with its attempt, events and checkpoint', async () => {
    const { handler, clock, storage } = engine(async (context, events) => {
      await events.working();
      await events.artifact('partial', { artifactId: 'a' });
      await context.saveCheckpoint({ step: 3 });
      await aborted(context);
    });
    send(handler);
    await clock.settle();
    const seen: unknown[] = [];
    const second = await restart(
      {
        resumable: true,
        async execute(context, events) {
          seen.push(context.attempt, context.checkpoint, (await context.previousEvents()).length, context.text);
          await events.artifact('whole', { artifactId: 'a' });
          await events.complete();
        },
      },
      storage,
      clock,
    );
    const [taskId] = await ids(second);
    const task = await second.getTask({ id: taskId ?? '' }, call());
    expect(seen).toEqual([2, { step: 3 }, 2, 'hi']);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'whole' }] }]);
    expect(task.history).toHaveLength(1);
  });

  it('gives up after three attempts', async () => {
    const executor: AgentExecutor = { resumable: true, execute: hangs };
    const { handler, clock, storage } = engine(executor);
    send(handler);
    await clock.settle();
    await restart(executor, storage, clock);
    const third = await restart(executor, storage, clock);
    expect(third.load.runningTurns).toBe(1);
    const fourth = await restart(executor, storage, clock);
    const [taskId] = await ids(fourth);
    const task = await fourth.getTask({ id: taskId ?? '' }, call());
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task.status.message?.parts)).toContain('each time');
  });

  it('a message that waited runs, and a task that waited for input goes on waiting', async () => {
    const { handler, clock, storage } = engine(async (context, events) => {
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
    const second = await restart(completes, storage, clock);
    expect((await second.getTask({ id: asked.task?.id ?? '' }, call())).status.state).toBe('TASK_STATE_FAILED');
    expect((await second.getTask({ id: idle.task?.id ?? '' }, call())).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });
});
