import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NONE } from './hash-index.js';
import { MemorySpaces } from './memory-space.js';
import { type KeptKey, type KeyList, PackedKeys } from './packed-keys.js';

const OWNERS = ['ann', 'bob', null];
const texts = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('ÿ'.repeat(160), 'x'.repeat(161), 'ﬀ', ''),
);
const outcomes = fc.oneof(
  fc.constant(undefined),
  texts,
  fc.record({ taskId: texts, turn: fc.integer({ min: 0, max: 2 ** 31 - 1 }) }),
);
const kept: fc.Arbitrary<KeptKey> = fc.record({
  key: fc.oneof(fc.constantFrom('a', 'b', 'c'), texts),
  digest: texts,
  outcome: outcomes,
  expiresAt: fc.integer(),
});
/** A hash with few values, so that many keys have equal hashes. */
const hashes = fc.oneof(fc.constantFrom(0, -1, 255, 256, 511), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
const steps = fc.oneof(
  fc.record({ add: kept, hash: hashes, owner: fc.constantFrom(...OWNERS) }),
  fc.record({ removeAt: fc.nat() }),
  fc.record({ addMany: fc.integer({ min: 200, max: 700 }) }),
  fc.constant({ removeAll: true } as const),
);

interface Entry {
  readonly kept: KeptKey;
  readonly hash: number;
  readonly owner: string | null;
  readonly slot: number;
}

it('holds what a list would hold, in its order, whatever is added and removed', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 40 }), (sequence) => {
      const keys = new PackedKeys();
      const spaces = new MemorySpaces();
      const spaceOf = (owner: string | null) => spaces.of({ agent: 'a', tenant: '', owner });
      let model: Entry[] = [];
      const add = (one: KeptKey, hash: number, owner: string | null) => {
        const isThere = model.some((entry) => entry.kept.key === one.key && entry.owner === owner);
        if (!isThere) model.push({ kept: one, hash, owner, slot: keys.add(spaceOf(owner), one, hash) });
      };
      const remove = (entry: Entry) => {
        keys.remove(entry.slot);
        model = model.filter((other) => other !== entry);
      };
      for (const [number, step] of sequence.entries()) {
        if ('add' in step) add(step.add, step.hash, step.owner);
        else if ('removeAll' in step) for (const entry of model) remove(entry);
        else if ('removeAt' in step && model.length > 0) remove(model[step.removeAt % model.length] as Entry);
        for (let at = 0; 'addMany' in step && at < step.addMany; at += 1)
          add(
            { key: `${number} ${at}`, digest: 'd', outcome: { taskId: 't', turn: at }, expiresAt: at },
            at % 300,
            'ann',
          );
      }
      for (const entry of model) {
        expect(keys.find(spaceOf(entry.owner), entry.kept.key, entry.hash)).toBe(entry.slot);
        expect(keys.read(entry.slot)).toEqual(entry.kept);
      }
      expect(keys.find(spaceOf('ann'), 'never added', 0)).toBe(NONE);
      expect(slotsOf(keys)).toEqual(model.map(({ slot }) => slot));
      expect(keys.all.size).toBe(model.length);
      for (const owner of OWNERS) {
        const own = model.filter((entry) => entry.owner === owner);
        for (const { slot } of own) {
          expect(keys.ownedWith(slot)).toMatchObject({ size: own.length, first: own[0]?.slot });
        }
      }
      const owned = new Set(model.map(({ slot }) => keys.ownedWith(slot)));
      expect(bytesOf([...owned])).toBe(keys.all.bytes);
    }),
    { numRuns: 200 },
  );
});

function slotsOf(keys: PackedKeys): number[] {
  const slots: number[] = [];
  for (let slot = keys.all.first; slot !== NONE; slot = keys.after(slot)) slots.push(slot);
  return slots;
}

function bytesOf(lists: readonly KeyList[]): number {
  return lists.reduce((sum, { bytes }) => sum + bytes, 0);
}
