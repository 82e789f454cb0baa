import { expect, it } from 'vitest';
import type { StreamItem } from '../task/stream-item.js';
import { copyStream } from './isolation.js';

it('hands on all of an event, as a copy', async () => {
  const status = { state: 'TASK_STATE_COMPLETED' } as const;
  const event = { statusUpdate: { taskId: 't', contextId: 'c', status } };
  async function* items(): AsyncGenerator<StreamItem> {
    yield { event };
    yield { event, seq: 2, last: true };
  }
  const handed: StreamItem[] = [];
  for await (const item of copyStream(items())) handed.push(item);
  expect(handed.map(({ seq, last }) => [seq, last])).toEqual([
    [undefined, undefined],
    [2, true],
  ]);
  expect(handed.map((item) => 'last' in item)).toEqual([false, true]);
  expect(handed[1]?.event).toEqual(event);
  expect(handed[1]?.event).not.toBe(event);
});
