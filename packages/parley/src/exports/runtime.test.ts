import { expect, it } from 'vitest';
import { systemClock, systemIds } from './runtime.js';

it('ids are UUIDs, of the time of the machine where they have one', () => {
  const id = systemIds.ordered();
  const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  expect(Math.abs(time - Date.now())).toBeLessThan(1000);
  expect(systemIds.random()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
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
