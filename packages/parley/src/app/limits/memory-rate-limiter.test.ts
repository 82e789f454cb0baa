import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryRateLimiter } from './memory-rate-limiter.js';

const RATE = { requests: 3, windowMs: 1_000 };

function limiter(keys = 1_000) {
  let time = 0;
  const clock = {
    monotonic: () => time,
    advance: (ms: number) => {
      time += ms;
    },
  };
  return { clock, limiter: new MemoryRateLimiter({ clock, keys }) };
}

describe('MemoryRateLimiter', () => {
  it('allows the requests of a window, and again those of the next one', () => {
    const { clock, limiter: counts } = limiter();
    const take = () => counts.take('ada', RATE);
    expect([take(), take(), take()].map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
    ]);
    clock.advance(400);
    expect(take()).toEqual({ allowed: false, remaining: 0, resetMs: 600 });
    clock.advance(599);
    expect(take().allowed).toBe(false);
    clock.advance(1);
    expect(take()).toEqual({ allowed: true, remaining: 2, resetMs: 1_000 });
  });

  it('counts no refused request, so that a caller who keeps trying is served in the next window', () => {
    const { clock, limiter: counts } = limiter();
    for (let sent = 0; sent < 1_000; sent++) counts.take('ada', RATE);
    clock.advance(1_000);
    expect(counts.take('ada', RATE).allowed).toBe(true);
  });

  it('counts each key alone', () => {
    const { limiter: counts } = limiter();
    for (let sent = 0; sent < 10; sent++) counts.take('ada', RATE);
    expect(counts.take('bob', RATE)).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('allows at most the requests of a window in every window, for keys in use', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(400)), { maxLength: 200 }), (calls) => {
        const { clock, limiter: counts } = limiter();
        const begins = new Map<number, { at: number; count: number }>();
        for (const [key, pause] of calls) {
          clock.advance(pause);
          const now = clock.monotonic();
          const before = begins.get(key);
          const window = before === undefined || now - before.at >= RATE.windowMs ? { at: now, count: 0 } : before;
          begins.set(key, window);
          const { allowed } = counts.take(String(key), RATE);
          expect(allowed).toBe(window.count < RATE.requests);
          if (allowed) window.count += 1;
        }
      }),
    );
  });

  it('keeps a bounded number of keys, and the keys in use among them', () => {
    const { limiter: counts } = limiter(1_000);
    for (let sent = 0; sent < 3; sent++) counts.take('in use', RATE);
    for (let at = 0; at < 100_000; at++) {
      counts.take(`2001:db8:${at.toString(16)}::/64`, RATE);
      if (at % 100 === 0) expect(counts.take('in use', RATE).allowed).toBe(false);
      expect(counts.size).toBeLessThanOrEqual(1_001);
    }
  });

  it('forgets keys whose windows have ended', () => {
    const { clock, limiter: counts } = limiter();
    for (let at = 0; at < 400; at++) counts.take(String(at), RATE);
    for (let window = 0; window < 2; window++) {
      clock.advance(1_000);
      counts.take('ada', RATE);
    }
    expect(counts.size).toBe(1);
  });

  it('keeps an open window through all turns of the generations', () => {
    const { clock, limiter: counts } = limiter();
    counts.take('long', { requests: 1, windowMs: 10_000 });
    for (let second = 0; second < 9; second++) {
      clock.advance(1_000);
      counts.take(`short ${second}`, RATE);
    }
    expect(counts.take('long', { requests: 1, windowMs: 10_000 }).allowed).toBe(false);
  });
});
