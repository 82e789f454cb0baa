import { expect, it } from 'vitest';
import type { TaskState } from '../../model/task-state.js';
import { LogRecord } from '../../task/log-record.js';
import { TurnWaiter } from './turn-waiter.js';

const KEY = { scope: { agent: 'a', tenant: '', owner: null }, id: 't' };

function record(turn: number, state: TaskState): LogRecord {
  return new LogRecord(2, turn, { statusUpdate: { taskId: 't', contextId: 'c', status: { state } } });
}

/** True if a wait for a turn ends with this record, false if it fails; `undefined` while it goes on. */
async function waitFor(waited: number, turn: number, state: TaskState): Promise<boolean | undefined> {
  const waiter = new TurnWaiter(KEY, waited);
  waiter.offer([record(turn, state)], undefined);
  const outcome = await Promise.race([
    waiter.outcome,
    new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined))),
  ]);
  return outcome?.reached;
}

it.each<[number, number, TaskState, boolean | undefined]>([
  [0, 1, 'TASK_STATE_INPUT_REQUIRED', undefined],
  [0, 1, 'TASK_STATE_AUTH_REQUIRED', undefined],
  [0, 1, 'TASK_STATE_COMPLETED', true],
  [2, 1, 'TASK_STATE_WORKING', undefined],
  [2, 1, 'TASK_STATE_INPUT_REQUIRED', undefined],
  [2, 1, 'TASK_STATE_AUTH_REQUIRED', true],
  [2, 1, 'TASK_STATE_COMPLETED', false],
  [2, 2, 'TASK_STATE_WORKING', undefined],
  [2, 2, 'TASK_STATE_INPUT_REQUIRED', true],
  [2, 2, 'TASK_STATE_COMPLETED', true],
  [2, 3, 'TASK_STATE_WORKING', true],
])('a wait for turn %i: turn %i in %s: %s', async (waited, turn, state, ends) => {
  expect(await waitFor(waited, turn, state)).toBe(ends);
});
