import { describe, expect, it } from 'vitest';
import { call, type Execute, engine, message, Sent, send, waitForAbort } from '../../test/engine.js';
import { ManualClock } from '../../test/manual-clock.js';
import { ScheduledStorage } from '../../test/scheduled-storage.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { Scope } from '../store/task-key.js';
import type { AgentExecutor } from './agent-executor.js';

const SCOPE: Scope = { agent: 'test', tenant: '', owner: null };

/** An engine on a storage that answers when the test says so. No time passes in these tests. */
class Stage {
  readonly memory = new MemoryStorage({ clock: new ManualClock() });
  readonly storage = new ScheduledStorage(this.memory, false);
  /** Texts of the messages whose agents have started, and of those whose agents were aborted. */
  readonly begun: string[] = [];
  readonly stopped: string[] = [];
  readonly engine;

  constructor(execute: Execute, over: Partial<AgentExecutor> = {}) {
    const run: Execute = async (context, events) => {
      this.begun.push(context.text);
      context.signal.addEventListener('abort', () => this.stopped.push(context.text));
      await execute(context, events);
    };
    this.engine = engine({ execute: run, ...over }, { storage: this.storage.view({ dead: false }) });
  }

  /** Runs all pending work. */
  async drain(): Promise<void> {
    const { clock } = this.engine;
    await clock.settle();
    while (this.storage.pending > 0) {
      await this.storage.pick(0);
      await clock.settle();
    }
  }

  /** Commits the latest call, and delays its answer. */
  async commitLast(): Promise<void> {
    await this.engine.clock.settle();
    await this.storage.pick(this.storage.pending - 1, 'late');
  }

  /** Cancels a task. The request is stored while the answers of earlier calls are delayed; then all answers arrive. */
  async cancelBetween(id: string): Promise<Sent> {
    const canceled = new Sent(this.engine.handler.cancelTask({ id }, call()));
    await this.storage.pick(this.storage.pending - 1);
    await this.engine.clock.settle();
    await this.drain();
    return canceled;
  }

  async onlyTask(): Promise<string> {
    const query = { scope: SCOPE, orderBy: 'created', limit: 10, artifacts: false, history: false } as const;
    const { tasks } = await this.memory.tasks(query);
    expect(tasks).toHaveLength(1);
    return tasks[0]?.task.id ?? '';
  }
}

const asksOrWorks: Execute = async (context, events) => {
  if (context.text === 'ask') return void (await events.inputRequired());
  await events.working();
  await waitForAbort(context);
};

describe('a cancel between the commit that brings a turn and its start', () => {
  it('stops the agent of a follow-up message', async () => {
    const stage = new Stage(asksOrWorks);
    const asked = send(stage.engine.handler, { parts: [{ text: 'ask' }] });
    await stage.drain();
    const taskId = asked.task?.id ?? '';
    const followUp = send(stage.engine.handler, { messageId: 'm2', taskId, parts: [{ text: 'go on' }] });
    await stage.commitLast();
    const canceled = await stage.cancelBetween(taskId);
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(followUp.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(stage.begun.slice(1)).toEqual(stage.stopped);
    expect(stage.engine.handler.load.runningTurns).toBe(0);
  });

  it.each(['task', 'either'] as const)('stops the agent of a new task (replies: %s)', async (replies) => {
    const stage = new Stage(asksOrWorks, { replies });
    const sent = send(stage.engine.handler, { parts: [{ text: 'work' }] });
    await stage.commitLast();
    const canceled = await stage.cancelBetween(await stage.onlyTask());
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(sent.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(stage.begun).toEqual(stage.stopped);
    expect(stage.engine.handler.load.runningTurns).toBe(0);
  });

  it('stops the agent of a message that waited for the turn before', async () => {
    const stage = new Stage(async (context, events) => {
      if (context.text !== 'first') return asksOrWorks(context, events);
      await events.working();
      await new Promise<void>((resolve) => {
        endFirst = resolve;
      });
      await events.inputRequired();
    });
    let endFirst = () => {};
    const { handler, clock } = stage.engine;
    send(handler, { parts: [{ text: 'first' }] });
    await stage.drain();
    const taskId = await stage.onlyTask();
    const waiting = send(handler, { messageId: 'm2', taskId, parts: [{ text: 'second' }] });
    await stage.drain();
    endFirst();
    await clock.settle();
    // The append that ends the first turn, then the claim of the second one.
    for (let step = 0; step < 10 && !stage.storage.names.includes('claim'); step += 1) {
      await stage.storage.pick(0);
      await clock.settle();
    }
    await stage.commitLast();
    const canceled = await stage.cancelBetween(taskId);
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(waiting.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(stage.begun.slice(1)).toEqual(stage.stopped);
    expect(handler.load.runningTurns).toBe(0);
  });

  it('stops the agent of a turn that is taken over at start', async () => {
    const stage = new Stage(asksOrWorks);
    await stage.memory.accept({
      scope: SCOPE,
      message: message(),
      caller: { extensions: [], version: '1.0' },
      task: { create: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_SUBMITTED' } } },
      waitingLimit: 1,
    });
    void stage.engine.handler.start();
    await stage.commitLast();
    const canceled = await stage.cancelBetween('t1');
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(stage.begun).toEqual(stage.stopped);
    expect(stage.engine.handler.load.runningTurns).toBe(0);
  });
});
