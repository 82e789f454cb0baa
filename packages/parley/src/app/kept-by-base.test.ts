import { expect, it } from 'vitest';
import { keptByBase } from './kept-by-base.js';

it('makes a value once for each base url', () => {
  let made = 0;
  const kept = keptByBase((base) => ({ base, number: ++made }));
  expect([kept('a'), kept('b'), kept('a')].map(({ number }) => number)).toEqual([1, 2, 1]);
});

it('keeps no more than a hundred, whoever plays with addresses', () => {
  let made = 0;
  const kept = keptByBase(() => ++made);
  for (let at = 0; at < 100; at++) kept(`https://${at}.example`);
  expect([kept('https://0.example'), kept('https://100.example'), kept('https://0.example')]).toEqual([1, 101, 102]);
});
