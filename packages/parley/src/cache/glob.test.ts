import { expect, it } from 'vitest';
import { globMatcher } from './glob.js';

it.each([
  ['*', '', true],
  ['*', 'anything', true],
  ['discover*', 'discover:http://x', true],
  ['discover*', 'health:1', false],
  ['*:1', 'health:1', true],
  ['*:1', 'health:12', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['h?llo', 'hello', true],
  ['h?llo', 'hllo', false],
  ['?', '😀', true],
  ['h[ae]llo', 'hallo', true],
  ['h[ae]llo', 'hillo', false],
  ['h[^e]llo', 'hallo', true],
  ['h[^e]llo', 'hello', false],
  ['h[a-c]llo', 'hbllo', true],
  ['h[c-a]llo', 'hbllo', true],
  ['h[a-c]llo', 'hdllo', false],
  ['a[\\]]b', 'a]b', true],
  ['a[bc', 'ab', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['a\\', 'a\\', true],
  ['', '', true],
  ['', 'a', false],
  ['.+(', '.+(', true],
])('%j matches %j: %s', (pattern, key, expected) => {
  expect(globMatcher(pattern)(key)).toBe(expected);
});

it('takes no longer for a pattern made to take long', () => {
  const matches = globMatcher('a*'.repeat(128));
  expect(matches('a'.repeat(4_000))).toBe(true);
  expect(matches(`${'a'.repeat(20)}b`)).toBe(false);
});
