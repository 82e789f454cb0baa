import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemIds } from '../../packages/parley/src/exports/runtime.js';
import { LEAST_COUNTED_BYTES, type OpenedFile } from '../../packages/parley/src/files/file-store.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { S3FileStore } from '../../packages/s3/src/s3-file-store.js';
import { fileOf, newId, SCOPE, textOf } from '../files/file-store-contract.js';
import { chunksOf } from '../files/upload-store-contract.js';
import { S3Server } from './s3-server.js';

let server: S3Server;
beforeAll(async () => {
  server = await S3Server.start();
});
afterAll(() => server[Symbol.asyncDispose]());

type Send = (url: string, init: RequestInit) => Promise<Response>;
const send: Send = (url, init) => fetch(url, init);
const HOUR_MS = 3_600_000;
const CONTENT = 'hello';
const LIMITS = { maxBytes: 100_000, ownerBytes: 100_000 };
let prefixes = 0;

/** Processes on one prefix of a bucket. Their clock begins now, as the times of the objects do. */
async function processes() {
  prefixes += 1;
  const prefix = `same${prefixes}/`;
  const clock = new ManualClock();
  await clock.advance(Date.now() - clock.now());
  const id = newId();
  return {
    prefix,
    clock,
    id,
    open: (fetch: Send = send) =>
      new S3FileStore({ ...server.options(prefix), retries: 0 }, { clock, fetch, ids: systemIds }),
    file: (about: Parameters<typeof fileOf>[2] = {}) => fileOf([CONTENT], clock, { id, ...about }),
  };
}

/** The store has the file, counts it once and deletes it whole. A later sweep finds nothing but leftovers. */
async function expectOneFile({ prefix, clock, id, open }: Awaited<ReturnType<typeof processes>>): Promise<void> {
  const store = open();
  expect(await textOf(await store.read(SCOPE, id))).toBe(CONTENT);
  expect(await store.usage(SCOPE)).toEqual({ files: 1, bytes: LEAST_COUNTED_BYTES });
  expect(await store.sweep()).toBe(0);
  expect(await textOf(await store.read(SCOPE, id))).toBe(CONTENT);
  expect(await store.delete(SCOPE, id)).toBe(true);
  expect(await store.head(SCOPE, id)).toBeUndefined();
  expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
  await clock.advance(100 * HOUR_MS);
  expect(await store.sweep()).toBe(0);
  expect(await server.keys(prefix)).toEqual([]);
}

/** Sends the requests of a process, and calls `before` with the number of each one. */
function numberCalls(before: (number: number) => Promise<void> | void): Send {
  let number = 0;
  return async (url, init) => {
    await before(number++);
    return send(url, init);
  };
}

describe('a file that is put again after it expired', () => {
  it('is found, and stays when a sweep comes', async () => {
    const all = await processes();
    const { clock, open, file } = all;
    await open().put(SCOPE, file(), LIMITS);
    await clock.advance(HOUR_MS);
    const again = await open().put(SCOPE, file(), LIMITS);
    expect(again.expiresAt).toBe(clock.now() + HOUR_MS);
    expect(await open().head(SCOPE, again.id)).toEqual(again);
    await expectOneFile(all);
  });

  it('needs no more room than before', async () => {
    const all = await processes();
    const { clock, open, file } = all;
    const limits = { ...LIMITS, ownerBytes: LEAST_COUNTED_BYTES };
    await open().put(SCOPE, file(), limits);
    await clock.advance(HOUR_MS);
    await open().put(SCOPE, file(), limits);
    await expectOneFile(all);
  });

  it('stays when a sweep has read its list before', async () => {
    const all = await processes();
    const { clock, open, file } = all;
    await open().put(SCOPE, file(), LIMITS);
    await clock.advance(HOUR_MS);
    const sweeping = open(async (url, init) => {
      // The sweep removes the expired file only now.
      if (init.method === 'DELETE') await open().put(SCOPE, file(), LIMITS);
      return send(url, init);
    });
    expect(await sweeping.sweep()).toBe(1);
    await expectOneFile(all);
  });

  it('is whole after any request of a killed process was the last', async () => {
    let isOver = false;
    for (let last = 0; !isOver; last++) {
      const all = await processes();
      const { clock, open, file } = all;
      await open().put(SCOPE, file(), LIMITS);
      await clock.advance(HOUR_MS);
      const dying = open(
        numberCalls((number) => {
          if (number >= last) throw new Error('killed');
        }),
      );
      isOver = await dying.put(SCOPE, file(), LIMITS).then(
        () => true,
        () => false,
      );
      await open().put(SCOPE, file(), LIMITS);
      await expectOneFile(all);
      expect(last).toBeLessThan(20);
    }
  });
});

describe('a file that two processes store at the same time', () => {
  for (const [name, later, isKilled] of [
    ['is one file, if the first one expires before the second', 1, false],
    ['is one file, if the first one expires after the second', -1, false],
    ['is one file, if the first one is killed and had expired before the second', 1, true],
    ['is one file, if the first one is killed and had expired after the second', -1, true],
  ] as const)
    it(name, async () => {
      let isOver = false;
      for (let held = 0; !isOver; held++) {
        const all = await processes();
        const { clock, open, file } = all;
        const expiresAt = clock.now() + HOUR_MS;
        isOver = true;
        let isDead = false;
        // The other process does all of its work between two requests of this one.
        const one = open(
          numberCalls(async (number) => {
            if (isDead) throw new Error('killed');
            if (number !== held) return;
            isOver = false;
            await open().put(SCOPE, file({ expiresAt: expiresAt + later }), LIMITS);
            isDead = isKilled;
          }),
        );
        const putting = one.put(SCOPE, file({ expiresAt }), LIMITS);
        if (isKilled) await putting.catch(() => {});
        else {
          await putting;
          expect(await server.keys(all.prefix)).toHaveLength(2);
        }
        await expectOneFile(all);
        expect(held).toBeLessThan(20);
      }
    });

  it('is one file, if their requests take turns', async () => {
    const all = await processes();
    const { clock, open, file } = all;
    const puts = [1, 2, 3].map((at) => open().put(SCOPE, file({ expiresAt: clock.now() + HOUR_MS + at }), LIMITS));
    await Promise.all(puts);
    expect(await server.keys(all.prefix)).toHaveLength(2);
    await expectOneFile(all);
  });

  it('is read to its end by readers of the copy that goes', async () => {
    const all = await processes();
    const { clock, open, file, id } = all;
    const reader = open();
    let opened: OpenedFile | undefined;
    const first = open(async (url, init) => {
      if (url.includes('/facts/') && init.method === 'PUT') {
        await open().put(SCOPE, file({ expiresAt: clock.now() + HOUR_MS + 1 }), LIMITS);
        opened = await reader.read(SCOPE, id);
      }
      return send(url, init);
    });
    await first.put(SCOPE, file(), LIMITS);
    expect(await textOf(opened)).toBe(CONTENT);
    await expectOneFile(all);
    const deleted = await open().put(SCOPE, file(), LIMITS);
    const late = await open().read(SCOPE, deleted.id);
    await open().delete(SCOPE, deleted.id);
    await expect(textOf(late)).rejects.toThrow('was deleted while it was read');
  });

  it('keeps its bytes if one of them is refused', async () => {
    const all = await processes();
    const { clock, open, file } = all;
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    async function* late() {
      begun.resolve();
      await gate.promise;
      yield new TextEncoder().encode(CONTENT);
    }
    const refused = fileOf(late(), clock, {
      id: all.id,
      expiresAt: clock.now() + HOUR_MS + 1,
    });
    const refusing = open().put(SCOPE, refused, { ...LIMITS, ownerBytes: LEAST_COUNTED_BYTES * 1.5 });
    await begun.promise;
    await open().put(SCOPE, file(), LIMITS);
    const { id } = await open().put(SCOPE, file({ id: newId() }), LIMITS);
    gate.resolve();
    await expect(refusing).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    await open().delete(SCOPE, id);
    await expectOneFile(all);
  });

  it('keeps its bytes if the facts of one of them cannot be written', async () => {
    const all = await processes();
    const { clock, open, file } = all;
    const failing = open(async (url, init) => {
      const isFacts = url.includes('/facts/') && init.method === 'PUT';
      if (!isFacts) return send(url, init);
      await open().put(SCOPE, file(), LIMITS);
      throw new TypeError('fetch failed');
    });
    const putting = failing.put(SCOPE, file({ expiresAt: clock.now() + HOUR_MS + 1 }), LIMITS);
    await expect(putting).rejects.toMatchObject({ name: 'StorageError' });
    await expectOneFile(all);
  });
});

describe('an upload that two processes complete at the same time', () => {
  it('is one file, whose bytes stay until the last of the two times is over', async () => {
    let isOver = false;
    for (let held = 0; !isOver; held++) {
      const all = await processes();
      const { clock, id, open } = all;
      const [early, late] = [clock.now() + HOUR_MS, clock.now() + 2 * HOUR_MS];
      const complete = ({ uploads }: S3FileStore, expiresAt: number) =>
        uploads.complete(SCOPE, {
          id,
          createdAt: clock.now(),
          expiresAt,
          check: async (chunks) => {
            for await (const _ of chunks);
            return { mediaType: 'x/y', digest: '' };
          },
        });
      const { uploads } = open();
      await uploads.begin(SCOPE, { id, size: CONTENT.length, createdAt: clock.now(), expiresAt: early }, LIMITS);
      await uploads.append(SCOPE, { id, offset: 0, chunks: chunksOf(new TextEncoder().encode(CONTENT)) });
      isOver = true;
      const one = open(
        numberCalls(async (number) => {
          if (number !== held) return;
          isOver = (await complete(open(), late)) === undefined;
        }),
      );
      // The other process may have joined the parts before.
      await complete(one, early).catch(() => {});
      if (isOver) return;
      await clock.advance(HOUR_MS);
      await open().sweep();
      await expectOneFile(all);
      expect(held).toBeLessThan(20);
    }
  });
});
