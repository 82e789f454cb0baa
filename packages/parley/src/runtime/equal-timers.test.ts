import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/manual-clock.js';
import { EqualTimers } from './equal-timers.js';

describe('timers of one length', () => {
  it('run at their time, in the order they were started, behind one timer of the clock', async () => {
    const clock = new ManualClock();
    const timers = new EqualTimers(clock, 100);
    const ran: string[] = [];
    const note = (name: string) => () => ran.push(`${name} ${clock.monotonic() - began}`);
    const began = clock.monotonic();
    timers.start(note('a'));
    await clock.advance(30);
    timers.start(note('b'));
    timers.start(note('c'));
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(200);
    expect(ran).toEqual(['a 100', 'b 130', 'c 130']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that are stopped do not run, and the others keep their time', async () => {
    const clock = new ManualClock();
    const timers = new EqualTimers(clock, 100);
    const ran: string[] = [];
    const a = timers.start(() => ran.push('a'));
    await clock.advance(50);
    const b = timers.start(() => ran.push('b'));
    timers.stop(a);
    timers.stop(a);
    await clock.advance(99);
    expect(ran).toEqual([]);
    await clock.advance(1);
    expect(ran).toEqual(['b']);
    timers.stop(b);
  });

  it('that come and go at once share the timer of the clock, and leave nothing behind', async () => {
    const clock = new ManualClock();
    const timers = new EqualTimers(clock, 100);
    for (let round = 0; round < 5; round += 1) {
      timers.stop(timers.start(() => {}));
      expect([clock.pendingTimers, clock.pendingSoon]).toEqual([1, 1]);
    }
    await clock.settle();
    expect(clock.pendingTimers).toBe(0);
  });

  it('may start and stop others when they run', async () => {
    const clock = new ManualClock();
    const timers = new EqualTimers(clock, 100);
    const ran: string[] = [];
    timers.start(() => {
      timers.stop(b);
      timers.start(() => ran.push('c'));
    });
    const b = timers.start(() => ran.push('b'));
    await clock.advance(100);
    expect(ran).toEqual([]);
    await clock.advance(100);
    expect(ran).toEqual(['c']);
    expect(clock.pendingTimers).toBe(0);
  });
});
