import { expect, it } from 'vitest';
import { shownValue } from './model-output.js';

it('shows values of tools as bounded JSON', () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  let deep: unknown = 1;
  for (let level = 0; level < 2_000; level++) deep = [deep];
  expect([{ a: [1, undefined], b: Number.NaN }, undefined, 'x\ud83d', new Date(0)].map(shownValue)).toEqual([
    { a: [1, null], b: null },
    null,
    'x\ufffd',
    '1970-01-01T00:00:00.000Z',
  ]);
  expect([loop, 1n, deep, { '\ud83d': 1 }].map(shownValue)).toEqual(Array(4).fill('[not JSON]'));
  const long = shownValue({ text: 'a'.repeat(100_000) });
  expect(long).toMatch(/^\{"text":"a+… \[cut off\]$/);
  expect(String(long).length).toBeLessThan(66_000);
});
