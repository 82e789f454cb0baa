import { expect, it } from 'vitest';
import { engine, ids, send } from '../../test/engine.js';
import { Replicas } from '../../test/replicas.js';
import type { TurnTime } from '../telemetry/turn-metrics.js';
import type { AgentExecutor } from './agent-executor.js';

/** The waits for an agent, and a gate that its turns with the text `ask` wait for. */
function createGatedEngine() {
  const waits: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  const meter = ({ time, ms, attempt }: TurnTime) => void (time === 'queueWait' && waits.push([attempt, ms]));
  const executor: AgentExecutor = {
    resumable: true,
    async execute({ text }, events) {
      if (text !== 'ask') return events.complete();
      await events.artifact('begun');
      await gate.promise;
      await events.inputRequired('and?');
    },
  };
  return { waits, open: gate.resolve, executor, options: { turnPorts: { meter } } };
}

const ASK = { parts: [{ text: 'ask' }] };

it('a message that waits behind a running turn is measured from its acceptance', async () => {
  const { waits, open, executor, options } = createGatedEngine();
  const { handler, clock } = engine(executor, options);
  send(handler, ASK, { returnImmediately: true });
  await clock.advance(1_000);
  const [taskId = ''] = await ids(handler);
  const next = send(handler, { messageId: 'm2', taskId });
  await clock.advance(3_000);
  open();
  await clock.settle();
  expect(next.task?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(waits).toEqual([
    ['first', 0],
    ['first', 3_000],
  ]);
});

it('turns of a process that has died are measured by the next one, with their own times of acceptance', async () => {
  const replicas = new Replicas();
  const { waits, open, executor, options } = createGatedEngine();
  const one = await replicas.boot(executor, options);
  await replicas.boot(executor, options);
  send(one.handler, ASK, { returnImmediately: true });
  await replicas.clock.advance(1_000);
  const [taskId = ''] = await ids(one.handler);
  send(one.handler, { messageId: 'm2', taskId }, { returnImmediately: true });
  await replicas.clock.settle();
  one.client.dead = true;
  await replicas.clock.advance(60_000);
  open();
  await replicas.clock.settle();
  const [first, again, next] = waits as [string, number][];
  expect([waits.length, first]).toEqual([3, ['first', 0]]);
  expect(again?.[0]).toBe('again');
  // The claim after the end of the lease.
  expect(again?.[1]).toBeGreaterThan(1_000);
  expect(again?.[1]).toBeLessThan(60_000);
  expect(next).toEqual(['first', 60_000]);
});

it('a turn that begins again after an orderly hand-over is an attempt of its own', async () => {
  const replicas = new Replicas();
  const { waits, open, executor, options } = createGatedEngine();
  const one = await replicas.boot(executor, options);
  send(one.handler, ASK, { returnImmediately: true });
  await replicas.clock.advance(2_000);
  const closing = one.handler.close();
  await replicas.clock.settle();
  await closing;
  await replicas.boot(executor, options);
  await replicas.clock.advance(10_000);
  open();
  await replicas.clock.settle();
  expect(waits).toEqual([
    ['first', 0],
    ['again', 2_000],
  ]);
});
