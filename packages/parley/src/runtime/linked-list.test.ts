import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LinkedList, type Place } from './linked-list.js';

describe('a list of what comes and goes', () => {
  it('holds what has come and not gone, in the order it came', () => {
    const steps = fc.array(fc.record({ adds: fc.boolean(), at: fc.nat(20) }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const list = new LinkedList<number>();
        const judge: number[] = [];
        const places: Place<number>[] = [];
        for (const [value, { adds, at }] of all.entries()) {
          const place = places[at];
          if (adds) {
            places.push(list.add(value));
            judge.push(value);
          } else if (place !== undefined) {
            const { value: gone } = place;
            list.remove(place);
            if (gone !== undefined) judge.splice(judge.indexOf(gone), 1);
          }
          expect(list.values()).toEqual(judge);
          expect(list.size).toBe(judge.length);
          expect(list.first?.value).toBe(judge[0]);
        }
      }),
    );
  });

  it('lets go of what leaves', () => {
    const list = new LinkedList<object>();
    const places = [list.add({}), list.add({}), list.add({})];
    for (const place of places) list.remove(place);
    for (const place of places) expect(place).toMatchObject({ value: undefined, before: undefined, after: undefined });
  });
});
