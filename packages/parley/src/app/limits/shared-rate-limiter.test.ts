import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CapturingLogger, tick } from '../../../test/engine.js';
import { ManualClock } from '../../../test/manual-clock.js';
import { MemoryRateCounters } from '../../../test/memory-rate-counters.js';
import type { RateCounters } from '../../store/rate-counters.js';
import type { RateDecision } from './rate-limiter.js';
import { SharedRateLimiter } from './shared-rate-limiter.js';

const RATE = { requests: 100, windowMs: 1_000 };

/** Processes that share counters. */
function processes(count: number) {
  const clock = new ManualClock();
  const counters = new MemoryRateCounters(clock);
  const logger = new CapturingLogger();
  const limiters = Array.from({ length: count }, () => new SharedRateLimiter({ counters, clock, keys: 1_000, logger }));
  const take = async (at: number, key = 'ada', rate = RATE): Promise<RateDecision> => {
    const taken = limiters[at % count]?.take(key, rate);
    await clock.settle();
    if (taken === undefined) throw new Error('There is no process');
    return taken;
  };
  return { clock, counters, logger, limiters, take };
}

describe('the rate of a caller at several processes', () => {
  it('holds for all of them together, and the whole window can be used', async () => {
    const { take } = processes(4);
    let allowed = 0;
    for (let at = 0; at < 400; at++) if ((await take(at)).allowed) allowed += 1;
    expect(allowed).toBe(100);
  });

  it('begins anew with the next window', async () => {
    const { clock, take } = processes(2);
    for (let at = 0; at < 200; at++) await take(at);
    const refused = await take(0);
    expect(refused.allowed).toBe(false);
    expect(refused.resetMs).toBeGreaterThan(0);
    await clock.advance(1_000);
    expect(await take(0)).toMatchObject({ allowed: true, remaining: 99, resetMs: 1_000 });
  });

  it('is never exceeded in any order of requests, at once or one after another', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 40 })), { maxLength: 30 }),
        async (requests, bursts) => {
          const { clock, limiters } = processes(4);
          const rate = { requests, windowMs: 1_000 };
          let allowed = 0;
          let asked = 0;
          for (const [at, burst] of bursts) {
            const taken = Array.from({ length: burst }, () => limiters[at]?.take('ada', rate));
            asked += burst;
            await clock.settle();
            for (const one of await Promise.all(taken)) if (one?.allowed) allowed += 1;
          }
          expect(allowed).toBeLessThanOrEqual(requests);
          // Each process may keep a rest of a block.
          expect(allowed).toBeGreaterThanOrEqual(Math.min(asked, requests) - 4 * Math.ceil(requests / 16));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('costs few round trips, and none for requests that are refused', async () => {
    const { counters, take } = processes(1);
    const rate = { requests: 1_000, windowMs: 1_000 };
    for (let at = 0; at < 1_000; at++) await take(0, 'ada', rate);
    expect(counters.calls).toBeLessThan(100);
    const before = counters.calls;
    for (let at = 0; at < 1_000; at++) expect((await take(0, 'ada', rate)).allowed).toBe(false);
    expect(counters.calls).toBe(before);
  });

  it('asks once for requests that come together', async () => {
    const { clock, counters, limiters } = processes(1);
    const taken = Array.from({ length: 50 }, (_, at) => limiters[0]?.take(`caller ${at}`, RATE));
    await clock.settle();
    expect((await Promise.all(taken)).every((decision) => decision?.allowed)).toBe(true);
    expect(counters.calls).toBe(1);
  });
});

describe('while the counters are away', () => {
  it.each(['fails', 'stalls'] as const)('each process limits by itself: the storage %s', async (state) => {
    const { clock, counters, limiters, logger } = processes(2);
    counters.state = state;
    const first = limiters[0]?.take('ada', RATE);
    await clock.advance(250);
    expect((await first)?.allowed).toBe(true);
    let allowed = 1;
    for (let at = 0; at < 400; at++) {
      const decision = limiters[0]?.take('ada', RATE);
      // Only the first request waited.
      expect(decision).not.toBeInstanceOf(Promise);
      if ((await decision)?.allowed) allowed += 1;
    }
    expect(allowed).toBe(100);
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('looks for them from time to time, and shares again', async () => {
    const { clock, counters, limiters, logger, take } = processes(2);
    counters.state = 'fails';
    await take(0);
    expect(counters.calls).toBe(1);
    await take(0);
    expect(counters.calls).toBe(1);
    counters.state = 'works';
    await clock.advance(1_000);
    expect((await take(0)).allowed).toBe(true);
    expect(counters.calls).toBe(2);
    expect(logger.lines.at(-1)?.level).toBe('info');
    let allowed = 0;
    for (let at = 0; at < 200; at++) if ((await take(at, 'bob')).allowed) allowed += 1;
    expect(allowed).toBe(100);
    expect(limiters).toHaveLength(2);
  });

  it.each([
    ['do not answer', Number.POSITIVE_INFINITY],
    ['answer slowly', 100],
  ])('no request waits for longer than 250 ms, however many keys wait: the counters %s', async (_how, ms) => {
    const { clock, counters } = processes(0);
    const slow: RateCounters = {
      take: async (asks) => {
        await tick(clock, ms);
        return counters.take(asks);
      },
    };
    const limiter = new SharedRateLimiter({ counters: slow, clock, keys: 10_000, logger: new CapturingLogger() });
    const waits: number[] = [];
    const sentAt = clock.monotonic();
    for (let at = 0; at < 5_000; at++) {
      const decided = Promise.resolve(limiter.take(`caller ${at}`, RATE));
      void decided.then(() => void waits.push(clock.monotonic() - sentAt));
    }
    await clock.advance(10_000);
    expect(waits).toHaveLength(5_000);
    expect(Math.max(...waits)).toBe(250);
  });

  it('counters that need 200 ms are not away, though some requests do not wait for them', async () => {
    const { clock, counters } = processes(0);
    const slow: RateCounters = {
      take: async (asks) => {
        await tick(clock, 200);
        return counters.take(asks);
      },
    };
    const logger = new CapturingLogger();
    const limiter = new SharedRateLimiter({ counters: slow, clock, keys: 10_000, logger });
    const waits: number[] = [];
    for (let at = 0; at < 40; at++) {
      const sentAt = clock.monotonic();
      const decided = Promise.resolve(limiter.take(`caller ${at}`, RATE));
      void decided.then(() => void waits.push(clock.monotonic() - sentAt));
      await clock.advance(50);
    }
    await clock.advance(1_000);
    expect(waits).toHaveLength(40);
    expect(Math.max(...waits)).toBe(250);
    expect(waits).toContain(200);
    expect(logger.lines).toEqual([]);
  });

  it('are asked about one key, however many callers come meanwhile', async () => {
    const { clock, counters, limiters } = processes(1);
    counters.state = 'stalls';
    void limiters[0]?.take('first', RATE);
    await clock.advance(1_250);
    const before = counters.calls;
    for (let at = 0; at < 6_000; at++) expect(limiters[0]?.take(`caller ${at}`, RATE)).not.toBeInstanceOf(Promise);
    await clock.advance(10_000);
    expect(counters.calls).toBe(before + 1);
  });

  it('keeps the number of keys that wait for them bounded', async () => {
    const { counters, limiters } = processes(1);
    counters.state = 'stalls';
    const taken = Array.from({ length: 6_000 }, (_, at) => limiters[0]?.take(`caller ${at}`, RATE));
    expect(taken.filter((one) => one instanceof Promise)).toHaveLength(5_000);
  });
});
