import { expect, it } from 'vitest';
import { systemClock, systemIds } from './runtime.js';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('ordered ids sort as they were asked for, however quickly', () => {
  const ids = Array.from({ length: 20_000 }, () => systemIds.ordered());
  expect(ids.every((id) => V7.test(id))).toBe(true);
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

it('ordered ids tell their time', () => {
  const id = systemIds.ordered();
  const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  expect(Math.abs(time - Date.now())).toBeLessThan(1000);
});

it('random ids are random', () => {
  const ids = Array.from({ length: 1_000 }, () => systemIds.random());
  expect(ids.every((id) => V4.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
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
