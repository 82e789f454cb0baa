import { describe, expect, it } from 'vitest';
import { Random } from '../../test/random.js';
import { LinearPattern } from './linear-pattern.js';
import { PatternRefusal } from './pattern-parser.js';

const ATOMS = [
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '\\w',
  '\\W',
  '\\s',
  '\\p{L}',
  '\\u0061',
  '\\x62',
  '[\\]-]',
  '\\/',
  'é',
  '😀',
];
const EDGES = ['^', '$', '\\b', '\\B'];
const COUNTS = ['*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,}', '{2,3}?', '{0}'];
const CHARACTERS = ['a', 'b', ' ', '-', ']', '/', '\n', '\u2028', 'é', '😀', '\ud83d', '_'];

function randomPattern(random: Random, depth = 0): string {
  const terms = Array.from({ length: random.below(4) }, () => {
    if (random.oneIn(6)) return random.pick(EDGES);
    const isGroup = depth < 3 && random.oneIn(3);
    const open = random.pick(['(', '(?:', `(?<n${random.below(1_000_000)}>`]);
    const atom = isGroup ? `${open}${randomPattern(random, depth + 1)})` : random.pick(ATOMS);
    return random.oneIn(2) ? `${atom}${random.pick(COUNTS)}` : atom;
  });
  return random.oneIn(4) ? `${terms.join('')}|${randomPattern(random, depth + 1)}` : terms.join('');
}

const matches = (pattern: string, text: string) => new LinearPattern(pattern).test(text, { left: 1_000_000 });

it('a pattern matches the same texts as in the engine of JavaScript', () => {
  const random = new Random(7);
  const seen = { true: 0, false: 0 };
  for (let round = 0; round < 4_000; round += 1) {
    const pattern = randomPattern(random);
    let native: RegExp;
    try {
      native = new RegExp(pattern, 'u');
    } catch {
      continue;
    }
    const linear = new LinearPattern(pattern);
    for (let count = 0; count < 8; count += 1) {
      const text = Array.from({ length: random.below(8) }, () => random.pick(CHARACTERS)).join('');
      const expected = native.test(text);
      seen[`${expected}`] += 1;
      expect([pattern, text, linear.test(text, { left: 1_000_000 })]).toEqual([pattern, text, expected]);
    }
  }
  expect(Math.min(seen.true, seen.false)).toBeGreaterThan(3_000);
});

describe('a pattern in plain use', () => {
  it.each([
    ['^[A-Z]{2}-[0-9]+$', 'AB-12', true],
    ['^[A-Z]{2}-[0-9]+$', 'AB-12\n', false],
    [String.raw`^[\w.+-]+@[\w-]+\.[\w.-]+$`, 'first.last+tag@example.co.uk', true],
    [String.raw`^\d{4}-\d{2}-\d{2}$`, '2026-01-02', true],
    ['^$', '', true],
    ['', 'x', true],
    [String.raw`\ud83d\ude00`, '😀', true],
    [String.raw`^\u{1f600}{2}$`, '😀😀', true],
    ['^(?:){1000000000}$', '', true],
    ['^(?:(?:a?){1000000}){0}$', '', true],
  ])('%s on %j: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });
});

it.each([
  ['a look ahead', '(?=a)b'],
  ['a negative look behind', '(?<!a)b'],
  ['a reference', '(a)\\1'],
  ['a named reference', '(?<n>a)\\k<n>'],
  ['other flags', '(?i:a)'],
  ['counts that multiply', '((a{99}){99}){99}'],
  ['a huge count', 'a{1000000000}'],
])('%s is refused', (_name, pattern) => {
  expect(() => new LinearPattern(pattern)).toThrow(PatternRefusal);
});

it('without steps, a text does not match, and the steps say so', () => {
  const steps = { left: 1_000 };
  expect(new LinearPattern('^a*$').test('a'.repeat(2_000), steps)).toBe(false);
  expect(steps.left).toBeLessThan(0);
});

it('what is remembered has a bound: random texts take steps, and no more memory', () => {
  const random = new Random(1);
  const pattern = new LinearPattern('(a|b)*a(a|b){300}$');
  const steps = { left: 40_000_000 };
  const before = process.memoryUsage().heapUsed;
  pattern.test(Array.from({ length: 200_000 }, () => random.pick(['a', 'b'])).join(''), steps);
  expect(steps.left).toBeLessThan(0);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200_000_000);
});
