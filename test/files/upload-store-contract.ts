import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A2AError } from '../../packages/parley/src/errors/a2a-error.js';
import type { FileScope, FileStore } from '../../packages/parley/src/files/file-store.js';
import type { NewUpload, UploadStore } from '../../packages/parley/src/files/upload-store.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { newId, type OpenedStore, type OpenFileStore, SCOPE } from './file-store-contract.js';

const MIB = 1024 * 1024;
const LIMITS = { maxBytes: 64 * MIB, ownerBytes: 128 * MIB };
const HOUR_MS = 3_600_000;

/** Bytes in chunks, which may break off after some of them. */
export async function* chunksOf(bytes: Uint8Array, cutAfter = Number.POSITIVE_INFINITY): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) {
    if (at >= cutAfter) throw new Error('the sender left');
    yield bytes.subarray(at, Math.min(at + 65_536, bytes.length));
  }
}

/** The contract of stores that take uploads in several requests. `size`: of the file that is sent. */
export function uploadStoreContract(name: string, open: OpenFileStore, size = 700_000): void {
  describe(`uploads in ${name}`, () => {
    const content = randomBytes(size);
    const facts = { mediaType: 'x/y', digest: createHash('sha256').update(content).digest('base64') };
    let clock: ManualClock;
    let opened: OpenedStore;
    let store: FileStore;
    let uploads: UploadStore;

    beforeEach(async () => {
      clock = new ManualClock();
      opened = await open(clock);
      store = opened.store;
      if (store.uploads === undefined) throw new Error('The store takes no uploads');
      uploads = store.uploads;
    });
    afterEach(() => opened.close?.());

    const newUpload = (about: Partial<NewUpload> = {}): NewUpload => ({
      id: newId(),
      size,
      createdAt: clock.now(),
      expiresAt: clock.now() + HOUR_MS,
      filename: 'ä.bin',
      ...about,
    });
    const send = (id: string, offset: number, end = size, scope: FileScope = SCOPE) =>
      uploads.append(scope, { id, offset, chunks: chunksOf(content.subarray(offset, end)) });
    const complete = (id: string, scope: FileScope = SCOPE) =>
      uploads.complete(scope, {
        id,
        createdAt: clock.now(),
        expiresAt: clock.now() + HOUR_MS,
        check: async (chunks) => {
          const hash = createHash('sha256');
          for await (const chunk of chunks) hash.update(chunk);
          return { mediaType: 'x/y', digest: hash.digest('base64') };
        },
      });
    const readStored = async (id: string) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await store.read(SCOPE, id))?.chunks ?? []) chunks.push(new Uint8Array(chunk));
      return Buffer.concat(chunks);
    };

    it('become files, from as many pieces as their senders make', async () => {
      const upload = newUpload();
      const { id } = upload;
      await uploads.begin(SCOPE, upload, LIMITS);
      expect(await uploads.find(SCOPE, id)).toEqual({ ...upload, offset: 0 });
      for (const [from, to] of [
        [0, 10],
        [10, Math.floor(size / 3)],
        [Math.floor(size / 3), size - 5],
        [size - 5, size],
      ] as const) {
        expect(await send(id, from, to)).toBe(to);
        expect(await uploads.find(SCOPE, id)).toMatchObject({ offset: to, size });
        expect(await store.head(SCOPE, id)).toBeUndefined();
      }
      expect(await complete(id)).toMatchObject({ id, size, ...facts });
      expect((await readStored(id)).equals(content)).toBe(true);
      expect(await uploads.find(SCOPE, id)).toBeUndefined();
      expect(await complete(id)).toBeUndefined();
      expect(await store.usage(SCOPE)).toEqual({ files: 1, bytes: size });
    });

    it('may be empty', async () => {
      const upload = newUpload({ size: 0 });
      await uploads.begin(SCOPE, upload, LIMITS);
      expect(await complete(upload.id)).toMatchObject({ size: 0 });
      expect(await readStored(upload.id)).toHaveLength(0);
    });

    it('keep what came before a cut', async () => {
      const { id } = newUpload();
      await uploads.begin(SCOPE, newUpload({ id }), LIMITS);
      const half = Math.floor(size / 2);
      await expect(uploads.append(SCOPE, { id, offset: 0, chunks: chunksOf(content, half) })).rejects.toThrow('left');
      const { offset = 0 } = (await uploads.find(SCOPE, id)) ?? {};
      expect(offset).toBeGreaterThanOrEqual(half);
      await send(id, offset);
      expect(await complete(id)).toMatchObject(facts);
      expect((await readStored(id)).equals(content)).toBe(true);
    });

    it('take bytes at their offset only, and no more than their size', async () => {
      const { id } = newUpload();
      await uploads.begin(SCOPE, newUpload({ id, size: 100 }), LIMITS);
      await expect(send(id, 1, 5)).rejects.toMatchObject({ name: 'UploadOffsetError', offset: 0 });
      await expect(send(id, 0, 101)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      await expect(complete(id)).rejects.toMatchObject({ name: 'UploadOffsetError' });
      const { offset = 0 } = (await uploads.find(SCOPE, id)) ?? {};
      expect(await send(id, offset, 100)).toBe(100);
      expect(await complete(id)).toMatchObject({ size: 100 });
    });

    it('belong to one scope', async () => {
      const { id } = newUpload();
      await uploads.begin(SCOPE, newUpload({ id }), LIMITS);
      for (const other of [
        { ...SCOPE, owner: 'bob' },
        { ...SCOPE, owner: null },
        { ...SCOPE, tenant: 'ada' },
      ]) {
        expect(await uploads.find(other, id)).toBeUndefined();
        expect(await send(id, 0, 5, other)).toBeUndefined();
        expect(await complete(id, other)).toBeUndefined();
        expect(await uploads.remove(other, id)).toBe(false);
      }
      for (const wrong of ['', '..', 'x'.repeat(32)]) expect(await uploads.find(SCOPE, wrong)).toBeUndefined();
    });

    it('count for the quota with their whole size, and no more once they are removed', async () => {
      const limits = { maxBytes: size, ownerBytes: 2 * size };
      await expect(uploads.begin(SCOPE, newUpload({ size: size + 1 }), limits)).rejects.toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
      });
      const { id } = newUpload();
      await uploads.begin(SCOPE, newUpload({ id }), limits);
      await uploads.begin(SCOPE, newUpload(), limits);
      const more = uploads.begin(SCOPE, newUpload(), limits);
      await expect(more).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
      expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 2 * size });
      await send(id, 0, 10);
      expect(await uploads.remove(SCOPE, id)).toBe(true);
      expect(await uploads.remove(SCOPE, id)).toBe(false);
      expect(await uploads.find(SCOPE, id)).toBeUndefined();
      await uploads.begin(SCOPE, newUpload(), limits);
    });

    it('stay if they are refused at their end, until they are removed', async () => {
      const { id } = newUpload();
      await uploads.begin(SCOPE, newUpload({ id }), LIMITS);
      await send(id, 0);
      const check = () => Promise.reject(new A2AError('INVALID_REQUEST', 'wrong digest'));
      const end = { id, createdAt: clock.now(), expiresAt: clock.now() + HOUR_MS, check };
      await expect(uploads.complete(SCOPE, end)).rejects.toThrow('wrong digest');
      expect(await store.head(SCOPE, id)).toBeUndefined();
      expect(await uploads.find(SCOPE, id)).toMatchObject({ offset: size });
      expect(await uploads.remove(SCOPE, id)).toBe(true);
      expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
    });

    it('are gone after their time, and a sweep gives their quota back', async () => {
      const { id } = newUpload();
      await uploads.begin(SCOPE, newUpload({ id, expiresAt: clock.now() + 1_000 }), LIMITS);
      await send(id, 0, size - 5);
      const late = newUpload();
      await uploads.begin(SCOPE, late, LIMITS);
      await clock.advance(1_000);
      expect(await uploads.find(SCOPE, id)).toBeUndefined();
      expect(await send(id, size - 5)).toBeUndefined();
      await store.sweep();
      expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: size });
      expect(await uploads.find(SCOPE, late.id)).toMatchObject({ offset: 0 });
    });

    it('that begin again after they expired are new uploads, and count once', async () => {
      const limits = { maxBytes: size, ownerBytes: size + 5_000 };
      const { id } = newUpload();
      for (let time = 0; time < 3; time++) {
        await uploads.begin(SCOPE, newUpload({ id, expiresAt: clock.now() + 1_000 }), limits);
        expect(await uploads.find(SCOPE, id)).toMatchObject({ offset: 0 });
        expect(await send(id, 0, size - 5)).toBe(size - 5);
        expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: size });
        await clock.advance(1_000);
      }
      const begun = uploads.begin(SCOPE, newUpload({ id }), limits);
      await Promise.all([begun, store.sweep()]);
      expect(await send(id, 0)).toBe(size);
      await store.sweep();
      expect(await complete(id)).toMatchObject(facts);
      expect(await store.usage(SCOPE)).toEqual({ files: 1, bytes: size });
      await store.delete(SCOPE, id);
      await uploads.begin(SCOPE, newUpload(), limits);
    });
  });
}
