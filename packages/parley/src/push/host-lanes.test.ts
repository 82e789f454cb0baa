import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HostLanes, type HostWork } from './host-lanes.js';

const LIMITS = { inFlight: 20, inFlightPerHost: 6 };

/** Work that notes that it began. */
class NotedWork implements HostWork {
  begun = false;
  constructor(readonly host: string) {}
  begin(): void {
    this.begun = true;
  }
}

describe('the lanes of hosts', () => {
  it('begin little work for a new host, and more with each answer', () => {
    const lanes = new HostLanes(LIMITS);
    const works = Array.from({ length: 12 }, () => new NotedWork('a'));
    for (const work of works) lanes.add(work, 0);
    expect(lanes.running).toBe(4);
    lanes.end('a', true, 1);
    expect(lanes.running).toBe(5);
    lanes.end('a', true, 1);
    expect(lanes.running).toBe(6);
    lanes.end('a', true, 1);
    expect(lanes.running).toBe(6);
  });

  it('keep no work waiting for a host that answers nothing, and give back what waits', () => {
    const lanes = new HostLanes(LIMITS);
    const works = Array.from({ length: 10 }, () => new NotedWork('slow'));
    for (const work of works) expect(lanes.add(work, 0)).toBe(true);
    expect(lanes.evict(1_000)).toEqual([]);
    expect(lanes.add(new NotedWork('slow'), 1_001)).toBe(false);
    const before = lanes.refusedMs('slow');
    expect(lanes.evict(1_001)).toHaveLength(6);
    expect(lanes.refusedMs('slow')).toBeGreaterThan(before);
    expect(lanes.room).toBe(16);
    const quick = new NotedWork('quick');
    expect(lanes.add(quick, 1_001)).toBe(true);
    expect(quick.begun).toBe(true);
  });

  it('lose and repeat no work, and stay within their limits, whatever happens', () => {
    const step = fc.record({
      act: fc.constantFrom('add', 'add', 'add', 'answer', 'fail', 'evict', 'pass'),
      host: fc.constantFrom('a', 'b', 'c'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const lanes = new HostLanes(LIMITS);
        const counts = new Map<string, number>();
        const taken = new Set<NotedWork>();
        let now = 0;
        const running = (host: string) => counts.get(host) ?? 0;
        for (const { act, host } of steps) {
          if (act === 'pass') now += 700;
          else if (act === 'evict')
            for (const work of lanes.evict(now)) expect(taken.delete(work as NotedWork)).toBe(true);
          else if (act === 'add' && lanes.room > 0) {
            const work = new NotedWork(host);
            const begin = work.begin.bind(work);
            work.begin = () => {
              expect(work.begun).toBe(false);
              begin();
              taken.delete(work);
              counts.set(host, running(host) + 1);
            };
            taken.add(work);
            if (!lanes.add(work, now)) taken.delete(work);
          } else if (act !== 'add' && running(host) > 0) {
            counts.set(host, running(host) - 1);
            lanes.end(host, act === 'answer', now);
          }
          const sum = ['a', 'b', 'c'].reduce((total, one) => total + running(one), 0);
          expect(lanes.running).toBe(sum);
          expect(lanes.room).toBe(LIMITS.inFlight - sum - taken.size);
          for (const one of ['a', 'b', 'c']) expect(running(one)).toBeLessThanOrEqual(LIMITS.inFlightPerHost);
        }
        expect(new Set(lanes.clear())).toEqual(taken);
      }),
    );
  });
});
