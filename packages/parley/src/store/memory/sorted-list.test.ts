import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SortedList } from './sorted-list.js';

interface Item {
  readonly key: number;
}

it('holds what a sorted array would hold, whatever is added and removed', () => {
  const operation = fc.tuple(fc.constantFrom('add', 'add', 'add', 'remove'), fc.nat({ max: 5_000 }));
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 3_000, size: 'max' }), fc.nat({ max: 5_000 }), (operations, from) => {
      const list = new SortedList<Item>((a, b) => a.key - b.key);
      const items = new Map<number, Item>();
      for (const [what, key] of operations) {
        const item = items.get(key) ?? { key };
        if (what === 'remove') {
          expect(list.remove(item)).toBe(items.delete(key));
        } else if (!items.has(key)) {
          items.set(key, item);
          list.add(item);
        }
      }
      const sorted = [...items.keys()].sort((a, b) => a - b);
      expect(list.size).toBe(sorted.length);
      expect([...list.ascending()].map(({ key }) => key)).toEqual(sorted);
      expect([...list.descending()].map(({ key }) => key)).toEqual(sorted.toReversed());
      const behind = [...list.descending(({ key }) => key < from)].map(({ key }) => key);
      expect(behind).toEqual(sorted.filter((key) => key < from).reverse());
      expect(list.count(({ key }) => key < from)).toBe(behind.length);
    }),
    { numRuns: 60 },
  );
});

it('takes many items in ascending order', () => {
  const list = new SortedList<Item>((a, b) => a.key - b.key);
  const items = Array.from({ length: 10_000 }, (_, key) => ({ key }));
  for (const item of items) list.add(item);
  expect([...list.ascending()]).toEqual(items);
  for (const item of items.filter(({ key }) => key % 3 !== 0)) expect(list.remove(item)).toBe(true);
  expect([...list.descending()].map(({ key }) => key)).toEqual(
    items.flatMap(({ key }) => (key % 3 === 0 ? [key] : [])).reverse(),
  );
  expect(list.remove({ key: 3 })).toBe(false);
});
