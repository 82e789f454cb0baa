import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { call, engine, send } from '../../test/engine.js';
import type { DefaultRequestHandler } from './default-request-handler.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const COUNT = 10_000;
const AT_ONCE = 500;

describe('streams that are opened and dropped (Spec §3.5.2)', () => {
  async function openAndDrop(handler: DefaultRequestHandler, taskId: string): Promise<void> {
    for (let done = 0; done < COUNT; done += AT_ONCE) {
      const streams = Array.from({ length: AT_ONCE }, () =>
        handler.subscribeToTask({ id: taskId }, call())[Symbol.asyncIterator](),
      );
      await Promise.all(streams.map((stream) => stream.next()));
      const pending = streams.map((stream) => stream.next());
      await Promise.all(streams.map((stream) => stream.return?.()));
      expect((await Promise.all(pending)).every(({ done: ended }) => ended)).toBe(true);
    }
  }

  it(`leave no listener, no timer and at most 100 bytes each, ${COUNT} of them`, async () => {
    const { handler, clock } = engine((_context, events) => void events.inputRequired());
    const sent = send(handler);
    await clock.settle();
    const taskId = sent.task?.id ?? '';
    const heap = async (): Promise<number> => {
      await clock.settle();
      collect();
      collect();
      return process.memoryUsage().heapUsed;
    };
    await openAndDrop(handler, taskId);
    const before = await heap();
    await openAndDrop(handler, taskId);
    expect((await heap()) - before).toBeLessThan(COUNT * 100);
    expect(handler.load.watchedTasks).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
