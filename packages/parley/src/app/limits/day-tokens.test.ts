import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CapturingLogger } from '../../../test/engine.js';
import { ManualClock } from '../../../test/manual-clock.js';
import { MemoryRateCounters } from '../../../test/memory-rate-counters.js';
import { DayTokens } from './day-tokens.js';

const LIMIT = 1_000;
const DAY_MS = 86_400_000;

/** Processes that count together, or one that counts in its memory. */
function processes(count: number, isShared = true) {
  const clock = new ManualClock();
  const shared = new MemoryRateCounters(clock);
  const logger = new CapturingLogger();
  const counters = isShared ? shared : undefined;
  const days = Array.from({ length: count }, () => new DayTokens({ limit: LIMIT, counters, clock, logger }));
  const at = (number: number) => days[number % count] ?? expect.unreachable();
  return { clock, counters: shared, logger, at };
}

const calls = fc.array(fc.record({ process: fc.nat(3), tokens: fc.integer({ min: 1, max: 300 }) }), { maxLength: 60 });

describe('the tokens of a day', () => {
  it.each([
    ['in the memory of one process', 1, false],
    ['of one process on counters', 1, true],
    ['of four processes', 4, true],
  ])('%s never exceed the limit by more than one call of each process', async (_, count, isShared) => {
    await fc.assert(
      fc.asyncProperty(calls, async (wanted) => {
        const { at } = processes(count, isShared);
        const overrunBy = new Map<number, number>();
        let used = 0;
        for (const { process, tokens } of wanted) {
          if ((await at(process).rest('ann')) < 1) continue;
          used += tokens;
          const rest = await at(process).spend('ann', tokens);
          if (rest >= 0) continue;
          expect(overrunBy.has(process % count)).toBe(false);
          overrunBy.set(process % count, -rest);
        }
        const overrun = [...overrunBy.values()].reduce((sum, one) => sum + one, 0);
        expect(used - overrun).toBeLessThanOrEqual(LIMIT);
        if (count === 1 && overrun > 0) expect(used - overrun).toBe(LIMIT);
      }),
    );
  });

  it('are all used by one process: nothing is counted twice', async () => {
    await fc.assert(
      fc.asyncProperty(calls, fc.boolean(), async (wanted, isShared) => {
        const { at } = processes(1, isShared);
        let used = 0;
        for (const { tokens } of wanted) {
          if (used + tokens > LIMIT) break;
          used += tokens;
          expect(await at(0).spend('ann', tokens)).toBe(LIMIT - used);
        }
        expect(await at(0).rest('ann')).toBe(LIMIT - used);
      }),
    );
  });

  it('count for each owner alone, and begin anew on the next day of UTC', async () => {
    const { clock, at } = processes(2);
    await at(0).spend('ann', LIMIT);
    expect([await at(0).rest('ann'), await at(1).rest('ann'), await at(1).rest('bob')]).toEqual([0, 0, LIMIT]);
    await clock.advance(DAY_MS);
    expect(await at(1).rest('ann')).toBe(LIMIT);
  });

  it('are counted by each process while the counters are away', async () => {
    const { counters, at, logger } = processes(2);
    counters.state = 'fails';
    expect(await at(0).spend('ann', LIMIT + 5)).toBe(-5);
    expect(await at(0).rest('ann')).toBe(0);
    expect(await at(1).rest('ann')).toBe(LIMIT);
    expect(logger.lines.filter(({ message }) => message.includes('counts by itself'))).toHaveLength(2);
  });
});
