import { describe, expect, test } from 'vitest';
import { jsonFault, MAX_NESTING } from './json-fault.js';

describe('jsonFault', () => {
  test.each([null, true, 0, -1.5, '', 'x', '😀', [], {}, { a: [{ b: null }] }, Object.create(null), { a: undefined }])(
    'finds nothing in %j',
    (value) => {
      expect(jsonFault(value)).toBeUndefined();
    },
  );

  test('takes names of Object.prototype as names like any other', () => {
    expect(jsonFault(JSON.parse('{"__proto__":{"constructor":1},"toString":[]}'))).toBeUndefined();
  });

  test.each([
    ['a lone surrogate', { a: ['\ud800'] }, 'must be well-formed Unicode'],
    ['a lone surrogate in a name', { a: { '\udc00': 1 } }, 'must be well-formed Unicode'],
    ['an infinite number', [Number.POSITIVE_INFINITY], 'must be a finite number'],
    ['not a number', { a: Number.NaN }, 'must be a finite number'],
    ['a big integer', { a: 1n }, 'must be JSON'],
    ['a function', { a: () => 1 }, 'must be JSON'],
    ['a symbol', Symbol('s'), 'must be JSON'],
    ['nothing at all', undefined, 'must be JSON'],
    ['a hole in a list', [undefined], 'must be JSON'],
    ['a date', { at: new Date(0) }, 'must be a plain object'],
    ['bytes', { raw: new Uint8Array(2) }, 'must be a plain object'],
    ['a map', new Map([['a', 1]]), 'must be a plain object'],
  ])('names %s', (_, value, fault) => {
    expect(jsonFault(value)).toBe(fault);
  });

  test.each([
    ['lists', (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`],
    ['objects', (depth: number) => `${'{"a":'.repeat(depth)}{}${'}'.repeat(depth)}`],
  ])('takes %s nested so deep that they can be written, and no deeper', (_, text) => {
    const deepest = JSON.parse(text(MAX_NESTING - 1));
    expect(jsonFault(deepest)).toBeUndefined();
    expect(() => JSON.stringify(deepest)).not.toThrow();
    for (const depth of [MAX_NESTING + 1, 5_000, 100_000]) {
      expect(jsonFault(JSON.parse(text(depth)))).toBe('must not be nested more than 100 levels deep');
    }
  });

  test('ends on a value that contains itself, also many times', () => {
    const cycle: Record<string, unknown> = {};
    for (const name of ['a', 'b', 'c']) cycle[name] = [cycle, cycle];
    expect(jsonFault(cycle)).toBe('must not be nested more than 100 levels deep');
  });
});
