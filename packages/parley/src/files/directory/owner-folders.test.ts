import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createFile, makeFolder, removedIfEmpty, removeFile } from './folder-files.js';
import { OwnerFolders } from './owner-folders.js';

const root = mkdtempSync(join(tmpdir(), 'parley-folders-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SCOPE = { agent: '/', tenant: '', owner: 'ada' };
const FACTS = { size: 5, createdAt: 0, expiresAt: 1, mediaType: 'text/plain', digest: 'x' };
let ids = 0;

/** The folders of a new directory, and records of one id with their bytes. */
async function openFolder() {
  ids += 1;
  const folders = new OwnerFolders(join(root, String(ids)));
  const folder = folders.folderOf(SCOPE);
  await makeFolder(folder);
  const id = 'a'.repeat(32);
  const about = (letter: string) => {
    const bytes = `${id}.${letter.repeat(32)}.bin`;
    writeFileSync(join(folder, bytes), 'whole');
    return { scope: SCOPE, bytes };
  };
  return {
    folders,
    fileOf: (letter: string) => ({ ...about(letter), file: { id, ...FACTS } }),
    uploadOf: (letter: string) => ({ ...about(letter), upload: { id, ...FACTS } }),
    has: (name: string) => existsSync(join(folder, name)),
    record: `${id}.json`,
    uploadRecord: `${id}.upload`,
    token: 'f'.repeat(32),
  };
}

it('the removal of an older file or upload of an id leaves the newer one', async () => {
  const { folders, fileOf, uploadOf, has, record, uploadRecord, token } = await openFolder();
  const [old, file] = [fileOf('1'), fileOf('2')];
  await folders.publish(file, token);
  expect(await folders.delete(old)).toBe(false);
  expect([has(record), has(file.bytes)]).toEqual([true, true]);
  expect(await folders.delete(file)).toBe(true);
  expect([has(record), has(file.bytes)]).toEqual([false, false]);
  const [oldUpload, upload] = [uploadOf('3'), uploadOf('4')];
  await folders.publish(upload, token);
  expect(await folders.deleteUpload(oldUpload)).toBe(false);
  expect([has(uploadRecord), has(upload.bytes)]).toEqual([true, true]);
});

it('an upload that ends and is removed at the same time is a file with its bytes, or gone', async () => {
  for (const isFirst of [true, false]) {
    const { folders, uploadOf, has, record, uploadRecord, token } = await openFolder();
    const upload = uploadOf('1');
    await folders.publish(upload, token);
    const removing = isFirst ? folders.deleteUpload(upload) : undefined;
    const completing = folders.completeUpload(upload, { ...upload.upload, ...FACTS }, token);
    const isRemoved = await (removing ?? folders.deleteUpload(upload));
    expect(await completing).toBe(!isFirst);
    expect(isRemoved).toBe(isFirst);
    expect([has(record), has(upload.bytes), has(uploadRecord)]).toEqual([!isFirst, !isFirst, false]);
  }
});

it('an upload whose bytes a file has is removed without them', async () => {
  const { folders, fileOf, uploadOf, has, record, uploadRecord, token } = await openFolder();
  const [file, upload] = [fileOf('1'), uploadOf('1')];
  await folders.publish(file, token);
  await folders.publish(upload, token);
  expect(await folders.deleteUpload(upload)).toBe(false);
  expect([has(record), has(file.bytes), has(uploadRecord)]).toEqual([true, true, false]);
});

it('a file is created while its empty folders are removed', async () => {
  const above = join(root, 'above');
  const folder = join(above, 'folder');
  for (let at = 0; at < 300; at++) {
    const path = join(folder, String(at));
    const creating = createFile(path);
    for (const empty of [folder, above, folder, above]) await removedIfEmpty(empty);
    await (await creating).close();
    expect(await removeFile(path)).toBe(true);
  }
});
