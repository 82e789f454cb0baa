import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passedBound } from '../../model/json-scan.js';
import { DEFAULT_REQUEST_LIMITS } from './binding-context.js';
import { parseJson } from './json-body.js';

/** The depth of a parsed value, counted by recursion. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const brackets = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', 'a'), maxLength: 30 });
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'large' },
    brackets,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(brackets, tie('value'), { maxKeys: 3 }),
  ),
})).value;

describe('the depth of JSON', () => {
  it('is what nests, whatever stands in its strings', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 0, max: 6 }), fc.boolean(), (value, limit, pretty) => {
        const text = JSON.stringify(value, undefined, pretty ? 1 : 0);
        expect(passedBound(text, { depth: limit, items: 1000 }) === 'depth').toBe(depthOf(value) > limit);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['[[]]', 1, true],
    ['[[]]', 2, false],
    ['[],[],[]', 1, false],
    ['"[[["', 1, false],
    ['["\\"[[[",[]]', 2, false],
    ['["\\\\",[[]]]', 2, true],
    ['"[[[', 1, false],
  ])('of %s is beyond %i: %s', (text, limit, deeper) => {
    expect(passedBound(text, { depth: limit, items: 1000 }) === 'depth').toBe(deeper);
  });
});

/** The members and elements of a parsed value, counted by recursion. */
function itemsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  return items.reduce((sum: number, item) => sum + itemsOf(item), items.length);
}

describe('the members and elements of JSON', () => {
  it('are counted, whatever stands in its strings', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 0, max: 6 }), fc.boolean(), (value, items, pretty) => {
        const text = JSON.stringify(value, undefined, pretty ? 1 : 0);
        expect(passedBound(text, { depth: 1000, items }) === 'items').toBe(itemsOf(value) > items);
      }),
      { numRuns: 1000 },
    );
  });

  it('are 100,000 at most by default, and the error names the limit', () => {
    const list = (length: number) => JSON.stringify(new Array(length).fill(0));
    expect(parseJson(list(100_000), DEFAULT_REQUEST_LIMITS)).toHaveLength(100_000);
    expect(() => parseJson(list(100_001), DEFAULT_REQUEST_LIMITS)).toThrow(
      expect.objectContaining({
        code: 'INVALID_REQUEST',
        message: expect.stringContaining('100000'),
        details: { metadata: { limit: 'jsonItems' } },
      }),
    );
  });
});

describe('JSON of a body', () => {
  it('is parsed up to the limit of values, with the levels around them', () => {
    const text = `${'['.repeat(116)}${']'.repeat(116)}`;
    expect(depthOf(parseJson(text, DEFAULT_REQUEST_LIMITS))).toBe(116);
    expect(() => parseJson(`[${text}]`, DEFAULT_REQUEST_LIMITS)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST' }),
    );
  });

  it('that is broken is a parse error without the words of the parser', () => {
    expect(() => parseJson('{"a":', DEFAULT_REQUEST_LIMITS)).toThrow(
      expect.objectContaining({ code: 'PARSE_ERROR', message: 'Invalid JSON payload' }),
    );
  });
});
