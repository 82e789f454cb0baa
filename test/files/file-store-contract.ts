import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileScope, FileStore, NewFile } from '../../packages/parley/src/files/file-store.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';

/** A store under test. `close` releases its resources, if it has any. */
export interface OpenedStore {
  readonly store: FileStore;
  close?(): Promise<void>;
}

export type OpenFileStore = (clock: ManualClock) => Promise<OpenedStore>;

export const SCOPE: FileScope = { agent: '/', tenant: '', owner: 'ada' };
const LIMITS = { maxBytes: 1_000_000, ownerBytes: 10_000_000 };
const HOUR_MS = 3_600_000;

let made = 0;

/** An id that no other test has. */
export function newId(): string {
  made += 1;
  return createHash('sha256').update(`${process.pid} ${made}`).digest('hex').slice(0, 32);
}

/** A file of these chunks on its way into a store. */
export function fileOf(
  chunks: readonly string[] | AsyncIterable<Uint8Array>,
  clock: ManualClock,
  about: Partial<NewFile> & { readonly filename?: string } = {},
): NewFile {
  const hash = createHash('sha256');
  const { filename, ...rest } = about;
  async function* bytes() {
    for await (const chunk of chunks) {
      const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
      hash.update(part);
      yield part;
    }
  }
  return {
    id: newId(),
    createdAt: clock.now(),
    expiresAt: clock.now() + HOUR_MS,
    chunks: bytes(),
    finish: () => ({
      ...(filename !== undefined && { filename }),
      mediaType: 'text/plain',
      digest: hash.digest('base64'),
    }),
    ...rest,
  };
}

/** All bytes of an opened file as text. */
export async function textOf(opened: Awaited<ReturnType<FileStore['read']>>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened?.chunks ?? []) chunks.push(new Uint8Array(chunk));
  return Buffer.concat(chunks).toString();
}

/** The contract of every store of files. */
export function fileStoreContract(name: string, open: OpenFileStore): void {
  describe(`files in ${name}`, () => {
    let clock: ManualClock;
    let opened: OpenedStore;
    let store: FileStore;

    beforeEach(async () => {
      clock = new ManualClock();
      opened = await open(clock);
      store = opened.store;
    });
    afterEach(() => opened.close?.());

    it('come out as they went in, with their facts', async () => {
      const file = fileOf(['hel', '', 'lo'], clock, { filename: 'a "b" ü.txt' });
      const stored = await store.put(SCOPE, file, LIMITS);
      expect(stored).toEqual({
        id: file.id,
        filename: 'a "b" ü.txt',
        mediaType: 'text/plain',
        size: 5,
        digest: createHash('sha256').update('hello').digest('base64'),
        createdAt: file.createdAt,
        expiresAt: file.expiresAt,
      });
      expect(await store.head(SCOPE, file.id)).toEqual(stored);
      const read = await store.read(SCOPE, file.id);
      expect(read?.file).toEqual(stored);
      expect(await textOf(read)).toBe('hello');
    });

    it('are copied: their sender uses its buffer again, or frees it', async () => {
      async function* reuseBuffer() {
        const buffer = Buffer.allocUnsafeSlow(50_000);
        for (const letter of 'abcde') {
          buffer.fill(letter);
          yield buffer;
        }
        buffer.buffer.transfer(0);
      }
      const { id } = await store.put(SCOPE, fileOf(reuseBuffer(), clock), LIMITS);
      const expected = [...'abcde'].map((letter) => letter.repeat(50_000)).join('');
      expect(await textOf(await store.read(SCOPE, id))).toBe(expected);
    });

    it('may be empty', async () => {
      const { id } = await store.put(SCOPE, fileOf([], clock), LIMITS);
      expect(await textOf(await store.read(SCOPE, id))).toBe('');
    });

    it('are read in ranges, and only within them', async () => {
      const { id } = await store.put(SCOPE, fileOf(['0123', '456', '789'], clock), LIMITS);
      for (const [start, end] of [
        [0, 10],
        [3, 8],
        [4, 4],
        [9, 10],
        [10, 10],
      ] as const) {
        expect(await textOf(await store.read(SCOPE, id, { start, end }))).toBe('0123456789'.slice(start, end));
      }
      await expect(store.read(SCOPE, id, { start: 3, end: 11 })).rejects.toThrow(RangeError);
      await expect(store.read(SCOPE, id, { start: 5, end: 4 })).rejects.toThrow(RangeError);
    });

    it('belong to one agent, one tenant and one owner', async () => {
      const { id } = await store.put(SCOPE, fileOf(['secret'], clock), LIMITS);
      const others: FileScope[] = [
        { ...SCOPE, owner: 'bob' },
        { ...SCOPE, owner: null },
        { ...SCOPE, tenant: 'ada' },
        { ...SCOPE, agent: '/other' },
        { agent: '/', tenant: 'ada', owner: '' },
      ];
      for (const other of others) {
        expect(await store.head(other, id)).toBeUndefined();
        expect(await store.read(other, id)).toBeUndefined();
        expect(await store.delete(other, id)).toBe(false);
        const isOwner = other.agent === SCOPE.agent && other.owner === SCOPE.owner;
        expect((await store.usage(other)).files).toBe(isOwner ? 1 : 0);
      }
      expect(await textOf(await store.read(SCOPE, id))).toBe('secret');
    });

    it('are found by no other name than an id', async () => {
      for (const name of ['', '..', '../..', 'a/b', '/etc/passwd', '%2e%2e', 'x'.repeat(32), 'A'.repeat(32)]) {
        expect(await store.head(SCOPE, name)).toBeUndefined();
        expect(await store.read(SCOPE, name)).toBeUndefined();
        expect(await store.delete(SCOPE, name)).toBe(false);
      }
    });

    it('of the same id are kept once', async () => {
      const file = fileOf(['first'], clock);
      const first = await store.put(SCOPE, file, LIMITS);
      expect(await store.put(SCOPE, fileOf(['second'], clock, { id: file.id }), LIMITS)).toEqual(first);
      expect(await textOf(await store.read(SCOPE, file.id))).toBe('first');
      expect((await store.usage(SCOPE)).files).toBe(1);
    });

    it('are not there until they are whole, and not after an error', async () => {
      const gate = Promise.withResolvers<void>();
      async function* slow() {
        yield new TextEncoder().encode('begin');
        await gate.promise;
        throw new Error('the sender left');
      }
      const file = fileOf(slow(), clock);
      const putting = store.put(SCOPE, file, LIMITS);
      const failed = expect(putting).rejects.toThrow('the sender left');
      expect(await store.head(SCOPE, file.id)).toBeUndefined();
      gate.resolve();
      await failed;
      expect(await store.read(SCOPE, file.id)).toBeUndefined();
      expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
      const refused = fileOf(['whole'], clock, {
        finish: () => {
          throw new Error('wrong digest');
        },
      });
      await expect(store.put(SCOPE, refused, LIMITS)).rejects.toThrow('wrong digest');
      expect(await store.head(SCOPE, refused.id)).toBeUndefined();
      expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
    });

    it('have a size limit, declared or not', async () => {
      const limits = { ...LIMITS, maxBytes: 8 };
      const error = { code: 'PAYLOAD_TOO_LARGE' };
      await expect(store.put(SCOPE, fileOf(['12345', '6789'], clock), limits)).rejects.toMatchObject(error);
      let isRead = false;
      async function* never() {
        isRead = true;
        yield new Uint8Array(9);
      }
      await expect(store.put(SCOPE, fileOf(never(), clock, { size: 9 }), limits)).rejects.toMatchObject(error);
      expect(isRead).toBe(false);
      expect(await store.put(SCOPE, fileOf(['12345678'], clock), limits)).toMatchObject({ size: 8 });
    });

    it('cannot pass the quota together', async () => {
      const limits = { maxBytes: 100_000, ownerBytes: 500_000 };
      const some = (size: number | undefined) => {
        const chunks = Array.from({ length: 10 }, () => 'x'.repeat(10_000));
        return fileOf(chunks, clock, { size });
      };
      const puts = Array.from({ length: 20 }, (_, at) => store.put(SCOPE, some(at % 2 ? 100_000 : undefined), limits));
      const outcomes = await Promise.allSettled(puts);
      const refused = outcomes.filter((one) => one.status === 'rejected');
      for (const { reason } of refused) expect(reason).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
      const { bytes, files } = await store.usage(SCOPE);
      expect(files).toBe(20 - refused.length);
      expect(files).toBeGreaterThan(0);
      expect(bytes).toBeLessThanOrEqual(500_000);
      // Refused files use no space, and each owner has a separate limit.
      const left = Math.floor((500_000 - bytes) / 100_000);
      for (let at = 0; at < left; at++) await store.put(SCOPE, some(100_000), limits);
      await expect(store.put(SCOPE, some(100_000), limits)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
      await store.put({ ...SCOPE, owner: 'bob' }, some(100_000), limits);
    });

    it('of one owner have one quota, whatever tenants they name', async () => {
      const limits = { maxBytes: 100_000, ownerBytes: 250_000 };
      const bytes = () => fileOf(['x'.repeat(100_000)], clock);
      const tenants = ['', 'one', 'two'].map((tenant) => ({ ...SCOPE, tenant }));
      const [first, second, third] = tenants as [FileScope, FileScope, FileScope];
      const { id } = await store.put(first, bytes(), limits);
      await store.put(second, bytes(), limits);
      const error = { code: 'RESOURCE_EXHAUSTED', details: { metadata: { limit: 'ownerBytes' } } };
      await expect(store.put(third, bytes(), limits)).rejects.toMatchObject(error);
      expect(await store.usage(third)).toEqual({ files: 2, bytes: 200_000 });
      expect(await store.delete(third, id)).toBe(false);
      await store.delete(first, id);
      await store.put(third, bytes(), limits);
      await store.put({ ...first, owner: null }, bytes(), limits);
    });

    it('count at least 4 KiB each, and nothing once they are deleted', async () => {
      const limits = { maxBytes: 100, ownerBytes: 3 * 4096 };
      const ids: string[] = [];
      for (let at = 0; at < 3; at++) ids.push((await store.put(SCOPE, fileOf(['x'], clock), limits)).id);
      await expect(store.put(SCOPE, fileOf(['x'], clock), limits)).rejects.toMatchObject({
        code: 'RESOURCE_EXHAUSTED',
      });
      expect(await store.usage(SCOPE)).toEqual({ files: 3, bytes: 3 * 4096 });
      expect(await store.delete(SCOPE, ids[0] ?? '')).toBe(true);
      expect(await store.delete(SCOPE, ids[0] ?? '')).toBe(false);
      expect(await store.usage(SCOPE)).toEqual({ files: 2, bytes: 2 * 4096 });
      await store.put(SCOPE, fileOf(['x'], clock), limits);
    });

    it('are gone after their time, and a sweep removes them', async () => {
      const early = await store.put(SCOPE, fileOf(['early'], clock, { expiresAt: clock.now() + 1_000 }), LIMITS);
      const late = await store.put(SCOPE, fileOf(['late'], clock), LIMITS);
      await clock.advance(1_000);
      expect(await store.head(SCOPE, early.id)).toBeUndefined();
      expect(await store.read(SCOPE, early.id)).toBeUndefined();
      expect(await store.sweep()).toBe(1);
      expect(await store.sweep()).toBe(0);
      expect((await store.usage(SCOPE)).files).toBe(1);
      expect(await textOf(await store.read(SCOPE, late.id))).toBe('late');
    });

    it('that are put again after they expired are new files, and count once', async () => {
      const limits = { maxBytes: 30_000, ownerBytes: 50_000 };
      const id = newId();
      for (const letter of 'abc') {
        await clock.advance(1_000);
        const expiresAt = clock.now() + 1_000;
        const file = fileOf([letter.repeat(30_000)], clock, { id, expiresAt });
        expect(await store.put(SCOPE, file, limits)).toMatchObject({ id, expiresAt });
        expect(await textOf(await store.read(SCOPE, id))).toBe(letter.repeat(30_000));
        expect(await store.usage(SCOPE)).toEqual({ files: 1, bytes: 30_000 });
      }
      expect(await store.sweep()).toBe(0);
      expect(await store.delete(SCOPE, id)).toBe(true);
      expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
      await store.put(SCOPE, fileOf(['x'.repeat(30_000)], clock), limits);
      await store.put(SCOPE, fileOf(['x'.repeat(20_000)], clock), limits);
    });

    it('that are put again after they expired stay, whenever a sweep runs', async () => {
      for (let steps = 0; steps < 12; steps++) {
        const id = newId();
        await store.put(SCOPE, fileOf(['old'], clock, { id, expiresAt: clock.now() + 1_000 }), LIMITS);
        await clock.advance(1_000);
        const putting = store.put(SCOPE, fileOf(['new'], clock, { id }), LIMITS);
        for (let step = 0; step < steps; step++) await Promise.resolve();
        await Promise.all([putting, store.sweep()]);
        await store.sweep();
        expect(await textOf(await store.read(SCOPE, id))).toBe('new');
        expect(await store.usage(SCOPE)).toEqual({ files: 1, bytes: 4096 });
        await store.delete(SCOPE, id);
      }
      await store.put(SCOPE, fileOf(['x'], clock), { ...LIMITS, ownerBytes: 4096 });
    });

    it('that expire while others of their id arrive are replaced by one of them', async () => {
      const limits = { maxBytes: 30_000, ownerBytes: 80_000 };
      const id = newId();
      const gate = Promise.withResolvers<void>();
      async function* slow() {
        yield new TextEncoder().encode('slow');
        await gate.promise;
      }
      const slowly = [1, 2].map(() => store.put(SCOPE, fileOf(slow(), clock, { id }), limits));
      const early = fileOf(['x'.repeat(30_000)], clock, { id, expiresAt: clock.now() + 1_000 });
      await store.put(SCOPE, early, limits);
      await clock.advance(1_000);
      gate.resolve();
      const [one, other] = await Promise.all(slowly);
      expect(one).toEqual(other);
      expect(await textOf(await store.read(SCOPE, id))).toBe('slow');
      expect(await store.usage(SCOPE)).toEqual({ files: 1, bytes: 4096 });
      await store.delete(SCOPE, id);
      await store.put(SCOPE, fileOf(['x'.repeat(30_000)], clock), { ...limits, ownerBytes: 30_000 });
    });

    it('are read no faster than their reader wants, and a reader may leave', async () => {
      const chunks = Array.from({ length: 64 }, () => 'y'.repeat(10_000));
      const { id } = await store.put(SCOPE, fileOf(chunks, clock), LIMITS);
      const read = await store.read(SCOPE, id);
      let size = 0;
      for await (const chunk of read?.chunks ?? []) {
        size += chunk.length;
        break;
      }
      expect(size).toBeGreaterThan(0);
      expect(size).toBeLessThan(640_000);
      expect(await store.delete(SCOPE, id)).toBe(true);
    });
  });
}
