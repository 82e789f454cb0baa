import { constants } from 'node:fs';
import { type FileHandle, link, mkdir, open, opendir, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { storeFull } from '../file-errors.js';

/** Opens for reading, but follows no symbolic link: the store makes none. */
export const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
/** Opens for appending, but follows no symbolic link. */
export const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
/** Only the user of the process may read folders and files. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const READ_BYTES = 131_072;
const CREATE_ATTEMPTS = 10;
const NO_BYTES = Buffer.alloc(0);
/** The disk is full, the quota of the system user is used up, or the file is too large for the system. */
const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Makes a folder and those above it. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  if (first === undefined) return;
  for (let made = path; ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made.length <= first.length) return;
  }
}

/**
 * Creates a file, and its folder if that is missing. Retries, because sweeps and deletes may remove the empty folder
 * and the one above it in between.
 */
export async function createFile(path: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    try {
      await makeFolder(dirname(path));
      return await open(path, 'wx', FILE_MODE);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || attempt === CREATE_ATTEMPTS) throw error;
    }
  }
}

/** Writes a new file with a text, and waits until it is on the disk. */
export async function writeText(path: string, text: string): Promise<void> {
  const handle = await createFile(path);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The text of a file; `undefined` if it is missing, or longer than `most` bytes. */
export async function readText(path: string, most: number): Promise<string | undefined> {
  const handle = await open(path, READ).catch(undefinedIfMissing);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    return size > most ? undefined : await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** Gives a file a second name. False if another file has that name. */
export async function linkFile(path: string, name: string): Promise<boolean> {
  try {
    await link(path, name);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** The names in a folder; none if it is missing. */
export async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  const directory = await opendir(folder).catch(undefinedIfMissing);
  if (directory !== undefined) for await (const { name } of directory) names.push(name);
  return names;
}

/** The bytes of a file in two buffers: the disk fills one while the reader has the other. */
export async function* bytesOf(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  if (start === end) return;
  const handle = await open(path, READ);
  const sizes = [Math.min(READ_BYTES, end - start), Math.min(READ_BYTES, Math.max(end - start - READ_BYTES, 0))];
  let [next = NO_BYTES, last = NO_BYTES] = sizes.map((size) => Buffer.allocUnsafeSlow(size));
  let reading = readAt(handle, next, start);
  try {
    for (let at = start; at < end; ) {
      const chunk = await reading;
      at += chunk.length;
      [next, last] = [last, next];
      if (at < end) {
        reading = readAt(handle, next.subarray(0, end - at), at);
        // The next round handles the error.
        reading.catch(() => {});
      }
      yield chunk;
    }
  } finally {
    await reading.catch(() => {});
    await handle.close();
  }
}

async function readAt(handle: FileHandle, buffer: Buffer, at: number): Promise<Buffer> {
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
  if (bytesRead === 0) throw new Error('A stored file is shorter than its record says');
  return buffer.subarray(0, bytesRead);
}

/** Makes new and removed names durable, on systems that support it. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  try {
    await handle?.sync().catch(() => {});
  } finally {
    await handle?.close();
  }
}

/** Removes a file. False if it was gone. */
export async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Removes a file that no record names. If that fails, a sweep removes it later. */
export async function removedOrLeft(path: string): Promise<void> {
  await removeFile(path).catch(() => {});
}

/** Removes a folder, unless it has files. */
export async function removedIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}

/** Maps the error of a missing file to undefined, and throws others. */
export function undefinedIfMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

/** The error for the caller if the disk is full; other errors unchanged. */
export function fullDiskError(error: unknown): unknown {
  return FULL.has(codeOf(error)) ? storeFull() : error;
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}
