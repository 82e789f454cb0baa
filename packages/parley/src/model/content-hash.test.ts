import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.js';
import { contentHash } from './content-hash.js';
import type { JsonValue } from './json.js';

/** As it arrives: JSON has no -0. */
const values = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);

function reverseMembers(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reverseMembers) as JsonValue;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reverseMembers(member)]),
  );
}

it('is the same for equal values, whatever the order of their members', () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(contentHash(reverseMembers(value))).toBe(contentHash(value));
      expect(contentHash(value)).toMatch(/^[\da-f]{16}$/);
    }),
  );
});

it('differs where the values differ', () => {
  fc.assert(
    fc.property(values, values, (one, other) => {
      expect(contentHash(one) === contentHash(other)).toBe(canonicalJson(one) === canonicalJson(other));
    }),
    { numRuns: 2_000 },
  );
});

it.each<[JsonValue, JsonValue]>([
  ['1', 1],
  ['', []],
  [[], {}],
  [null, 'null'],
  [['a', 'b'], ['ab']],
  [
    ['a', ['b']],
    [['a'], 'b'],
  ],
  [{ a: 'b' }, { b: 'a' }],
  [{ a: { b: 1 } }, { a: {}, b: 1 }],
  ['\ud800', '\ud801'],
  ['ab', 'ba'],
])('tells %j from %j', (one, other) => {
  expect(contentHash(one)).not.toBe(contentHash(other));
});

it('stays the same from version to version: storages keep it', () => {
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'héllo' }], metadata: { b: 2, a: null } };
  expect(contentHash(message)).toBe('98b4eb83f9799ee4');
});
