import { expect, it } from 'vitest';
import { ManualClock } from '../../../parley/test/manual-clock.js';
import { StreamingTask } from './streaming-task.js';
import type { TaskCallbacks } from './task-callbacks.js';

const HOUR_MS = 60 * 60_000;

/** A task of a session that counts what it gives back. */
function taskOfStream(clock: ManualClock) {
  const state = { isUsed: false, released: 0, closed: 0 };
  const callbacks = {
    get isUsed() {
      return state.isUsed;
    },
    taskId: 't',
    grant: {},
    session: {
      options: { clock },
      run: async <T>(task: () => T) => task(),
      hold: () => {},
      release: () => {
        state.released += 1;
      },
    },
    closeAll: () => {
      state.closed += 1;
    },
    isOver: async () => false,
  };
  return { task: new StreamingTask(callbacks as unknown as TaskCallbacks), state };
}

it('the task of a stream ends after an hour without use, and says so from then on', async () => {
  const clock = new ManualClock();
  const { task, state } = taskOfStream(clock);
  await clock.advance(HOUR_MS - 1);
  expect(await task.isFinalState()).toBe(false);
  await clock.advance(HOUR_MS - 1);
  expect([state.released, state.closed]).toEqual([0, 0]);
  await clock.advance(1);
  expect([state.released, state.closed, clock.pendingTimers]).toEqual([1, 1, 0]);
  await expect(task.isFinalState()).rejects.toThrow(/the StreamingTask has ended/);
  task.dispose();
  expect(state.released).toBe(1);
});

it('a callback that waits for events is a use', async () => {
  const clock = new ManualClock();
  const { state } = taskOfStream(clock);
  state.isUsed = true;
  await clock.advance(5 * HOUR_MS);
  expect(state.released).toBe(0);
  state.isUsed = false;
  await clock.advance(HOUR_MS);
  expect(state.released).toBe(1);
});
