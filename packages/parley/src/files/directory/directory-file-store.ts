import { constants } from 'node:fs';
import { type FileHandle, link, mkdir, open, opendir, rmdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import {
  countedBytes,
  type FileLimits,
  type FileRange,
  type FileScope,
  type FileStore,
  type FileUsage,
  isFileId,
  type NewFile,
  type OpenedFile,
  type StoredFile,
} from '../file-store.js';
import { OwnerQuotas } from '../owner-quotas.js';
import { FileWriter } from './file-writer.js';
import { entryOf, folderName, isFolderName, readRecord, recordText, type StoredRecord } from './stored-record.js';

/** The options of a store in a directory. */
export interface DirectoryFileStoreOptions {
  /** Made if it is missing. Only the user of the process may read it. */
  readonly path: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** The time without a write after which a sweep removes bytes that no file has, in ms. Default: 1 hour. */
  readonly leftoverMs?: number;
}

const LEFTOVER_MS = 3_600_000;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
const READ_BYTES = 262_144;
/** The longest record: a name has at most 255 characters. */
const MOST_RECORD = 16_384;

/**
 * Files in a directory of one process. The bytes are written and synced first, under a name of our own. Then the record
 * with the facts is synced, and linked to the id of the file. A file is there when its record is.
 */
export class DirectoryFileStore implements FileStore {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #leftoverMs: number;
  readonly #quotas = new OwnerQuotas(async (scope) => (await this.usage(scope)).bytes);
  /** Paths that this process writes now. */
  readonly #writing = new Set<string>();

  constructor({ path, clock, ids, leftoverMs = LEFTOVER_MS }: DirectoryFileStoreOptions) {
    this.#path = path;
    this.#clock = clock;
    this.#ids = ids;
    this.#leftoverMs = leftoverMs;
  }

  async put(scope: FileScope, file: NewFile, limits: FileLimits): Promise<StoredFile> {
    const known = await this.head(scope, file.id);
    if (known !== undefined) return known;
    const reservation = await this.#quotas.reserve(scope, file, limits);
    const folder = this.#folderOf(scope);
    const token = this.#ids.random().replaceAll('-', '');
    const bytesName = `${file.id}.${token}.bin`;
    const paths = [join(folder, bytesName), join(folder, `${file.id}.${token}.tmp`)] as const;
    const [bytesPath, recordPath] = paths;
    for (const path of paths) this.#writing.add(path);
    let isStored = false;
    try {
      const handle = await this.#create(folder, bytesPath);
      const writer = new FileWriter(handle);
      try {
        for await (const chunk of file.chunks) {
          reservation.cover(writer.size + chunk.length);
          await writer.write(chunk);
        }
        await writer.sync();
      } finally {
        await writer.close();
      }
      const { id, createdAt, expiresAt } = file;
      const stored: StoredFile = { ...file.finish(), id, size: writer.size, createdAt, expiresAt };
      await this.#writeRecord(recordPath, { scope, bytes: bytesName, file: stored });
      const other = await this.#publish(scope, recordPath, id);
      if (other !== undefined) return other;
      await syncFolder(folder);
      isStored = true;
      reservation.stored(stored.size);
      return stored;
    } finally {
      await removed(recordPath);
      if (!isStored) await removed(bytesPath);
      reservation.release();
      for (const path of paths) this.#writing.delete(path);
    }
  }

  async head(scope: FileScope, id: string): Promise<StoredFile | undefined> {
    return (await this.#found(scope, id))?.file;
  }

  async read(scope: FileScope, id: string, range?: FileRange): Promise<OpenedFile | undefined> {
    const record = await this.#found(scope, id);
    if (record === undefined) return undefined;
    const { file, bytes } = record;
    const { start, end } = range ?? { start: 0, end: file.size };
    if (start < 0 || start > end || end > file.size) throw new RangeError(`The file has ${file.size} bytes`);
    const path = join(this.#folderOf(scope), bytes);
    const found = await stat(path).catch(undefinedIfMissing);
    if (found === undefined) return undefined;
    if (found.size !== file.size) throw new Error('A stored file has another size than its record says');
    return { file, chunks: bytesOf(path, start, end) };
  }

  async delete(scope: FileScope, id: string): Promise<boolean> {
    const record = await this.#found(scope, id);
    return record !== undefined && this.#remove(this.#folderOf(scope), record);
  }

  async usage(scope: FileScope): Promise<FileUsage> {
    const folder = this.#folderOf(scope);
    let files = 0;
    let bytes = 0;
    for (const name of await namesIn(folder)) {
      if (entryOf(name)?.kind !== 'record') continue;
      const record = await this.#record(folder, name);
      if (record === undefined) continue;
      files += 1;
      bytes += countedBytes(record.file.size);
    }
    return { files, bytes };
  }

  async sweep(): Promise<number> {
    let count = 0;
    for (const name of await namesIn(this.#path)) {
      if (isFolderName(name)) count += await this.#sweepFolder(join(this.#path, name));
    }
    return count;
  }

  async #sweepFolder(folder: string): Promise<number> {
    const names = await namesIn(folder);
    const used = new Set<string>();
    let count = 0;
    for (const name of names) {
      if (entryOf(name)?.kind !== 'record') continue;
      const record = await this.#record(folder, name);
      if (record === undefined) continue;
      if (record.file.expiresAt > this.#clock.now()) used.add(record.bytes);
      else if (await this.#remove(folder, record)) count += 1;
    }
    for (const name of names) {
      const kind = entryOf(name)?.kind;
      if ((kind === 'bytes' || kind === 'draft') && !used.has(name)) await this.#removeLeftover(join(folder, name));
    }
    // Fails as long as it has files.
    await rmdir(folder).catch(() => {});
    return count;
  }

  /** Removes bytes without a record, unless this process still writes them. */
  async #removeLeftover(path: string): Promise<void> {
    if (this.#writing.has(path)) return;
    const found = await stat(path).catch(undefinedIfMissing);
    if (found !== undefined && found.mtimeMs + this.#leftoverMs <= this.#clock.now()) await removed(path);
  }

  /** Deletes the record first: without it the file is not found. */
  #remove(folder: string, { scope, file, bytes }: StoredRecord): Promise<boolean> {
    return this.#quotas.remove(scope, file.size, async () => {
      if (!(await removed(join(folder, `${file.id}.json`)))) return false;
      await removed(join(folder, bytes));
      await syncFolder(folder);
      return true;
    });
  }

  async #writeRecord(path: string, record: StoredRecord): Promise<void> {
    const handle = await open(path, 'wx', FILE_MODE);
    try {
      await handle.writeFile(recordText(record));
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** Gives the record the name of the file. Resolves to the file that has the name already, if there is one. */
  async #publish(scope: FileScope, recordPath: string, id: string): Promise<StoredFile | undefined> {
    const path = join(this.#folderOf(scope), `${id}.json`);
    try {
      await link(recordPath, path);
      return undefined;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const other = await this.head(scope, id);
    if (other === undefined) throw new Error('An expired file has the id of a new one');
    return other;
  }

  async #found(scope: FileScope, id: string): Promise<StoredRecord | undefined> {
    if (!isFileId(id)) return undefined;
    const record = await this.#record(this.#folderOf(scope), `${id}.json`);
    return record !== undefined && record.file.expiresAt > this.#clock.now() ? record : undefined;
  }

  /** A record of a folder; `undefined` if it is missing or no record of ours. */
  async #record(folder: string, name: string): Promise<StoredRecord | undefined> {
    const handle = await open(join(folder, name), READ).catch(undefinedIfMissing);
    if (handle === undefined) return undefined;
    try {
      const { size } = await handle.stat();
      if (size > MOST_RECORD) return undefined;
      const record = readRecord(await handle.readFile('utf8'));
      return record !== undefined && `${record.file.id}.json` === name && this.#folderOf(record.scope) === folder
        ? record
        : undefined;
    } finally {
      await handle.close();
    }
  }

  /** Creates a file in a folder. A sweep may remove the empty folder in between. */
  async #create(folder: string, path: string): Promise<FileHandle> {
    for (let attempt = 1; ; attempt++) {
      const isNew = (await mkdir(folder, { recursive: true, mode: FOLDER_MODE })) !== undefined;
      if (isNew) await syncFolder(this.#path);
      try {
        return await open(path, 'wx', FILE_MODE);
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || attempt === 3) throw error;
      }
    }
  }

  #folderOf(scope: FileScope): string {
    return join(this.#path, folderName(scope));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  const directory = await opendir(folder).catch(undefinedIfMissing);
  if (directory !== undefined) for await (const { name } of directory) names.push(name);
  return names;
}

async function* bytesOf(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  if (start === end) return;
  const handle = await open(path, READ);
  try {
    for (let at = start; at < end; ) {
      const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, end - at));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw new Error('A stored file is shorter than its record says');
      at += bytesRead;
      yield bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Makes new and removed names durable. Not every system can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  try {
    await handle?.sync().catch(() => {});
  } finally {
    await handle?.close();
  }
}

/** Removes a file. False if it was gone. */
async function removed(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}
