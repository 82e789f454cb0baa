import { type ChildProcess, fork } from 'node:child_process';
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
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { DirectoryFileStore } from '../../packages/parley/src/files/directory/directory-file-store.js';
import { ManualClock } from '../support/manual-clock.js';
import { fileOf, fileStoreContract, newId, SCOPE, textOf } from './file-store-contract.js';

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

fileStoreContract('a directory', async (clock) => ({
  store: new DirectoryFileStore({ path: newFolder(), clock, ids: systemIds }),
}));

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
    expect(name).toMatch(/^[0-9a-f]{64}(\/[0-9a-f]{32}(\.json|\.[0-9a-f]{32}\.bin))?$/);
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
