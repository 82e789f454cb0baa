import { expect, it } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import { MemoryCache } from './memory-cache.js';

it('drops the text that was not asked for the longest when there are too many', async () => {
  const cache = new MemoryCache({ clock: new ManualClock(), entries: 2 });
  await cache.set('a', '1', 1_000);
  await cache.set('b', '2', 1_000);
  await cache.get('a');
  await cache.set('c', '3', 1_000);
  expect([await cache.get('a'), await cache.get('b'), await cache.get('c')]).toEqual(['1', undefined, '3']);
});

it('counts only what was still there when it invalidates', async () => {
  const clock = new ManualClock();
  const cache = new MemoryCache({ clock });
  await cache.set('old', '1', 10);
  await cache.set('new', '1', 1_000);
  await clock.advance(10);
  expect(await cache.invalidate('*')).toBe(1);
});
