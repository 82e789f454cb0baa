import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import type { NewFile } from '../../packages/parley/src/files/file-store.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { S3FileStore } from '../../packages/s3/src/s3-file-store.js';
import { fileOf, fileStoreContract, newId, SCOPE, textOf } from '../files/file-store-contract.js';
import { chunksOf, uploadStoreContract } from '../files/upload-store-contract.js';
import { S3Server } from './s3-server.js';

let server: S3Server;
beforeAll(async () => {
  server = await S3Server.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const send = (url: string, init: RequestInit) => fetch(url, init);
const MIB = 1024 * 1024;
const LIMITS = { maxBytes: 1024 * MIB, ownerBytes: 4096 * MIB };
/** Requests between two deaths of a process, which die before them and after them in turn. */
const STRIDE = process.env.TEST_LONG === undefined ? 3 : 1;
let prefixes = 0;
const newPrefix = () => `p${++prefixes}/`;

// This server tells 2010 as the time at which each upload in parts began. So a sweep would take those of this moment.
const UPLOADS_STAY_MS = 50 * 365 * 24 * 3_600_000;
const openStore = async (clock: ManualClock) => ({
  store: new S3FileStore(
    { ...server.options(newPrefix()), partBytes: 5 * MIB, restMs: UPLOADS_STAY_MS },
    { clock, fetch: send, ids: systemIds },
  ),
});
fileStoreContract('S3', openStore);
uploadStoreContract('S3, with small files', openStore);
uploadStoreContract('S3, with files of several parts', openStore, 17 * MIB + 17);
uploadStoreContract('S3, with files of whole parts', openStore, 10 * MIB);

/** A file of chunks of random bytes, and its digest. */
function largeFile(size: number, about: Partial<NewFile> = {}): { readonly file: NewFile; digest(): string } {
  const hash = createHash('sha256');
  let digest = '';
  async function* chunks() {
    for (let left = size; left > 0; left -= 64 * 1024) {
      const chunk = randomBytes(Math.min(left, 64 * 1024));
      hash.update(chunk);
      yield chunk;
    }
  }
  const finish = () => {
    digest = hash.digest('base64');
    return { mediaType: 'x/y', digest };
  };
  const [now, id] = [Date.now(), newId()];
  return {
    file: { id, createdAt: now, expiresAt: now + 3_600_000, chunks: chunks(), finish, ...about },
    digest: () => digest,
  };
}

describe('two processes with one bucket', () => {
  it('see the files of each other in the quota, and never pass it together', async () => {
    const options = server.options(newPrefix());
    const stores = [1, 2, 3].map(() => new S3FileStore(options, { clock: systemClock, fetch: send, ids: systemIds }));
    const limits = { maxBytes: MIB, ownerBytes: 3 * MIB };
    const some = () => largeFile(MIB, { size: MIB }).file;
    const [one, other] = stores as [S3FileStore, S3FileStore];
    const { id } = await one.put(SCOPE, some(), limits);
    await other.put(SCOPE, some(), limits);
    for (let round = 0; round < 5; round++) {
      const puts = stores.map((store) => store.put(SCOPE, some(), limits));
      const begins = stores.map(async ({ uploads }) => {
        const upload = { id: newId(), size: MIB, createdAt: Date.now(), expiresAt: Date.now() + 3_600_000 };
        await uploads.begin(SCOPE, upload, limits);
        return upload;
      });
      const together = await Promise.allSettled([...puts, ...begins]);
      const stored = together.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.id] : []));
      expect(stored.length).toBeLessThanOrEqual(1);
      for (const outcome of together)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
      expect((await one.usage(SCOPE)).bytes).toBe((2 + stored.length) * MIB);
      for (const last of stored)
        expect((await one.delete(SCOPE, last)) || (await one.uploads.remove(SCOPE, last))).toBe(true);
    }
    // Refused files use no space.
    await one.put(SCOPE, some(), limits);
    await expect(other.put(SCOPE, some(), limits)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    await one.delete(SCOPE, id);
    await other.put(SCOPE, some(), limits);
  });

  it('keep a file whole that both store: its id is a hash of its bytes', async () => {
    const options = server.options(newPrefix());
    const stores = [1, 2].map(() => new S3FileStore(options, { clock: systemClock, fetch: send, ids: systemIds }));
    const now = Date.now();
    const about = { id: newId(), createdAt: now, expiresAt: now + 3_600_000 };
    const text = 'the same '.repeat(50_000);
    await Promise.all(stores.map((store) => store.put(SCOPE, fileOf([text], new ManualClock(), about), LIMITS)));
    for (const store of stores) expect(await textOf(await store.read(SCOPE, about.id))).toBe(text);
    expect((await stores[0]?.usage(SCOPE))?.files).toBe(1);
  });
});

describe('an upload in S3', () => {
  const size = 12 * MIB;
  const content = randomBytes(size);
  const facts = { mediaType: 'x/y', digest: createHash('sha256').update(content).digest('base64') };
  const upload = () => ({ id: newId(), size, createdAt: Date.now(), expiresAt: Date.now() + 3_600_000 });
  const end = (id: string) => ({
    id,
    createdAt: Date.now(),
    expiresAt: Date.now() + 3_600_000,
    check: async (chunks: AsyncIterable<Uint8Array>) => {
      const hash = createHash('sha256');
      for await (const chunk of chunks) hash.update(chunk);
      return { mediaType: 'x/y', digest: hash.digest('base64') };
    },
  });

  it('goes on in another process after any request of the first one was its last, and leaves nothing else', async () => {
    const prefix = newPrefix();
    const options = { ...server.options(prefix), partBytes: 5 * MIB, retries: 0 };
    const other = new S3FileStore(options, { clock: systemClock, fetch: send, ids: systemIds });
    let isOver = false;
    for (let last = 0; !isOver; last += STRIDE) {
      const about = upload();
      await other.uploads.begin(SCOPE, about, LIMITS);
      let writes = 0;
      // The process dies before a write, or before its answer.
      const sendUntilDeath = async (url: string, init: RequestInit) => {
        if (init.method === 'GET') return send(url, init);
        writes += 1;
        if (writes > Math.ceil(last / 2)) throw new Error('killed');
        const response = await send(url, init);
        if (last % 2 === 1 && writes === Math.ceil(last / 2)) throw new Error('killed');
        return response;
      };
      const one = new S3FileStore(options, { clock: systemClock, fetch: sendUntilDeath, ids: systemIds });
      const { id } = about;
      try {
        await one.uploads.append(SCOPE, { id, offset: 0, chunks: chunksOf(content.subarray(0, 7 * MIB)) });
        await one.uploads.append(SCOPE, { id, offset: 7 * MIB, chunks: chunksOf(content.subarray(7 * MIB)) });
        await one.uploads.complete(SCOPE, end(id));
        isOver = true;
      } catch {
        const found = await other.uploads.find(SCOPE, id);
        if (found !== undefined) {
          const { offset } = found;
          await other.uploads.append(SCOPE, { id, offset, chunks: chunksOf(content.subarray(offset)) });
          expect(await other.uploads.complete(SCOPE, end(id))).toMatchObject(facts);
        }
      }
      expect(await other.head(SCOPE, id)).toMatchObject({ size, ...facts });
      expect(await other.usage(SCOPE)).toEqual({ files: 1, bytes: size });
      await other.delete(SCOPE, id);
      expect(last).toBeLessThan(40);
    }
    // Records of uploads whose files were there are removed after their time.
    const later = new ManualClock();
    await later.advance(Date.now() + 100 * 3_600_000 - later.now());
    await new S3FileStore(options, { clock: later, fetch: send, ids: systemIds }).sweep();
    expect(await server.keys(prefix)).toEqual([]);
  });

  it('keeps the bytes that one process has answered for, when the late request of another one ends', async () => {
    const options = { ...server.options(newPrefix()), partBytes: 5 * MIB };
    const [one, other] = [1, 2].map(
      () => new S3FileStore(options, { clock: systemClock, fetch: send, ids: systemIds }),
    );
    if (one === undefined || other === undefined) throw new Error('unreachable');
    for (const partEnd of [0, 5 * MIB]) {
      const about = upload();
      const { id } = about;
      await one.uploads.begin(SCOPE, about, LIMITS);
      await one.uploads.append(SCOPE, { id, offset: 0, chunks: chunksOf(content.subarray(0, partEnd + 10)) });
      const begun = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      async function* yieldWithGate() {
        yield content.subarray(partEnd + 10, partEnd + 20);
        begun.resolve();
        await gate.promise;
        throw new Error('the sender left');
      }
      const late = one.uploads.append(SCOPE, { id, offset: partEnd + 10, chunks: yieldWithGate() });
      await begun.promise;
      const [offset, acknowledged] = [partEnd + 10, partEnd + 1000];
      await other.uploads.append(SCOPE, { id, offset, chunks: chunksOf(content.subarray(offset, acknowledged)) });
      gate.resolve();
      await expect(late).rejects.toThrow('the sender left');
      expect(await other.uploads.find(SCOPE, id)).toMatchObject({ offset: acknowledged });
      await other.uploads.append(SCOPE, { id, offset: acknowledged, chunks: chunksOf(content.subarray(acknowledged)) });
      expect(await other.uploads.complete(SCOPE, end(id))).toMatchObject(facts);
    }
  });

  it('stays if a sweep comes, as long as its time is not over', async () => {
    const options = { ...server.options(newPrefix()), partBytes: 5 * MIB, restMs: 1 };
    const store = new S3FileStore(options, { clock: systemClock, fetch: send, ids: systemIds });
    const about = upload();
    await store.uploads.begin(SCOPE, about, LIMITS);
    await store.uploads.append(SCOPE, { id: about.id, offset: 0, chunks: chunksOf(content.subarray(0, 7 * MIB)) });
    const later = new ManualClock();
    await later.advance(Date.now() + 60_000 - later.now());
    await new S3FileStore(options, { clock: later, fetch: send, ids: systemIds }).sweep();
    expect(await store.uploads.find(SCOPE, about.id)).toMatchObject({ offset: 7 * MIB });
    await store.uploads.append(SCOPE, { id: about.id, offset: 7 * MIB, chunks: chunksOf(content.subarray(7 * MIB)) });
    expect(await store.uploads.complete(SCOPE, end(about.id))).toMatchObject(facts);
  });
});

describe('a store in S3', () => {
  it('sends large files in parts, few of them at a time, and reads them in ranges', async () => {
    let running = 0;
    let most = 0;
    let parts = 0;
    const countParts = async (url: string, init: RequestInit) => {
      const isPart = url.includes('partNumber=');
      if (!isPart) return send(url, init);
      parts += 1;
      running += 1;
      most = Math.max(most, running);
      return send(url, init).finally(() => {
        running -= 1;
      });
    };
    const store = new S3FileStore(
      { ...server.options(newPrefix()), partBytes: 5 * MIB, parallel: 2 },
      { clock: systemClock, fetch: countParts, ids: systemIds },
    );
    const size = 23 * MIB + 17;
    const { file, digest } = largeFile(size);
    expect(await store.put(SCOPE, file, LIMITS)).toMatchObject({ size, digest: digest() });
    expect(parts).toBe(5);
    expect(most).toBe(2);
    const hash = createHash('sha256');
    for await (const chunk of (await store.read(SCOPE, file.id))?.chunks ?? []) hash.update(chunk);
    expect(hash.digest('base64')).toBe(digest());
    let bytes = 0;
    const range = { start: 5 * MIB - 3, end: 10 * MIB + 3 };
    for await (const chunk of (await store.read(SCOPE, file.id, range))?.chunks ?? []) bytes += chunk.length;
    expect(bytes).toBe(5 * MIB + 6);
  });

  it('leaves nothing of a large file whose sender leaves, or that is refused at its end', async () => {
    const prefix = newPrefix();
    const store = new S3FileStore(
      { ...server.options(prefix), partBytes: 5 * MIB },
      { clock: systemClock, fetch: send, ids: systemIds },
    );
    async function* yieldThenFail() {
      for (let at = 0; at < 200; at++) yield randomBytes(64 * 1024);
      throw new Error('the sender left');
    }
    await expect(store.put(SCOPE, largeFile(0, { chunks: yieldThenFail() }).file, LIMITS)).rejects.toThrow(
      'the sender left',
    );
    const finish = () => {
      throw new Error('wrong digest');
    };
    await expect(store.put(SCOPE, largeFile(12 * MIB, { finish }).file, LIMITS)).rejects.toThrow('wrong digest');
    expect(await server.keys(prefix)).toEqual([]);
    expect(await server.openUploads(prefix)).toBe(0);
    expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
  });

  it('keeps the quota with the files of other processes', async () => {
    const options = server.options(newPrefix());
    const one = new S3FileStore(options, { clock: systemClock, fetch: send, ids: systemIds });
    const other = new S3FileStore(options, { clock: systemClock, fetch: send, ids: systemIds });
    const limits = { maxBytes: MIB, ownerBytes: 100_000 };
    await one.put(SCOPE, largeFile(60_000).file, limits);
    await expect(other.put(SCOPE, largeFile(60_000).file, limits)).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
    });
    const { file } = largeFile(30_000);
    await other.put(SCOPE, file, limits);
    await expect(one.put(SCOPE, largeFile(30_000).file, limits)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect(await one.head(SCOPE, file.id)).toMatchObject({ size: 30_000 });
  });

  it('repeats requests that fail by chance, and tells nothing of the server where it gives up', async () => {
    let failures = 0;
    const flaky = (url: string, init: RequestInit) => {
      failures += 1;
      if (failures % 3 === 1) return Promise.reject(new TypeError('fetch failed'));
      if (failures % 3 === 2)
        return Promise.resolve(new Response('<Error><Code>SlowDown</Code></Error>', { status: 503 }));
      return send(url, init);
    };
    const clock = new ManualClock();
    const quick = {
      ...systemClock,
      after: (_: number, task: () => void) => systemClock.after(_ === 60_000 ? _ : 0, task),
    };
    const store = new S3FileStore(server.options(newPrefix()), { clock: quick, fetch: flaky, ids: systemIds });
    const { id } = await store.put(SCOPE, fileOf(['hello'], clock, { expiresAt: Date.now() + 60_000 }), LIMITS);
    expect(await textOf(await store.read(SCOPE, id))).toBe('hello');
    const down = new S3FileStore(
      {
        ...server.options(newPrefix()),
        credentials: { accessKeyId: 'key', secretAccessKey: 'do-not-tell' },
        retries: 1,
      },
      { clock: quick, fetch: () => Promise.reject(new TypeError('fetch failed')), ids: systemIds },
    );
    await expect(down.head(SCOPE, id)).rejects.toMatchObject({
      name: 'StorageError',
      message: 'The bucket of the files fails',
    });
  });

  it('reads on after a cut connection', async () => {
    let cuts = 0;
    const cutResponse = async (url: string, init: RequestInit) => {
      const response = await send(url, init);
      const isFile = url.includes('/data/') && init.method === 'GET';
      if (!isFile || ++cuts > 2) return response;
      const bytes = new Uint8Array(await response.arrayBuffer());
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(bytes.slice(0, 1000)),
        pull: (controller) => controller.error(new TypeError('terminated')),
      });
      return new Response(body, { status: response.status });
    };
    const store = new S3FileStore(server.options(newPrefix()), {
      clock: systemClock,
      fetch: cutResponse,
      ids: systemIds,
    });
    const { file, digest } = largeFile(100_000);
    await store.put(SCOPE, file, LIMITS);
    const hash = createHash('sha256');
    for await (const chunk of (await store.read(SCOPE, file.id))?.chunks ?? []) hash.update(chunk);
    expect(hash.digest('base64')).toBe(digest());
    expect(cuts).toBe(3);
  });

  it('sweeps the rests of broken uploads, but not what arrives now', async () => {
    const prefix = newPrefix();
    const options = { ...server.options(prefix), restMs: 3_600_000 };
    const day = 86_400_000;
    const later = { ...systemClock, now: () => Date.now() + day };
    const store = new S3FileStore(options, { clock: systemClock, fetch: send, ids: systemIds });
    const kept = largeFile(10, { expiresAt: Date.now() + 10 * day }).file;
    await store.put(SCOPE, kept, LIMITS);
    const [folder = ''] = (await server.keys(`${prefix}data/`)).map((key) => key.slice(0, key.lastIndexOf('/') + 1));
    const token = 'e'.repeat(32);
    for (const id of ['0'.repeat(32), 'f'.repeat(32), kept.id])
      await fetch(`${server.url}/files/${folder}${id}.${token}`, { method: 'PUT', body: 'rest' });
    await fetch(`${server.url}/files/${folder}${'1'.repeat(32)}.${token}?uploads`, { method: 'POST' });
    expect(await store.sweep()).toBe(0);
    // This server gives every upload in parts the same time, years ago, so that the first sweep ends it.
    expect(await server.keys(`${prefix}data/`)).toHaveLength(4);
    expect(await new S3FileStore(options, { clock: later, fetch: send, ids: systemIds }).sweep()).toBe(0);
    expect(await server.keys(`${prefix}data/`)).toEqual([expect.stringContaining(`${folder}${kept.id}.`)]);
    expect(await server.openUploads(prefix)).toBe(0);
    expect(await store.head(SCOPE, kept.id)).toMatchObject({ size: 10 });
  });

  it('gives every scope a folder of its own', async () => {
    const store = new S3FileStore(server.options(newPrefix()), { clock: systemClock, fetch: send, ids: systemIds });
    const long = 'x'.repeat(3000);
    const scopes = [
      { agent: '/', tenant: '', owner: null },
      { agent: '/', tenant: '', owner: '' },
      { agent: '/', tenant: '', owner: 'anonymous' },
      { agent: '/', tenant: 'a/b', owner: 'c' },
      { agent: '/', tenant: 'a', owner: 'b/c' },
      { agent: '/a', tenant: '', owner: 'ä' },
      { agent: '/', tenant: '', owner: `${long}1` },
      { agent: '/', tenant: '', owner: `${long}2` },
      { agent: '/', tenant: '', owner: '\ud800' },
      { agent: '/', tenant: '', owner: '\ud801' },
    ];
    for (const scope of scopes) await store.put(scope, largeFile(5).file, LIMITS);
    for (const scope of scopes) expect((await store.usage(scope)).files).toBe(1);
  });

  it('names every option that is wrong', () => {
    const options = { ...server.options('a b'), bucketUrl: 'ftp://x' };
    expect(() => new S3FileStore(options, { clock: systemClock, fetch: send, ids: systemIds })).toThrow(
      /bucketUrl.*prefix/s,
    );
    const small = { ...server.options(''), partBytes: 1000 };
    expect(() => new S3FileStore(small, { clock: systemClock, fetch: send, ids: systemIds })).toThrow(/partBytes/);
  });
});
