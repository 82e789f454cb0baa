import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BINDINGS, type MatrixVersion } from './every-binding/bindings.js';
import { apartFrom } from './every-binding/outcome.js';
import { ALL, outcomesOf } from './every-binding/outcomes-of.js';
import { type OpenedStore, STORES } from './every-binding/stores.js';
import { World } from './every-binding/world.js';

const isLong = process.env.TEST_LONG !== undefined && process.env.TEST_LONG !== '';
const stores = STORES.filter((store) => (isLong || store.isLong !== true) && store.isThere?.() !== false);
const [REFERENCE] = BINDINGS;
const FIRST_STORE = STORES[0]?.name;

/** The outcomes of the reference, by version. */
const expected = new Map<MatrixVersion, Map<string, unknown>>();

describe.each(stores.map((store) => [store.name, store] as const))('every binding on %s', (name, store) => {
  let opened: OpenedStore;
  let world: World;
  beforeAll(async () => {
    opened = await store.open();
    world = await World.start(opened.storage);
  }, 60_000);
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });

  const cells = BINDINGS.flatMap((binding) =>
    binding.versions.map((version) => [binding.name, version, binding] as const),
  );

  it.each(cells)(
    '%s %s leads to the outcomes of the reference',
    async (_, version, binding) => {
      const outcomes = await outcomesOf(world, binding, version);
      if (binding === REFERENCE && name === FIRST_STORE) expected.set(version, outcomes);
      expect(outcomes.size).toBeGreaterThan(binding.operations === undefined ? 150 : 80);
      for (const { name: scenario, differs = false } of ALL) {
        if (!outcomes.has(scenario)) continue;
        const reference = expected.get(differs ? version : '1.0')?.get(scenario);
        expect.soft(outcomes.get(scenario), scenario).not.toHaveProperty('failed');
        const shown = binding.shown ?? ((outcome: unknown) => outcome);
        expect.soft(shown(outcomes.get(scenario)), scenario).toEqual(shown(apartFrom(binding.apart ?? [], reference)));
      }
    },
    120_000,
  );
});
