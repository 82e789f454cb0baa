import { describe, expect, it } from 'vitest';
import { CountingIds } from '../../test/counting-ids.js';
import { CapturingLogger, call, Seen, Sent, send, waitForAbort } from '../../test/engine.js';
import { Replicas, stepwise, works } from '../../test/replicas.js';
import { onSharedStorage } from '../../test/shared-view.js';
import type { AgentExecutor } from './agent-executor.js';
import { EngineNode } from './execution/engine-node.js';

/** Records the abort of its first attempt, and the start of the second one, which completes the task. */
function recordTimes({ clock }: Replicas, times: { stopped: number; takenOver: number }): AgentExecutor {
  return {
    resumable: true,
    async execute(context, events) {
      if (context.attempt > 1) {
        times.takenOver = clock.now();
        return events.complete();
      }
      // The commit of a process that is cut off has no answer.
      void events.working();
      await waitForAbort(context);
      times.stopped = clock.now();
    },
  };
}

describe('a process that is cut off from the storage', () => {
  it('stops its agents before another process may run their turns', async () => {
    const replicas = new Replicas();
    const times = { stopped: 0, takenOver: 0 };
    const [one, other] = await replicas.two(recordTimes(replicas, times));
    send(one.handler);
    await replicas.clock.advance(7_000);
    const cutAt = replicas.clock.now();
    one.client.isCutOff = true;
    await replicas.clock.advance(30_000);
    expect(times.stopped).toBeGreaterThan(cutAt);
    expect(times.stopped).toBeLessThan(times.takenOver);
    expect(times.takenOver - cutAt).toBeLessThanOrEqual(30_000);
    expect(one.handler.load.runningTurns).toBe(0);
    expect(one.logger.lines.map(({ message: text }) => text)).toContain(
      'leases could not be renewed in time, their turns are stopped',
    );
    expect((await other.handler.listTasks({ status: 'TASK_STATE_COMPLETED' }, call())).totalSize).toBe(1);
  });

  it('stops an agent whose task it has stored without an answer, before another process may run it', async () => {
    const replicas = new Replicas();
    const times = { stopped: 0, takenOver: 0 };
    const [one, other] = await replicas.two({ ...recordTimes(replicas, times), replies: 'either' });
    const accept = replicas.memory.accept.bind(replicas.memory);
    replicas.memory.accept = (acceptance) => {
      one.client.isCutOff = true;
      return accept(acceptance);
    };
    const sentAt = replicas.clock.now();
    send(one.handler);
    await replicas.clock.advance(40_000);
    expect(times.stopped).toBeGreaterThan(sentAt);
    expect(times.stopped).toBeLessThan(times.takenOver);
    expect(one.handler.load.runningTurns).toBe(0);
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
    expect(sent.error).toMatchObject({ code: 'UNAVAILABLE' });
    expect((await one.handler.listTasks({ status: 'TASK_STATE_COMPLETED' }, call())).totalSize).toBe(1);
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
