import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import type { FileArrivals } from '../arrivals.js';
import { uploadTooLong } from '../file-errors.js';
import { type FileLimits, type FileScope, isFileId, type StoredFile } from '../file-store.js';
import type { OwnerQuotas } from '../owner-quotas.js';
import {
  type AppendedBytes,
  type NewUpload,
  type PartialUpload,
  type UploadEnd,
  UploadOffsetError,
  type UploadStore,
} from '../upload-store.js';
import { FileWriter } from './file-writer.js';
import { APPEND, bytesOf, createFile, fullDiskError, removedOrLeft, undefinedIfMissing } from './folder-files.js';
import { type OwnerFolders, storedFile } from './owner-folders.js';
import type { UploadRecord } from './stored-record.js';

/** The store of the uploads. */
interface DirectoryUploadsOptions {
  readonly folders: OwnerFolders;
  readonly quotas: OwnerQuotas;
  readonly arrivals: FileArrivals;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Takes the directory for this process. */
  readonly open: () => Promise<void>;
}

/** An upload, and the file with its bytes. */
interface FoundUpload {
  readonly record: UploadRecord;
  readonly path: string;
  readonly offset: number;
}

/**
 * Uploads in the folders of their owners. The record is written before the bytes. The size of the file with the bytes
 * is the offset, so that a killed process loses no byte that is on the disk.
 */
export class DirectoryUploads implements UploadStore {
  readonly #options: DirectoryUploadsOptions;

  constructor(options: DirectoryUploadsOptions) {
    this.#options = options;
  }

  async begin(scope: FileScope, upload: NewUpload, limits: FileLimits): Promise<void> {
    await this.#options.open();
    const arrival = this.#options.arrivals.begin(scope);
    try {
      await this.#begin(scope, upload, limits);
      try {
        arrival.check();
      } catch (error) {
        await this.remove(scope, upload.id);
        throw error;
      }
    } finally {
      arrival.end();
    }
  }

  async #begin(scope: FileScope, upload: NewUpload, limits: FileLimits): Promise<void> {
    const { folders, quotas, ids } = this.#options;
    const known = await folders.upload(folders.folderOf(scope), `${upload.id}.upload`);
    if (known !== undefined && this.#isExpired(known)) await this.#remove(known);
    const reservation = await quotas.reserve(scope, upload, limits);
    const token = ids.random().replaceAll('-', '');
    const bytes = `${upload.id}.${token}.bin`;
    const path = join(folders.folderOf(scope), bytes);
    let isStored = false;
    folders.writing.add(path);
    try {
      await (await createFile(path)).close();
      isStored = await folders.publish({ scope, bytes, upload }, token);
      if (!isStored) throw new Error('Another upload has the id of a new one');
      reservation.stored(upload.size);
    } catch (error) {
      throw fullDiskError(error);
    } finally {
      if (!isStored) await removedOrLeft(path);
      reservation.release();
      folders.writing.delete(path);
    }
  }

  async find(scope: FileScope, id: string): Promise<PartialUpload | undefined> {
    const found = await this.#find(scope, id);
    return found === undefined ? undefined : { ...found.record.upload, offset: found.offset };
  }

  async append(scope: FileScope, { id, offset, chunks }: AppendedBytes): Promise<number | undefined> {
    await this.#options.open();
    const found = await this.#find(scope, id);
    if (found === undefined) return undefined;
    if (found.offset !== offset) throw new UploadOffsetError(found.offset);
    const { size } = found.record.upload;
    return this.#writing(found, async () => {
      const writer = new FileWriter(await open(found.path, APPEND));
      try {
        for await (const chunk of chunks) {
          if (offset + writer.size + chunk.length > size) throw uploadTooLong(size);
          await writer.write(chunk);
        }
      } finally {
        // Bytes before a lost connection are kept, so that the caller need not send them again.
        try {
          await writer.sync();
        } finally {
          await writer.close();
        }
      }
      return offset + writer.size;
    });
  }

  async complete(scope: FileScope, { id, createdAt, expiresAt, check }: UploadEnd): Promise<StoredFile | undefined> {
    const { folders, ids } = this.#options;
    await this.#options.open();
    const found = await this.#find(scope, id);
    if (found === undefined) return undefined;
    const { record, path, offset } = found;
    const { size } = record.upload;
    if (offset !== size) throw new UploadOffsetError(offset);
    return this.#writing(found, async () => {
      const facts = await check(bytesOf(path, 0, size));
      const file = storedFile(facts, { id, size, createdAt, expiresAt });
      const token = ids.random().replaceAll('-', '');
      // The upload may have been removed meanwhile.
      return (await folders.completeUpload(record, file, token)) ? file : undefined;
    });
  }

  async remove(scope: FileScope, id: string): Promise<boolean> {
    await this.#options.open();
    const found = await this.#find(scope, id);
    return found !== undefined && this.#remove(found.record);
  }

  #remove(record: UploadRecord): Promise<boolean> {
    const { folders, quotas } = this.#options;
    return quotas.remove(record.scope, record.upload.size, () => folders.deleteUpload(record));
  }

  #isExpired({ upload }: UploadRecord): boolean {
    return upload.expiresAt <= this.#options.clock.now();
  }

  /** Runs work on the bytes of an upload, and keeps sweeps away from them meanwhile. */
  async #writing<Result>({ path }: FoundUpload, work: () => Promise<Result>): Promise<Result> {
    const { writing } = this.#options.folders;
    writing.add(path);
    try {
      return await work();
    } catch (error) {
      throw fullDiskError(error);
    } finally {
      writing.delete(path);
    }
  }

  async #find(scope: FileScope, id: string): Promise<FoundUpload | undefined> {
    if (!isFileId(id)) return undefined;
    const { folders } = this.#options;
    const folder = folders.folderOf(scope);
    const record = await folders.upload(folder, `${id}.upload`);
    if (record === undefined || this.#isExpired(record)) return undefined;
    // The process may have died after it made the file, and before it removed the upload.
    if ((await folders.record(folder, `${id}.json`)) !== undefined) return undefined;
    const path = join(folder, record.bytes);
    const found = await stat(path).catch(undefinedIfMissing);
    return found === undefined ? undefined : { record, path, offset: found.size };
  }
}
