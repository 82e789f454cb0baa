import { describe, expect, it } from 'vitest';
import { repeatCall } from './repeated-calls.js';

/** A clock that records the pauses of a call, and ends each at once. */
class PauseClock {
  readonly pauses: number[] = [];
  readonly #fraction: number;

  /** `fraction`: that of the microsecond in which each pause begins. */
  constructor(fraction = 0) {
    this.#fraction = fraction;
  }

  monotonic(): number {
    return 5 + this.#fraction / 1_000;
  }

  after(ms: number, task: () => void): () => void {
    this.pauses.push(ms);
    queueMicrotask(task);
    return () => {};
  }
}

/** Returns an attempt whose rows have changed the first `times` calls. */
function movedTimes(times: number): () => Promise<string | undefined> {
  let left = times;
  return async () => {
    left -= 1;
    return left >= 0 ? undefined : 'done';
  };
}

describe('a call whose rows other processes move', () => {
  it('is made again at once, and then after pauses that grow', async () => {
    const clock = new PauseClock();
    expect(await repeatCall(clock, 'The task t', movedTimes(2))).toBe('done');
    expect(clock.pauses).toEqual([]);
    expect(await repeatCall(clock, 'The task t', movedTimes(6))).toBe('done');
    expect(clock.pauses).toHaveLength(4);
    expect(clock.pauses).toEqual(clock.pauses.toSorted((one, other) => one - other));
  });

  it('waits a part of each pause that differs from call to call', async () => {
    const clocks = [0, 0.25, 0.75].map((fraction) => new PauseClock(fraction));
    for (const clock of clocks) await repeatCall(clock, 'The task t', movedTimes(15));
    const [least, ...others] = clocks.map(({ pauses }) => pauses);
    for (const pauses of others) {
      for (const [at, ms] of pauses.entries()) {
        expect(ms).toBeGreaterThan(least?.[at] ?? 0);
        expect(ms).toBeLessThan(2 * (least?.[at] ?? 0));
      }
    }
  });

  it('fails after 16 attempts and less than half a second, and names its rows', async () => {
    const clock = new PauseClock(0.999);
    let attempts = 0;
    const never = async () => {
      attempts += 1;
      return undefined;
    };
    await expect(repeatCall(clock, 'The task t', never)).rejects.toThrow(
      'The task t changed 16 times during a call: repeat the call',
    );
    expect(attempts).toBe(16);
    expect(clock.pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(500);
  });
});
