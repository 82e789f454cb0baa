import { expect, it } from 'vitest';
import type { FileScope } from '../../packages/parley/src/files/file-store.js';
import { MemoryFileStore } from '../../packages/parley/src/files/memory/memory-file-store.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { fileOf, fileStoreContract, SCOPE } from './file-store-contract.js';
import { uploadStoreContract } from './upload-store-contract.js';

fileStoreContract('memory', async (clock) => ({ store: new MemoryFileStore({ clock }) }));
uploadStoreContract('memory', async (clock) => ({ store: new MemoryFileStore({ clock }) }));

const DECLARED = { maxBytes: 1_000_000, ownerBytes: 1_000_000 };
const BOB = { ...SCOPE, owner: 'bob' };
const CAROL = { ...SCOPE, owner: 'carol' };
const noRoom = (limit: string) => ({ code: 'RESOURCE_EXHAUSTED', details: { metadata: { limit } } });

it('memory has a bound for the files of all owners, and half of it for one', async () => {
  const clock = new ManualClock();
  const store = new MemoryFileStore({ clock, storeBytes: 100_000 });
  const put = (scope: FileScope, size: number) => store.put(scope, fileOf(['x'.repeat(size)], clock), DECLARED);
  const { id } = await put(SCOPE, 40_000);
  await expect(put(SCOPE, 20_000)).rejects.toMatchObject(noRoom('ownerBytes'));
  await put(BOB, 50_000);
  await expect(put(CAROL, 20_000)).rejects.toMatchObject(noRoom('storeBytes'));
  await store.delete(SCOPE, id);
  await put(CAROL, 50_000);
});

function startUploads(storeBytes: number) {
  const clock = new ManualClock();
  const store = new MemoryFileStore({ clock, storeBytes });
  let count = 0;
  async function* chunksOf(...sizes: number[]) {
    for (const size of sizes) yield new Uint8Array(size);
  }
  return {
    store,
    clock,
    begin: async (scope: FileScope, size: number) => {
      const id = String(count++).padStart(32, '0');
      const about = { id, size, createdAt: clock.now(), expiresAt: clock.now() + 1_000 };
      await store.uploads.begin(scope, about, DECLARED);
      return id;
    },
    append: (scope: FileScope, id: string, ...sizes: number[]) =>
      store.uploads.append(scope, { id, offset: 0, chunks: chunksOf(...sizes) }),
    put: (scope: FileScope, size: number) => store.put(scope, fileOf(['x'.repeat(size)], clock), DECLARED),
  };
}

it('the size of an upload counts for its owner, but only bytes that come take room in memory', async () => {
  const { store, begin, append, put } = startUploads(300_000);
  const ids = [await begin(SCOPE, 150_000), await begin(BOB, 150_000)];
  await expect(begin(SCOPE, 1)).rejects.toMatchObject(noRoom('ownerBytes'));
  // The first byte takes no room for the others.
  for (const [at, scope] of [SCOPE, BOB].entries()) expect(await append(scope, ids[at] ?? '', 1)).toBe(1);
  await put(CAROL, 150_000);
  expect(await store.uploads.remove(SCOPE, ids[0] ?? '')).toBe(true);
  await begin(SCOPE, 150_000);
});

it('an upload for whose bytes memory has no room keeps those that had, and goes on later', async () => {
  const { store, begin, append, put } = startUploads(200_000);
  const id = await begin(SCOPE, 90_000);
  const files = [await put(BOB, 90_000), await put(CAROL, 60_000)];
  await expect(append(SCOPE, id, 20_000, 20_000, 20_000)).rejects.toMatchObject(noRoom('storeBytes'));
  expect((await store.uploads.find(SCOPE, id))?.offset).toBe(40_000);
  await store.delete(BOB, files[0]?.id ?? '');
  async function* rest() {
    yield new Uint8Array(50_000);
  }
  expect(await store.uploads.append(SCOPE, { id, offset: 40_000, chunks: rest() })).toBe(90_000);
});

it('single bytes take at most twice their room, which an upload gives back when it goes', async () => {
  const { store, begin, append, put } = startUploads(200_000);
  const id = await begin(SCOPE, 90_000);
  expect(await append(SCOPE, id, ...Array.from({ length: 30_000 }, () => 1))).toBe(30_000);
  await put(BOB, 100_000);
  await store.uploads.remove(SCOPE, id);
  await put(CAROL, 100_000);
});

it('an upload that is removed while bytes come is gone, and takes no room', async () => {
  const { store, begin, put } = startUploads(200_000);
  const id = await begin(SCOPE, 90_000);
  async function* chunks() {
    yield new Uint8Array(10_000);
    await store.uploads.remove(SCOPE, id);
    yield new Uint8Array(10_000);
  }
  expect(await store.uploads.append(SCOPE, { id, offset: 0, chunks: chunks() })).toBeUndefined();
  await put(BOB, 100_000);
  await put(CAROL, 100_000);
});

it('files and uploads that begin again after they expired give their room back', async () => {
  const clock = new ManualClock();
  const store = new MemoryFileStore({ clock, storeBytes: 200_000 });
  const about = () => ({ createdAt: clock.now(), expiresAt: clock.now() + 1_000 });
  const ids = ['a', 'b'].map((letter) => letter.repeat(32));
  const [file = '', upload = ''] = ids;
  for (const owner of ['ada', 'bob', 'carol']) {
    const scope = { ...SCOPE, owner };
    for (let time = 0; time < 3; time++) {
      await store.put(scope, fileOf(['x'.repeat(30_000)], clock, { id: file, ...about() }), DECLARED);
      await store.uploads.begin(scope, { id: upload, size: 30_000, ...about() }, DECLARED);
      await store.uploads.append(scope, { id: upload, offset: 0, chunks: fileOf(['x'.repeat(20_000)], clock).chunks });
      await clock.advance(1_000);
    }
    await store.sweep();
  }
  // All room is free again, but no more than that.
  await store.put(SCOPE, fileOf(['x'.repeat(100_000)], clock), DECLARED);
  await store.put(BOB, fileOf(['x'.repeat(100_000)], clock), DECLARED);
  await expect(store.put(CAROL, fileOf(['x'], clock), DECLARED)).rejects.toMatchObject(noRoom('storeBytes'));
});

it('an upload that becomes a file in the place of an expired one gives back the room of that one', async () => {
  const { store, begin, append, put, clock } = startUploads(200_000);
  const id = await begin(SCOPE, 20_000);
  const old = { id, createdAt: clock.now(), expiresAt: clock.now() + 500 };
  await store.put(SCOPE, fileOf(['x'.repeat(30_000)], clock, old), DECLARED);
  await clock.advance(500);
  await append(SCOPE, id, 20_000);
  const check = async () => ({ mediaType: 'x/y', digest: 'x' });
  await store.uploads.complete(SCOPE, { id, createdAt: clock.now(), expiresAt: clock.now() + 500, check });
  expect(await store.usage(SCOPE)).toEqual({ files: 1, bytes: 20_000 });
  await store.delete(SCOPE, id);
  await put(BOB, 100_000);
  await put(SCOPE, 100_000);
});

it('files and uploads take at least 4 KiB of memory, however small they are', async () => {
  const clock = new ManualClock();
  const store = new MemoryFileStore({ clock, storeBytes: 10 * 4096 });
  const scopes = Array.from({ length: 10 }, (_, at) => ({ ...SCOPE, owner: `user ${at}` }));
  const ids: string[] = [];
  for (const scope of scopes) ids.push((await store.put(scope, fileOf([], clock), DECLARED)).id);
  const one = () => store.put(BOB, fileOf([], clock), DECLARED);
  await expect(one()).rejects.toMatchObject(noRoom('storeBytes'));
  for (const [at, scope] of scopes.entries()) await store.delete(scope, ids[at] ?? '');
  const upload = { id: 'a'.repeat(32), size: 4096, createdAt: clock.now(), expiresAt: clock.now() + 1_000 };
  for (const scope of scopes) {
    await store.uploads.begin(scope, upload, DECLARED);
    await store.uploads.append(scope, { id: upload.id, offset: 0, chunks: fileOf(['x'.repeat(4096)], clock).chunks });
  }
  await expect(one()).rejects.toMatchObject(noRoom('storeBytes'));
  await store.uploads.remove(scopes[0] ?? SCOPE, upload.id);
  await one();
  await expect(one()).rejects.toMatchObject(noRoom('storeBytes'));
});
