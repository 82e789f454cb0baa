import { describe, expect, it } from 'vitest';
import { EqualTimers } from '../../packages/parley/src/runtime/equal-timers.js';
import { steadyStorage } from '../../packages/parley/src/server/execution/steady-storage.js';
import { interceptedStorage, type StorageCall } from '../../packages/parley/src/store/intercepted-storage.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { sealedStorage } from '../../packages/parley/src/store/sealed-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { mortalStorage } from '../../packages/testing/src/mortal-storage.js';
import { EVERY_CALL } from './storage/every-call.js';

const CALLS = Object.keys(EVERY_CALL) as (keyof typeof EVERY_CALL)[];

/** Makes a storage in memory that records its calls. */
function createNotingStorage() {
  const clock = new ManualClock();
  const arrived: StorageCall[] = [];
  const storage = interceptedStorage(new MemoryStorage({ clock }), (call, _args, run) => {
    arrived.push(call);
    return run();
  });
  return { clock, arrived, storage };
}

async function outcomeOf(call: () => Promise<unknown>): Promise<unknown> {
  return call().then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
}

describe('a wrapped storage', () => {
  it.each(CALLS)('passes %s on by its name, with the answer of the storage', async (name) => {
    const { clock, arrived, storage } = createNotingStorage();
    const plain = await outcomeOf(() => EVERY_CALL[name](new MemoryStorage({ clock })));
    expect(await outcomeOf(() => EVERY_CALL[name](storage))).toEqual(plain);
    expect(arrived).toEqual([name]);
  });

  it.each(CALLS)('of a process passes %s on while the process lives, and never after its death', async (name) => {
    const { clock, arrived, storage } = createNotingStorage();
    const { storage: view, die } = mortalStorage(storage, () => {});
    await outcomeOf(() => EVERY_CALL[name](view));
    expect(arrived).toEqual([name]);
    die();
    let isAnswered = false;
    void outcomeOf(() => EVERY_CALL[name](view)).then(() => {
      isAnswered = true;
    });
    await clock.settle();
    expect([isAnswered, arrived]).toEqual([false, [name]]);
  });

  it.each(CALLS)('with encrypted credentials passes %s on', async (name) => {
    const { arrived, storage } = createNotingStorage();
    await outcomeOf(() => EVERY_CALL[name](sealedStorage(storage, { keys: ['a'.repeat(64)], logger: silentLogger })));
    expect(arrived).toEqual([name]);
  });

  it('that others share has bounded reads, those of idempotency keys too', async () => {
    const clock = new ManualClock();
    const hung = interceptedStorage(new MemoryStorage({ clock }), () => new Promise(() => {}), { shared: true });
    const storage = steadyStorage(hung, new EqualTimers(clock, 1_000));
    const ended: string[] = [];
    for (const name of CALLS) {
      EVERY_CALL[name](storage).catch(({ code }: { readonly code: string }) => ended.push(`${name} ${code}`));
    }
    await clock.advance(1_000);
    const reads = ['task', 'tasks', 'records', 'abandoned', 'keys.recall'];
    expect(ended).toEqual(reads.map((name) => `${name} UNAVAILABLE`));
  });
});
