import { afterAll, beforeAll, describe, it } from 'vitest';
import { BINDINGS, type BindingRow, type MatrixVersion } from './bindings.js';
import { apartFrom } from './outcome.js';
import { ALL, outcomesOf } from './outcomes-of.js';
import { MEMORY, type OpenedStore, type StoreRow } from './stores.js';
import { World } from './world.js';

type Outcomes = ReadonlyMap<string, unknown>;

const CELLS: readonly (readonly [string, MatrixVersion, BindingRow])[] = BINDINGS.flatMap((binding) =>
  binding.versions.map((version) => [binding.name, version, binding] as const),
);

/** The bindings differ in front of the storage only: behind memory, the short form plays one cell in three. */
function cellsFor(store: StoreRow): typeof CELLS {
  return CELLS.filter((_, at) => store === MEMORY || process.env.TEST_LONG !== undefined || at % 3 === 0);
}

/** The outcomes of the reference by version: those of the first binding in memory. */
async function referenceOutcomes(): Promise<ReadonlyMap<MatrixVersion, Outcomes>> {
  const [reference] = BINDINGS;
  if (reference === undefined) throw new Error('There is a binding');
  await using opened = await MEMORY.open();
  await using world = await World.start(opened.storage);
  const outcomes = reference.versions.map(
    async (version) => [version, await outcomesOf(world, reference, version)] as const,
  );
  return new Map(await Promise.all(outcomes));
}

/** The suite on one store: every binding in every version leads to the outcomes of the reference. */
export function everyBinding(store: StoreRow): void {
  describe(`every binding on ${store.name}`, () => {
    let opened: OpenedStore;
    let world: World;
    let expected: ReadonlyMap<MatrixVersion, Outcomes>;
    beforeAll(async () => {
      expected = await referenceOutcomes();
      opened = await store.open();
      world = await World.start(opened.storage);
    }, 120_000);
    afterAll(async () => {
      await world[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    });

    // Each cell waits for an agent that no caller cancels, so they wait together.
    it.concurrent.for(cellsFor(store))(
      '%s %s leads to the outcomes of the reference',
      { timeout: 120_000 },
      async ([, version, binding], { expect }) => {
        const outcomes = await outcomesOf(world, binding, version);
        expect(outcomes.size).toBeGreaterThan(binding.operations === undefined ? 150 : 80);
        const shown = binding.normalize ?? ((outcome: unknown) => outcome);
        for (const { name, differs = false } of ALL) {
          if (!outcomes.has(name)) continue;
          const outcome = outcomes.get(name);
          const reference = expected.get(differs ? version : '1.0')?.get(name);
          expect.soft(outcome, name).not.toHaveProperty('failed');
          expect.soft(shown(outcome), name).toEqual(shown(apartFrom(binding.apart ?? [], reference)));
        }
      },
    );
  });
}
