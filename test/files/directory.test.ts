import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { DirectoryFileStore } from '../../packages/parley/src/files/directory/directory-file-store.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { fileOf, fileStoreContract, newId, SCOPE, textOf } from './file-store-contract.js';
import { uploadStoreContract } from './upload-store-contract.js';

const root = mkdtempSync(join(tmpdir(), 'parley-files-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const LIMITS = { maxBytes: 1_000_000, ownerBytes: 10_000_000 };
let folders = 0;

function newFolder(): string {
  folders += 1;
  return join(root, String(folders));
}

/** All names below a folder. */
function namesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
}

const openStore = async (clock: ManualClock) => ({
  store: new DirectoryFileStore({ path: newFolder(), clock, ids: systemIds }),
});
fileStoreContract('a directory', openStore);
uploadStoreContract('a directory', openStore);

it('files are there after a restart, with their quota, and only their owner reads them', async () => {
  const clock = new ManualClock();
  const path = newFolder();
  const open = () => new DirectoryFileStore({ path, clock, ids: systemIds });
  const limits = { maxBytes: 10_000, ownerBytes: 10_000 };
  const { id } = await open().put(SCOPE, fileOf(['x'.repeat(9_000)], clock, { filename: '../../etc/passwd' }), limits);
  const again = open();
  expect((await textOf(await again.read(SCOPE, id))).length).toBe(9_000);
  await expect(again.put(SCOPE, fileOf(['y'], clock), limits)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  for (const name of namesBelow(path)) {
    expect(name).toMatch(/^[0-9a-f]{64}(\/[0-9a-f]{64}(\/[0-9a-f]{32}(\.json|\.[0-9a-f]{32}\.bin))?)?$/);
    expect(statSync(join(path, name)).mode & 0o077).toBe(0);
  }
});

it('what is damaged on the disk is not served', async () => {
  const clock = new ManualClock();
  const path = newFolder();
  const store = new DirectoryFileStore({ path, clock, ids: systemIds });
  const { id } = await store.put(SCOPE, fileOf(['whole'], clock), LIMITS);
  const other = await store.put(SCOPE, fileOf(['other'], clock), LIMITS);
  const record = namesBelow(path).find((name) => name.endsWith(`${id}.json`)) ?? '';
  const text = readFileSync(join(path, record), 'utf8');
  const bytes = namesBelow(path).find((name) => name.includes(`${id}.`) && name.endsWith('.bin')) ?? '';
  writeFileSync(join(path, bytes), 'cut');
  await expect(store.read(SCOPE, id)).rejects.toThrow('another size');
  const changes = [
    'no json',
    '{}',
    'null',
    '[]',
    text.replace('"ada"', '"bob"'),
    text.replace(/"bytes":"[^"]*"/, '"bytes":"../../secret"'),
    text.replace('"size":5', '"size":-5'),
    'x'.repeat(100_000),
  ];
  for (const change of changes) {
    writeFileSync(join(path, record), change);
    expect(await store.head(SCOPE, id)).toBeUndefined();
  }
  rmSync(join(path, record));
  symlinkSync('/etc/passwd', join(path, record));
  await expect(store.head(SCOPE, id)).rejects.toThrow('ELOOP');
  expect(await textOf(await store.read(SCOPE, other.id))).toBe('other');
});

it('a sweep leaves files of others in the directory alone', async () => {
  const path = newFolder();
  mkdirSync(join(path, 'notes'), { recursive: true });
  writeFileSync(join(path, 'notes', 'mine.txt'), 'mine');
  await new DirectoryFileStore({ path, clock: systemClock, ids: systemIds, leftoverMs: 0 }).sweep();
  expect(namesBelow(path)).toEqual(['notes', join('notes', 'mine.txt')]);
});

/** Work that a test watches while it does other work. */
function watchWork(work: Promise<unknown>) {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  return { isOver: () => isOver, over };
}

/** Returns a clock ahead of the times of the files on the disk. */
async function clockAhead(): Promise<ManualClock> {
  const clock = new ManualClock();
  await clock.advance(Date.now() - clock.now() + 10_000);
  return clock;
}

/** A record of a file that no process can read, in the folder of a scope with files. */
function makeUnreadable(path: string, folder: string, id = newId()): string {
  const record = join(path, folder, `${id}.json`);
  rmSync(record, { force: true });
  mkdirSync(record);
  return record;
}

const endingIn = (path: string, end: string) => namesBelow(path).filter((name) => name.endsWith(end));

it('a record that cannot be read stops no sweep of other files, and the sweep tells its place', async () => {
  const clock = new ManualClock();
  const path = newFolder();
  const store = new DirectoryFileStore({ path, clock, ids: systemIds, leftoverMs: 0 });
  const owners = Array.from({ length: 8 }, (_, at) => ({ ...SCOPE, owner: `user ${at}` }));
  for (const scope of owners) {
    for (const _ of 'ab') await store.put(scope, fileOf(['old'], clock, { expiresAt: clock.now() + 1_000 }), LIMITS);
  }
  const folders = endingIn(path, '.json').map((name) => dirname(name));
  const unreadable = [makeUnreadable(path, folders[4] ?? '')];
  const upload = join(path, folders[8] ?? '', `${newId()}.upload`);
  symlinkSync('/etc/passwd', upload);
  unreadable.push(upload);
  await clock.advance(1_000);
  const told = await store.sweep().catch((error: unknown) => error);
  expect(told).toMatchObject({
    name: 'StorageError',
    message: expect.stringMatching(/^2 names in .* could not be read or removed: E\w+: .*\. Check the disk/),
  });
  expect(unreadable.some((one) => String(told).includes(one))).toBe(true);
  expect(endingIn(path, '.bin')).toEqual([]);
  for (const one of unreadable) rmSync(one, { recursive: true });
  expect(await store.sweep()).toBe(0);
  expect(namesBelow(path)).toEqual([]);
});

it('files that are put again while a sweep removes the expired ones stay', async () => {
  const clock = await clockAhead();
  const store = new DirectoryFileStore({ path: newFolder(), clock, ids: systemIds, leftoverMs: 0 });
  const ids = Array.from({ length: 30 }, () => newId());
  const putAll = () => Promise.all(ids.map((id) => store.put(SCOPE, fileOf(['whole'], clock, { id }), LIMITS)));
  for (let time = 0; time < 3; time++) {
    const { isOver, over } = watchWork(putAll());
    while (!isOver()) await store.sweep();
    await over;
    for (const id of ids) expect(await textOf(await store.read(SCOPE, id))).toBe('whole');
    expect(await store.usage(SCOPE)).toEqual({ files: 30, bytes: 30 * 4096 });
    await clock.advance(3_600_000);
  }
  await store.sweep();
  await store.put(SCOPE, fileOf(['x'], clock), { ...LIMITS, ownerBytes: 4096 });
});

it('a file whose record cannot be read for a while keeps its bytes, and counts for the quota', async () => {
  const clock = await clockAhead();
  const path = newFolder();
  const open = () => new DirectoryFileStore({ path, clock, ids: systemIds, leftoverMs: 0 });
  const { id } = await open().put(SCOPE, fileOf(['x'.repeat(9_000)], clock), LIMITS);
  const [name = ''] = endingIn(path, '.json');
  const text = readFileSync(join(path, name));
  const unreadable = makeUnreadable(path, dirname(name), id);
  const store = open();
  expect(await store.usage(SCOPE)).toEqual({ files: 1, bytes: 9_000 });
  const limits = { maxBytes: 10_000, ownerBytes: 14_000 };
  const other = await store.put(SCOPE, fileOf(['y'], clock), limits);
  await expect(store.put(SCOPE, fileOf(['y'], clock), limits)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  await expect(store.sweep()).rejects.toThrow(unreadable);
  rmSync(unreadable, { recursive: true });
  writeFileSync(unreadable, text);
  expect((await textOf(await store.read(SCOPE, id))).length).toBe(9_000);
  expect(await textOf(await store.read(SCOPE, other.id))).toBe('y');
});

it('bytes that cannot be removed cost their owner no quota', async () => {
  const clock = new ManualClock();
  const path = newFolder();
  const store = new DirectoryFileStore({ path, clock, ids: systemIds });
  const limits = { maxBytes: 10_000, ownerBytes: 10_000 };
  const replaceBytes = () => {
    const [bytes = ''] = endingIn(path, '.bin');
    rmSync(join(path, bytes));
    mkdirSync(join(path, bytes));
  };
  async function* yieldThenFail() {
    yield Buffer.alloc(9_000);
    replaceBytes();
    throw new Error('the sender left');
  }
  await expect(store.put(SCOPE, fileOf(yieldThenFail(), clock), limits)).rejects.toThrow('the sender left');
  rmSync(path, { recursive: true });
  const { id } = await store.put(SCOPE, fileOf(['x'.repeat(9_000)], clock), limits);
  replaceBytes();
  expect(await store.delete(SCOPE, id)).toBe(true);
  expect(await store.head(SCOPE, id)).toBeUndefined();
  await store.put(SCOPE, fileOf(['x'.repeat(9_000)], clock), limits);
});

it('a process that is killed in the middle of an upload leaves nothing that is found, and a sweep removes the rest', async () => {
  const path = newFolder();
  const child: ChildProcess = fork(new URL('./killed-writer.mjs', import.meta.url), [path, newId(), newId()]);
  const [whole, half] = await new Promise<readonly string[]>((resolve, reject) => {
    child.on('message', (ids) => resolve(ids as readonly string[]));
    child.on('exit', (code) => reject(new Error(`The writer ended early (${code})`)));
  });
  const exited = new Promise((resolve) => child.on('exit', resolve));
  child.kill('SIGKILL');
  await exited;
  const store = new DirectoryFileStore({ path, clock: systemClock, ids: systemIds, leftoverMs: 0 });
  expect(namesBelow(path).filter((name) => name.endsWith('.bin'))).toHaveLength(2);
  expect(await store.head(SCOPE, half ?? '')).toBeUndefined();
  expect(await store.usage(SCOPE)).toMatchObject({ files: 1 });
  expect(await textOf(await store.read(SCOPE, whole ?? ''))).toBe('whole');
  await store.sweep();
  expect(namesBelow(path).filter((name) => name.endsWith('.bin'))).toHaveLength(1);
  expect(await textOf(await store.read(SCOPE, whole ?? ''))).toBe('whole');
});

it('one process has the directory, until its server ends', async () => {
  const path = newFolder();
  const start = async () => {
    const child = fork(new URL('./upload-server.mjs', import.meta.url), [path]);
    const [told] = (await once(child, 'message')) as [{ readonly files?: string; readonly refused?: string }];
    return { child, ...told };
  };
  const first = await start();
  expect(first.files).toBeDefined();
  const second = await start();
  expect(second.refused).toContain(
    `Cannot keep files in ${path}: another server uses it (process ${first.child.pid}): stop that one, or name another directory`,
  );
  const exited = once(first.child, 'exit');
  first.child.kill('SIGKILL');
  await exited;
  const third = await start();
  third.child.kill();
  expect(third.files).toBeDefined();
});

describe('an upload that is not whole', () => {
  const upload = (clock: ManualClock, size: number) => ({
    id: newId(),
    size,
    createdAt: clock.now(),
    expiresAt: clock.now() + 1_000,
  });
  const bytes = (text: string) => fileOf([text], new ManualClock()).chunks;

  it('counts for the quota, also after a restart, and is no file', async () => {
    const clock = new ManualClock();
    const path = newFolder();
    const open = () => new DirectoryFileStore({ path, clock, ids: systemIds });
    const limits = { maxBytes: 10_000, ownerBytes: 12_000 };
    const begun = upload(clock, 8_000);
    await open().uploads.begin(SCOPE, begun, limits);
    const again = open();
    expect(await again.uploads.append(SCOPE, { id: begun.id, offset: 0, chunks: bytes('some') })).toBe(4);
    expect(await again.uploads.find(SCOPE, begun.id)).toEqual({ ...begun, offset: 4 });
    expect(await again.uploads.find({ ...SCOPE, owner: 'bob' }, begun.id)).toBeUndefined();
    expect(await again.head(SCOPE, begun.id)).toBeUndefined();
    expect(await again.usage(SCOPE)).toEqual({ files: 0, bytes: 8_000 });
    const refused = { code: 'RESOURCE_EXHAUSTED' };
    await expect(again.put(SCOPE, fileOf(['y'.repeat(8_000)], clock), limits)).rejects.toMatchObject(refused);
    await expect(again.uploads.begin(SCOPE, upload(clock, 8_000), limits)).rejects.toMatchObject(refused);
  });

  it('ends after its time, and a sweep removes it', async () => {
    const clock = new ManualClock();
    const path = newFolder();
    const store = new DirectoryFileStore({ path, clock, ids: systemIds });
    const begun = upload(clock, 8_000);
    await store.uploads.begin(SCOPE, begun, LIMITS);
    await store.uploads.append(SCOPE, { id: begun.id, offset: 0, chunks: bytes('some') });
    await store.sweep();
    expect((await store.uploads.find(SCOPE, begun.id))?.offset).toBe(4);
    await clock.advance(1_000);
    expect(await store.uploads.find(SCOPE, begun.id)).toBeUndefined();
    expect(await store.uploads.append(SCOPE, { id: begun.id, offset: 4, chunks: bytes('more') })).toBeUndefined();
    await store.sweep();
    expect(namesBelow(path)).toEqual([]);
    expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
  });

  it('that has become a file keeps its bytes if the process died in between', async () => {
    const clock = new ManualClock();
    const path = newFolder();
    const store = new DirectoryFileStore({ path, clock, ids: systemIds, leftoverMs: 0 });
    const begun = upload(clock, 5);
    await store.uploads.begin(SCOPE, begun, LIMITS);
    await store.uploads.append(SCOPE, { id: begun.id, offset: 0, chunks: bytes('whole') });
    const name = namesBelow(path).find((one) => one.endsWith('.upload')) ?? '';
    const record = readFileSync(join(path, name), 'utf8');
    const times = { createdAt: clock.now(), expiresAt: clock.now() + 100_000 };
    const check = async () => ({ mediaType: 'text/plain', digest: 'x' });
    await store.uploads.complete(SCOPE, { id: begun.id, ...times, check });
    writeFileSync(join(path, name), record);
    const again = new DirectoryFileStore({ path, clock, ids: systemIds, leftoverMs: 0 });
    expect(await again.usage(SCOPE)).toEqual({ files: 1, bytes: 4096 });
    expect(await again.uploads.find(SCOPE, begun.id)).toBeUndefined();
    await clock.advance(2_000);
    await again.sweep();
    expect(namesBelow(path).filter((one) => one.endsWith('.upload'))).toEqual([]);
    expect(await textOf(await again.read(SCOPE, begun.id))).toBe('whole');
    writeFileSync(join(path, name), record);
    expect(await again.delete(SCOPE, begun.id)).toBe(true);
    expect(namesBelow(path).filter((one) => one.includes(begun.id))).toEqual([]);
  });

  /** Uploads that have all of their bytes, in a store for which these are old. */
  async function wholeUploads() {
    const clock = await clockAhead();
    const path = newFolder();
    const store = new DirectoryFileStore({ path, clock, ids: systemIds, leftoverMs: 0 });
    const ids = Array.from({ length: 60 }, () => newId());
    for (const id of ids) {
      await store.uploads.begin(SCOPE, { ...upload(clock, 5), id }, LIMITS);
      await store.uploads.append(SCOPE, { id, offset: 0, chunks: bytes('whole') });
    }
    const times = { createdAt: clock.now(), expiresAt: clock.now() + 100_000 };
    const check = async () => ({ mediaType: 'text/plain', digest: 'x' });
    const complete = () => Promise.all(ids.map((id) => store.uploads.complete(SCOPE, { id, ...times, check })));
    return { path, store, ids, complete };
  }

  it('that becomes a file while a sweep looks at it keeps its bytes', async () => {
    const { path, store, ids, complete } = await wholeUploads();
    const { isOver, over } = watchWork(complete());
    while (!isOver()) await store.sweep();
    await over;
    for (const id of ids) expect(await textOf(await store.read(SCOPE, id))).toBe('whole');
    expect(endingIn(path, '.upload')).toEqual([]);
  });

  it('counts for the quota at every moment at which it becomes a file', async () => {
    const { store, ids, complete } = await wholeUploads();
    const { isOver, over } = watchWork(complete());
    while (!isOver()) expect((await store.usage(SCOPE)).bytes).toBe(ids.length * 4096);
    await over;
  });

  it('and is removed while its bytes are checked becomes no file', async () => {
    const clock = new ManualClock();
    const path = newFolder();
    const store = new DirectoryFileStore({ path, clock, ids: systemIds });
    const begun = upload(clock, 5);
    await store.uploads.begin(SCOPE, begun, LIMITS);
    await store.uploads.append(SCOPE, { id: begun.id, offset: 0, chunks: bytes('whole') });
    const times = { createdAt: clock.now(), expiresAt: clock.now() + 100_000 };
    const check = async () => {
      await store.uploads.remove(SCOPE, begun.id);
      return { mediaType: 'text/plain', digest: 'x' };
    };
    expect(await store.uploads.complete(SCOPE, { id: begun.id, ...times, check })).toBeUndefined();
    expect(await store.head(SCOPE, begun.id)).toBeUndefined();
    expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
  });

  it('is not read from a link', async () => {
    const clock = new ManualClock();
    const path = newFolder();
    const store = new DirectoryFileStore({ path, clock, ids: systemIds });
    const begun = upload(clock, 5_000_000);
    await store.uploads.begin(SCOPE, begun, { maxBytes: 1e8, ownerBytes: 1e9 });
    const target = join(path, 'target');
    writeFileSync(target, '');
    const name = namesBelow(path).find((one) => one.endsWith('.bin')) ?? '';
    rmSync(join(path, name));
    symlinkSync(target, join(path, name));
    await expect(store.uploads.append(SCOPE, { id: begun.id, offset: 0, chunks: bytes('x') })).rejects.toThrow('ELOOP');
    expect(readFileSync(target, 'utf8')).toBe('');
  });
});
