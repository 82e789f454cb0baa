import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import { FileArrivals } from '../arrivals.js';
import {
  type FileLimits,
  type FileOwner,
  type FileRange,
  type FileScope,
  type FileStore,
  type FileUsage,
  isFileId,
  type NewFile,
  type OpenedFile,
  quotaBytes,
  type StoredFile,
} from '../file-store.js';
import type { OwnerFiles } from '../owner-files.js';
import { OwnerQuotas } from '../owner-quotas.js';
import type { UploadStore } from '../upload-store.js';
import { DirectoryOwnerFiles } from './directory-owner-files.js';
import { DirectorySweep } from './directory-sweep.js';
import { DirectoryUploads } from './directory-uploads.js';
import { FileWriter } from './file-writer.js';
import {
  bytesOf,
  createFile,
  fullDiskError,
  makeFolder,
  namesIn,
  removedOrLeft,
  undefinedIfMissing,
} from './folder-files.js';
import { OwnerFolders, storedFile } from './owner-folders.js';
import { entryOf, type StoredRecord } from './stored-record.js';

/** The options of a store in a directory. */
interface DirectoryFileStoreOptions {
  /** Created if it is missing. Only the user of the process can read it. */
  readonly path: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** The time without a write after which a sweep removes bytes that no file has, in ms. Default: 1 hour. */
  readonly leftoverMs?: number;
  /** Locks the directory for this process. Throws StorageError if another process has it. Default: no lock. */
  readonly lock?: (path: string) => DirectoryLock;
}

/** The lock of this process on a directory. */
export interface DirectoryLock {
  release(): void;
}

const LEFTOVER_MS = 3_600_000;
/** A file of the same id may be stored, expire and be removed between two attempts. */
const PUBLISH_ATTEMPTS = 3;

/**
 * Files in a directory of one process. The bytes are written and synced first, under a random name. Then the record
 * with the facts is synced, and linked to the id of the file. A file exists once its record exists.
 */
export class DirectoryFileStore implements FileStore {
  readonly uploads: UploadStore;
  readonly owners: OwnerFiles;
  readonly #arrivals = new FileArrivals();
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #leftoverMs: number;
  readonly #lock: DirectoryFileStoreOptions['lock'];
  readonly #folders: OwnerFolders;
  readonly #quotas = new OwnerQuotas(async (owner) => (await this.usage(owner)).bytes);
  #held: DirectoryLock | undefined;
  #opening: Promise<void> | undefined;

  constructor({ path, clock, ids, leftoverMs = LEFTOVER_MS, lock }: DirectoryFileStoreOptions) {
    this.#folders = new OwnerFolders(path);
    this.#clock = clock;
    this.#ids = ids;
    this.#leftoverMs = leftoverMs;
    this.#lock = lock;
    const open = () => this.open();
    const [folders, quotas, arrivals] = [this.#folders, this.#quotas, this.#arrivals] as const;
    this.uploads = new DirectoryUploads({ folders, quotas, arrivals, clock, ids, open });
    this.owners = new DirectoryOwnerFiles({ folders, quotas, arrivals, open });
  }

  async open(): Promise<void> {
    if (this.#held !== undefined) return;
    this.#opening ??= this.#take().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {});
    this.#held?.release();
    this.#held = undefined;
  }

  async put(scope: FileScope, file: NewFile, limits: FileLimits): Promise<StoredFile> {
    await this.open();
    const known = await this.#recordUnlessExpired(scope, file.id);
    if (known !== undefined) return known.file;
    const arrival = this.#arrivals.begin(scope);
    const reservation = await this.#quotas.reserve(scope, file, limits).catch((error: unknown) => {
      arrival.end();
      throw error;
    });
    const { id } = file;
    const token = this.#ids.random().replaceAll('-', '');
    const bytes = `${id}.${token}.bin`;
    const bytesPath = join(this.#folders.folderOf(scope), bytes);
    this.#folders.writing.add(bytesPath);
    let isStored = false;
    try {
      const handle = await createFile(bytesPath);
      const writer = new FileWriter(handle);
      try {
        for await (const chunk of file.chunks) {
          arrival.check();
          reservation.cover(writer.size + chunk.length);
          await writer.write(chunk);
        }
        await writer.sync();
      } finally {
        await writer.close();
      }
      const stored = storedFile(file.finish(), { ...file, size: writer.size });
      arrival.check();
      const record = { scope, bytes, file: stored };
      const kept = await this.#publish(record, token);
      try {
        arrival.check();
      } catch (error) {
        await this.#folders.delete(record);
        throw error;
      }
      isStored = kept === stored;
      if (isStored) reservation.stored(stored.size);
      return kept;
    } catch (error) {
      throw fullDiskError(error);
    } finally {
      if (!isStored) await removedOrLeft(bytesPath);
      reservation.release();
      arrival.end();
      this.#folders.writing.delete(bytesPath);
    }
  }

  async head(scope: FileScope, id: string): Promise<StoredFile | undefined> {
    return (await this.#find(scope, id))?.file;
  }

  async read(scope: FileScope, id: string, range?: FileRange): Promise<OpenedFile | undefined> {
    const record = await this.#find(scope, id);
    if (record === undefined) return undefined;
    const { file, bytes } = record;
    const { start, end } = range ?? { start: 0, end: file.size };
    if (start < 0 || start > end || end > file.size) throw new RangeError(`The file has ${file.size} bytes`);
    const path = join(this.#folders.folderOf(scope), bytes);
    const found = await stat(path).catch(undefinedIfMissing);
    if (found === undefined) return undefined;
    if (found.size !== file.size) throw new Error('A stored file has another size than its record says');
    return { file, chunks: bytesOf(path, start, end) };
  }

  async delete(scope: FileScope, id: string): Promise<boolean> {
    await this.open();
    const record = await this.#find(scope, id);
    return record !== undefined && this.#remove(record);
  }

  async usage(owner: FileOwner): Promise<FileUsage> {
    let files = 0;
    let bytes = 0;
    for (const folder of await this.#folders.foldersOf(owner)) {
      const usage = await this.#usageIn(folder);
      files += usage.files;
      bytes += usage.bytes;
    }
    return { files, bytes };
  }

  async #usageIn(folder: string): Promise<FileUsage> {
    const names = new Set(await namesIn(folder));
    const ids = new Set([...names].flatMap((name) => entryOf(name)?.id ?? []));
    let files = 0;
    let bytes = 0;
    for (const id of ids) {
      const isFile = names.has(`${id}.json`);
      const size = await this.#sizeOf(folder, id, isFile).catch(() => sizeOnDisk(folder, names, id));
      if (size === undefined) continue;
      if (isFile) files += 1;
      bytes += quotaBytes(size);
    }
    return { files, bytes };
  }

  /** The size that the record of a file or of an upload says; `undefined` if there is none. */
  async #sizeOf(folder: string, id: string, isFile: boolean): Promise<number | undefined> {
    // An upload may have become a file since the names were read. Its own record is removed after that of the file was
    // made.
    const record = isFile ? undefined : await this.#folders.upload(folder, `${id}.upload`);
    return record?.upload.size ?? (await this.#folders.record(folder, `${id}.json`))?.file.size;
  }

  async sweep(): Promise<number> {
    await this.open();
    const parts = { folders: this.#folders, quotas: this.#quotas, clock: this.#clock, leftoverMs: this.#leftoverMs };
    return new DirectorySweep(parts).run();
  }

  #remove(record: StoredRecord): Promise<boolean> {
    return this.#quotas.remove(record.scope, record.file.size, () => this.#folders.delete(record));
  }

  /** The record of an id, before a new file gets that id. An expired one is removed. */
  async #recordUnlessExpired(scope: FileScope, id: string): Promise<StoredRecord | undefined> {
    const record = await this.#record(scope, id);
    if (record === undefined || record.file.expiresAt > this.#clock.now()) return record;
    await this.#remove(record);
    return undefined;
  }

  /** Publishes a record. Resolves to the file of its id, which may be another one that was stored meanwhile. */
  async #publish(record: StoredRecord, token: string): Promise<StoredFile> {
    const { scope, file } = record;
    for (let attempt = 1; ; attempt++) {
      if (await this.#folders.publish(record, token)) return file;
      const other = await this.#recordUnlessExpired(scope, file.id);
      if (other !== undefined) return other.file;
      if (attempt === PUBLISH_ATTEMPTS) throw new Error(`The record ${file.id}.json is damaged: remove it`);
    }
  }

  async #find(scope: FileScope, id: string): Promise<StoredRecord | undefined> {
    const record = await this.#record(scope, id);
    return record !== undefined && record.file.expiresAt > this.#clock.now() ? record : undefined;
  }

  async #record(scope: FileScope, id: string): Promise<StoredRecord | undefined> {
    return isFileId(id) ? this.#folders.record(this.#folders.folderOf(scope), `${id}.json`) : undefined;
  }

  async #take(): Promise<void> {
    await makeFolder(this.#folders.path);
    this.#held = this.#lock?.(this.#folders.path) ?? { release: () => {} };
  }
}

/** The bytes of an id on the disk, for a record that cannot be read. */
async function sizeOnDisk(folder: string, names: ReadonlySet<string>, id: string): Promise<number> {
  let size = 0;
  for (const name of names) {
    const entry = entryOf(name);
    if (entry?.kind !== 'bytes' || entry.id !== id) continue;
    size += (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0;
  }
  return size;
}
