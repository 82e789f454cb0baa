import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OwnerBlocks } from '../../../packages/parley/src/store/owner-blocks.js';
import type { OwnerQuery } from '../../../packages/parley/src/store/owner-query.js';
import type { Scope } from '../../../packages/parley/src/store/task-key.js';
import type { Tested } from './tested-storage.js';

// A database compares the names of blocked owners itself, in the commit that writes new data.

const anyName = fc.constantFrom('a', 'a","b');
const anyOwner = fc.option(anyName, { nil: null, freq: 2 });
const anyScope: fc.Arbitrary<Scope> = fc.record({ agent: anyName, tenant: anyName, owner: anyOwner });
const anyBlock = fc.record({
  owner: anyOwner,
  agent: fc.option(anyName, { nil: undefined, freq: 2 }),
  tenant: fc.option(anyName, { nil: undefined, freq: 2 }),
  forMs: fc.constantFrom(1, 2, 2),
});

/** The property that a storage refuses new data of blocked owners, and of no others. */
export function blockRuleProperty(open: () => Promise<Tested>): void {
  it('new data are refused if the rule of blocks says so', async () => {
    const { storage, clock } = await open();
    let [refused, taken] = [0, 0];
    const key = { key: 'k', digest: 'd', ttlMs: 1 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyBlock, { minLength: 1, maxLength: 3 }),
        fc.array(anyScope, { minLength: 1, maxLength: 5 }),
        async (all, scopes) => {
          const blocks = new OwnerBlocks();
          for (const { forMs, owner, agent, tenant } of all) {
            const query: OwnerQuery = {
              owner,
              ...(agent !== undefined && { agent }),
              ...(tenant !== undefined && { tenant }),
            };
            blocks.set(query, clock.now() + forMs);
            await storage.owners.block(query, forMs);
          }
          clock.pass(1);
          for (const scope of scopes) {
            const isBlocked = blocks.has(scope, clock.now());
            if (isBlocked) refused += 1;
            else taken += 1;
            const task = { id: `t${refused + taken}`, status: { state: 'TASK_STATE_WORKING' } } as const;
            const create = storage.create(scope, task);
            if (isBlocked) await expect(create).rejects.toThrow('are being erased');
            else expect(await create).toBe(true);
            const reserve = storage.keys.reserve(scope, key, { node: 'here', leaseMs: 1 });
            if (isBlocked) await expect(reserve).rejects.toThrow('are being erased');
            else expect(await reserve).toMatchObject({ kind: 'reserved' });
          }
          clock.pass(5);
        },
      ),
      { numRuns: 100 },
    );
    expect(Math.min(refused, taken)).toBeGreaterThan(20);
  }, 60_000);
}
