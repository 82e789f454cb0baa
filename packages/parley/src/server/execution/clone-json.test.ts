import { describe, expect, it } from 'vitest';
import { cloneJson } from './clone-json.js';

const ROOM = 10_000;

function chain(depth: number): unknown {
  let node: unknown = 'end';
  for (let level = 0; level < depth; level += 1) node = { node };
  return node;
}

describe('a copy of an agent’s value', () => {
  it('shares no object with it', () => {
    const value = { list: [{ a: 1 }], deep: { deeper: { b: 'x' } }, none: null };
    const copy = cloneJson(value, ROOM);
    const before = structuredClone(value);
    value.list.push({ a: 2 });
    if (value.list[0]) value.list[0].a = 3;
    value.deep.deeper.b = 'y';
    expect(copy).toEqual(before);
  });

  it.each([
    ['members without a value', { a: undefined, b: 1 }, { b: 1 }],
    ['what toJSON says', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    [
      'the members of an instance',
      new (class {
        x = 1;
        #y = 2;
        sum = () => this.#y;
        toJSON() {
          return { x: this.x };
        }
      })(),
      { x: 1 },
    ],
    ['the same object in two places', ((same) => [same, same])({ a: 1 }), [{ a: 1 }, { a: 1 }]],
    [
      'a list by its items, whatever its methods do',
      Object.assign([1, 2], { map: () => 'no', [Symbol.iterator]: null }),
      [1, 2],
    ],
    ['100 levels', chain(100), chain(100)],
  ])('is JSON: %s', (_name, value, expected) => {
    expect(cloneJson(value, ROOM)).toEqual(expected);
  });

  it('keeps a member called __proto__ as a member', () => {
    const copy = cloneJson(JSON.parse('{"__proto__":{"polluted":true}}'), ROOM);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true}}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  const circle: Record<string, unknown> = {};
  circle.one = circle;
  circle.two = [circle, circle];
  const itself = { toJSON: () => itself };
  let shared: unknown = 'x';
  for (let level = 0; level < 60; level += 1) shared = [shared, shared];
  it.each([
    ['a BigInt', 1n],
    ['a function', { call: () => {} }],
    ['a symbol', [Symbol('x')]],
    ['a number that is none', Number.NaN],
    ['an infinite number', Number.NEGATIVE_INFINITY],
    ['nothing in a list', [undefined]],
    ['a hole in a list', new Array(3)],
    ['bytes', { raw: new Uint8Array(4) }],
    ['levels without end', chain(118)],
    ['circles, at once', circle],
    ['a toJSON that returns its object', itself],
    ['little that is endless when written out', shared],
    ['a text that is too long', 'x'.repeat(ROOM + 1)],
    ['too many members', Array.from({ length: ROOM }, () => 1)],
    ['names that are too long', { ['x'.repeat(ROOM)]: 1 }],
  ])('there is none of %s', (_name, value) => {
    expect(() => cloneJson(value, ROOM)).toThrow(TypeError);
  });
});
