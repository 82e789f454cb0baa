import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.js';
import type { JsonValue } from './json.js';

/** The same members in another order, at every level. */
function reverseMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reverseMembers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, reverseMembers(item)]),
  );
}

describe('the canonical text of a JSON value (RFC 8785)', () => {
  it('has its members in the order of their UTF-16 code units, at every level', () => {
    const names = { '\u4e16': 1, '\t': 2, '\uffee': 3, '10': 4, '\u{1f600}': 5, é: 6, Z: 7, '9': 8 };
    expect(canonicalJson({ b: [{ z: 1, a: 2 }], a: names })).toBe(
      '{"a":{"\\t":2,"10":4,"9":8,"Z":7,"é":6,"\u4e16":1,"\u{1f600}":5,"\uffee":3},"b":[{"a":2,"z":1}]}',
    );
  });

  it.each<readonly [JsonValue, string]>([
    ['\u00e9\u0001"\\/\u007f', '"é\\u0001\\"\\\\/\u007f"'],
    ['\b\t\n\f\r', '"\\b\\t\\n\\f\\r"'],
    [1e21, '1e+21'],
    [0.000001, '0.000001'],
    [1e-7, '1e-7'],
    [-0, '0'],
    [4.5, '4.5'],
    [0.1 + 0.2, '0.30000000000000004'],
    [null, 'null'],
    [[], '[]'],
    [{}, '{}'],
  ])('writes %j as %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('is the same whatever the order of members, and reads back as the value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = canonicalJson(value as JsonValue);
        expect(canonicalJson(reverseMembers(value as JsonValue))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each<readonly [string, JsonValue]>([
    ['a lone surrogate', '\ud800'],
    ['one in a name', { '\udc00': 1 }],
    ['a number that is none', JSON.parse('1e999')],
    ['endless nesting', JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
  ])('does not exist for %s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(RangeError);
  });
});
