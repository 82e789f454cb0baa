import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TransientMap } from './transient-map.js';

describe('a map of what comes and goes', () => {
  it('holds what a map holds, in the same order', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fc.constant('set'), key) },
      { weight: 4, arbitrary: fc.tuple(fc.constant('delete'), key) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('clear'), key) },
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const map = new TransientMap<string, object>();
        const judge = new Map<string, object>();
        for (const [name, at] of steps) {
          const value = { at };
          if (name === 'delete') expect(map.delete(at)).toBe(judge.delete(at));
          else if (name === 'clear') [map, judge].map((each) => each.clear());
          else [map, judge].map((each) => each.set(at, value));
          expect(map.size).toBe(judge.size);
          expect(map.get(at)).toBe(judge.get(at));
          expect(map.values()).toEqual([...judge.values()]);
        }
      }),
    );
  });

  it('tells what was there when it was asked for its values', () => {
    const map = new TransientMap<number, object>();
    map.set(1, { one: 1 });
    const values = map.values();
    map.delete(1);
    expect(values).toEqual([{ one: 1 }]);
    expect(map.values()).toEqual([]);
  });
});
