import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../parley/test/manual-clock.js';
import { ListFollower } from './list-follower.js';

function createFollower() {
  const clock = new ManualClock();
  const state = { reads: 0, read: Promise.resolve() };
  const follower = new ListFollower({
    clock,
    read: () => {
      state.reads += 1;
      return state.read;
    },
  });
  return { clock, state, follower };
}

describe('a list that is followed', () => {
  it('is read at once, and once more after a pause if it changed meanwhile', async () => {
    const { clock, state, follower } = createFollower();
    follower.readAgain();
    expect(state.reads).toBe(1);
    for (let time = 0; time < 1_000; time += 1) follower.readAgain();
    await clock.advance(999);
    expect(state.reads).toBe(1);
    await clock.advance(1);
    expect(state.reads).toBe(2);
    await clock.advance(10_000);
    expect(state.reads).toBe(2);
    for (let time = 0; time < 2; time += 1) follower.readAgain();
    expect(state.reads).toBe(3);
    await clock.advance(1_000);
    expect(state.reads).toBe(4);
  });

  it('is read once more if it changes during a read', async () => {
    const { clock, state, follower } = createFollower();
    const read = Promise.withResolvers<void>();
    state.read = read.promise;
    follower.readAgain();
    follower.readAgain();
    await clock.advance(10_000);
    expect(state.reads).toBe(1);
    read.resolve();
    await clock.advance(1_000);
    expect(state.reads).toBe(2);
  });

  it('is read less and less often if the server announces without end', async () => {
    const { clock, state, follower } = createFollower();
    for (let second = 0; second < 3_600; second += 1) {
      follower.readAgain();
      await clock.advance(1_000);
    }
    expect(state.reads).toBeGreaterThan(50);
    expect(state.reads).toBeLessThan(70);
  });

  it('is not read after the end', async () => {
    const { clock, state, follower } = createFollower();
    follower.readAgain();
    follower.readAgain();
    await clock.advance(1);
    follower.close();
    follower.readAgain();
    await clock.advance(10_000);
    expect(state.reads).toBe(1);
  });
});
