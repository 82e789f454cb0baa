import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import type { FileScope } from '../../packages/parley/src/files/file-store.js';
import { S3FileStore } from '../../packages/s3/src/s3-file-store.js';
import { newId } from '../files/file-store-contract.js';
import { S3Server } from './s3-server.js';

let server: S3Server;
beforeAll(async () => {
  server = await S3Server.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const MIB = 1_048_576;
const LIMITS = { maxBytes: 64 * MIB, ownerBytes: 512 * MIB };
const LONG = 'x'.repeat(300);
const send = (url: string, init: RequestInit) => fetch(url, init);

async function* chunksOf(size: number) {
  for (let left = size; left > 0; left -= MIB) yield new Uint8Array(Math.min(left, MIB));
}

function fileOf(size: number, chunks = chunksOf(size)) {
  const now = Date.now();
  const finish = () => ({ mediaType: 'x/y', digest: 'd' });
  return { id: newId(), createdAt: now, expiresAt: now + 3_600_000, chunks, finish };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

it('a bucket has no file, upload or part of a user after an erasure, and all of the others', async () => {
  const prefix = 'owners/';
  const store = new S3FileStore(
    { ...server.options(prefix), partBytes: 5 * MIB },
    { clock: systemClock, fetch: send, ids: systemIds },
  );
  const other = new S3FileStore(server.options(prefix), { clock: systemClock, fetch: send, ids: systemIds });
  const scopesOf = (owner: string | null): readonly FileScope[] => [
    { agent: '/', tenant: '', owner },
    { agent: '/two', tenant: 't/../x', owner },
    { agent: LONG, tenant: LONG, owner },
  ];
  const owners = ['bearer|ada', 'bearer|ad', null, LONG];
  for (const owner of owners) {
    for (const scope of scopesOf(owner)) {
      await store.put(scope, fileOf(100), LIMITS);
      await store.put(scope, fileOf(6 * MIB), LIMITS);
      const upload = { ...fileOf(12 * MIB), size: 12 * MIB };
      await store.uploads.begin(scope, upload, LIMITS);
      await store.uploads.append(scope, { id: upload.id, offset: 0, chunks: chunksOf(7 * MIB) });
    }
  }
  // A file that arrives in parts from another process, and one that arrives in this one.
  const [scope] = scopesOf('bearer|ada');
  if (scope === undefined) throw new Error('There is no scope');
  const arriving = [other, store].map((one) => {
    const gate = Promise.withResolvers<void>();
    const size = one === other ? 17 * MIB : 10;
    async function* slow() {
      yield* chunksOf(size);
      await gate.promise;
    }
    return {
      gate,
      put: one.put(scope, fileOf(size, slow()), LIMITS).then(
        () => 'stored',
        () => 'refused',
      ),
    };
  });
  await expect.poll(() => server.openUploads(prefix)).toBe(owners.length * 3 + 1);
  const keys = (await server.keys(prefix)).length;
  for (const [at, owner] of owners.entries()) {
    expect(await store.owners.count({ owner })).toEqual({ files: 6, uploads: 3 });
    expect(await all(store.owners.list({ owner, agent: '/two' }))).toMatchObject([
      { scope: { agent: '/two', tenant: 't/../x' } },
      {},
    ]);
    expect(await store.owners.erase({ owner, agent: '/two', tenant: 'no' }, [])).toEqual({ files: 0, uploads: 0 });
    expect(await store.owners.erase({ owner, agent: '/two', tenant: 't/../x' }, [])).toEqual({ files: 2, uploads: 1 });
    expect(await store.owners.erase({ owner }, [])).toEqual({ files: 4, uploads: 2 });
    expect((await server.keys(prefix)).length).toBe((keys / owners.length) * (owners.length - at - 1));
    if (at > 0) continue;
    for (const { gate } of arriving) gate.resolve();
    expect(await Promise.all(arriving.map(({ put }) => put))).toEqual(['refused', 'refused']);
  }
  expect(await server.openUploads(prefix)).toBe(0);
}, 120_000);
