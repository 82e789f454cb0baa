import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HostLanes, type HostWork } from './host-lanes.js';

const LIMITS = { inFlight: 20, inFlightPerHost: 6 };

/** Work that notes that it began. */
class NotedWork implements HostWork {
  begun = false;
  readonly host: string;
  readonly owner: string;

  constructor(host: string, owner = 'ada') {
    this.host = host;
    this.owner = owner;
  }

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
    const counts = works.slice(0, 3).map((work) => {
      lanes.end(work, true, 1);
      return lanes.running;
    });
    expect(counts).toEqual([5, 6, 6]);
  });

  it('keep no work waiting for a host that answers nothing, and give back what waits', () => {
    const lanes = new HostLanes(LIMITS);
    const works = Array.from({ length: 10 }, () => new NotedWork('slow'));
    for (const work of works) expect(lanes.add(work, 0)).toBe(true);
    expect(lanes.evict(1_000)).toEqual([]);
    const late = new NotedWork('slow');
    expect(lanes.add(late, 1_001)).toBe(false);
    const before = lanes.refusedMs(late);
    expect(lanes.evict(1_001)).toHaveLength(6);
    expect(lanes.refusedMs(late)).toBeGreaterThan(before);
    expect(lanes.room).toBe(16);
    const quick = new NotedWork('quick');
    expect(lanes.add(quick, 1_001)).toBe(true);
    expect(quick.begun).toBe(true);
  });

  it('leave room for other owners, whatever number of hosts one of them has that answer nothing', () => {
    const lanes = new HostLanes(LIMITS);
    const silent = Array.from({ length: 20 }, (_, at) => new NotedWork(`silent-${at}`, 'mallory'));
    for (const work of silent) expect(lanes.add(work, 0)).toBe(true);
    expect(silent.filter(({ begun }) => begun)).toHaveLength(15);
    expect(lanes.evict(1_001)).toHaveLength(5);
    expect(lanes.add(new NotedWork('silent-21', 'mallory'), 1_002)).toBe(false);
    const bobs = Array.from({ length: 3 }, (_, at) => new NotedWork(`bob-${at}`, 'bob'));
    for (const work of bobs) expect(lanes.add(work, 1_002)).toBe(true);
    expect(bobs.every(({ begun }) => begun)).toBe(true);
    // An owner that was slow lately has no more work than its share.
    for (const work of silent.slice(0, 15)) lanes.end(work, false, 15_000);
    const again = Array.from({ length: 20 }, (_, at) => new NotedWork(`again-${at}`, 'mallory'));
    const taken = again.filter((work) => lanes.add(work, 15_001));
    expect(taken.every(({ begun }) => begun)).toBe(true);
  });

  it('leave room for other owners, although an attacker has several accounts', () => {
    const limits = { inFlight: 512, inFlightPerHost: 16 };
    const lanes = new HostLanes(limits);
    for (let at = 0; at < 2_000; at += 1) {
      const work = new NotedWork(`silent-${at}`, `mallory-${at % 10}`);
      if (lanes.room > 0) lanes.add(work, 0);
    }
    lanes.evict(1_001);
    expect(lanes.room).toBeGreaterThan(10);
    const bobs = new NotedWork('bob', 'bob');
    expect(lanes.add(bobs, 1_002)).toBe(true);
    expect(bobs.begun).toBe(true);
  });

  it('let the work of a quick owner beyond its share wait, and begin it with each answer', () => {
    const lanes = new HostLanes(LIMITS);
    const works = Array.from({ length: 18 }, (_, at) => new NotedWork(`quick-${at % 8}`, 'ada'));
    for (const work of works) expect(lanes.add(work, 0)).toBe(true);
    expect(works.filter(({ begun }) => begun)).toHaveLength(15);
    for (const [at, work] of works.entries()) {
      expect(work.begun).toBe(true);
      lanes.end(work, true, at);
    }
    expect(lanes.room).toBe(LIMITS.inFlight);
  });

  it('lose and repeat no work, and stay within their limits, whatever happens', () => {
    const step = fc.record({
      act: fc.constantFrom('add', 'add', 'add', 'answer', 'fail', 'evict', 'pass'),
      host: fc.constantFrom('a', 'b', 'c'),
      owner: fc.constantFrom('ada', 'bob'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const lanes = new HostLanes(LIMITS);
        const begun: NotedWork[] = [];
        const taken = new Set<NotedWork>();
        let now = 0;
        const countRunning = (host: string) => begun.filter((work) => work.host === host).length;
        for (const { act, host, owner } of steps) {
          if (act === 'pass') now += 700;
          else if (act === 'evict')
            for (const work of lanes.evict(now)) expect(taken.delete(work as NotedWork)).toBe(true);
          else if (act === 'add' && lanes.room > 0) {
            const work = new NotedWork(host, owner);
            const begin = work.begin.bind(work);
            work.begin = () => {
              expect(work.begun).toBe(false);
              begin();
              taken.delete(work);
              begun.push(work);
            };
            taken.add(work);
            if (!lanes.add(work, now)) taken.delete(work);
          } else if (act !== 'add') {
            const ended = begun.findIndex((work) => work.host === host && work.owner === owner);
            const [work] = ended < 0 ? [] : begun.splice(ended, 1);
            if (work !== undefined) lanes.end(work, act === 'answer', now);
          }
          const sum = begun.length;
          expect(lanes.running).toBe(sum);
          expect(lanes.room).toBe(LIMITS.inFlight - sum - taken.size);
          for (const one of ['a', 'b', 'c']) expect(countRunning(one)).toBeLessThanOrEqual(LIMITS.inFlightPerHost);
        }
        expect(new Set(lanes.clear())).toEqual(taken);
      }),
    );
  });
});
