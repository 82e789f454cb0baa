import { expect, it } from 'vitest';
import { MemoryFileStore } from '../../packages/parley/src/files/memory-file-store.js';
import { ManualClock } from '../support/manual-clock.js';
import { fileOf, fileStoreContract, SCOPE } from './file-store-contract.js';
import { uploadStoreContract } from './upload-store-contract.js';

fileStoreContract('memory', async (clock) => ({ store: new MemoryFileStore({ clock }) }));
uploadStoreContract('memory', async (clock) => ({ store: new MemoryFileStore({ clock }) }));

it('memory has a bound for the files of all owners', async () => {
  const clock = new ManualClock();
  const store = new MemoryFileStore({ clock, storeBytes: 1_000 });
  const limits = { maxBytes: 10_000, ownerBytes: 100_000 };
  const { id } = await store.put(SCOPE, fileOf(['x'.repeat(900)], clock), limits);
  const other = { ...SCOPE, owner: 'bob' };
  const error = { code: 'RESOURCE_EXHAUSTED', details: { metadata: { limit: 'storeBytes' } } };
  await expect(store.put(other, fileOf(['x'.repeat(900)], clock), limits)).rejects.toMatchObject(error);
  await store.delete(SCOPE, id);
  await store.put(other, fileOf(['x'.repeat(900)], clock), limits);
});

it('an upload takes the room of its whole file in memory from the beginning', async () => {
  const clock = new ManualClock();
  const { uploads } = new MemoryFileStore({ clock, storeBytes: 100_000 });
  const limits = { maxBytes: 1_000_000, ownerBytes: 1_000_000 };
  const about = { size: 60_000, createdAt: clock.now(), expiresAt: clock.now() + 1_000 };
  await uploads.begin(SCOPE, { ...about, id: '0'.repeat(32) }, limits);
  const error = { details: { metadata: { limit: 'storeBytes' } } };
  await expect(uploads.begin(SCOPE, { ...about, id: '1'.repeat(32) }, limits)).rejects.toMatchObject(error);
  expect(await uploads.remove(SCOPE, '0'.repeat(32))).toBe(true);
  await uploads.begin(SCOPE, { ...about, id: '1'.repeat(32) }, limits);
});
