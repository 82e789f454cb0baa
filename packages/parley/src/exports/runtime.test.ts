import { expect, it } from 'vitest';
import { callerClock, callerIds, systemClock, systemIds, uuidOf } from './runtime.js';

it('ids are UUIDs, of the time of the machine where they have one', () => {
  const id = systemIds.ordered();
  const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  expect(Math.abs(time - Date.now())).toBeLessThan(1000);
  expect(systemIds.random()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
});

it('ids of clients are random UUIDs, also where the platform makes none', () => {
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(callerIds.random()).toMatch(form);
  expect(callerIds.random()).not.toBe(callerIds.random());
  expect(uuidOf(new Uint8Array(16).fill(255))).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
  expect(uuidOf(Uint8Array.from({ length: 16 }, (_, at) => at))).toBe('00010203-0405-4607-8809-0a0b0c0d0e0f');
});

it('timers run once at their time unless they are canceled, and soon is sooner', async () => {
  const events: string[] = [];
  const began = systemClock.monotonic();
  await new Promise<void>((resolve) => {
    systemClock.after(1, () => events.push('canceled'))();
    systemClock.after(20, () => {
      events.push('later');
      resolve();
    });
    systemClock.soon(() => events.push('soon'));
  });
  expect(events).toEqual(['soon', 'later']);
  expect(systemClock.monotonic() - began).toBeGreaterThanOrEqual(19);
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(100);
});

it.each([
  ['servers', systemClock],
  ['clients', callerClock],
])('a timer of %s that is longer than those of the platform does not fire at once', async (_whose, clock) => {
  let fired = false;
  const cancel = clock.after(2 ** 31, () => {
    fired = true;
  });
  await new Promise<void>((resolve) => void callerClock.after(50, resolve));
  cancel();
  expect(fired).toBe(false);
});
