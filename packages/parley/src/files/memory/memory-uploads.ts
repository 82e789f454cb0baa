import type { Clock } from '../../runtime/clock.js';
import type { OwnerQuery } from '../../store/owner-query.js';
import { isOwnedBy } from '../../store/owner-query.js';
import { uploadTooLong } from '../file-errors.js';
import { type FileLimits, type FileOwner, type FileScope, quotaBytes, type StoredFile } from '../file-store.js';
import type { OwnerQuotas } from '../owner-quotas.js';
import {
  type AppendedBytes,
  type NewUpload,
  type PartialUpload,
  type UploadEnd,
  UploadOffsetError,
  type UploadStore,
} from '../upload-store.js';
import { ArrivedBytes } from './arrived-bytes.js';
import { OwnedFiles } from './owned-files.js';

/** The parts of the store that uploads need. */
interface MemoryUploadsOptions {
  readonly clock: Clock;
  readonly quotas: OwnerQuotas;
  /** The limits of one owner of this store. */
  readonly limitsOf: (limits: FileLimits) => FileLimits;
  /** Reserves bytes of the whole store; a negative number releases them. Throws if it is full. */
  readonly takeRoom: (bytes: number) => void;
  /** Removes the file of an id if it is expired. */
  readonly removeExpired: (scope: FileScope, id: string) => Promise<void>;
  /** Stores the bytes of a complete upload as a file. False if its id has a file. */
  readonly keep: (scope: FileScope, file: StoredFile, bytes: ArrivedBytes) => boolean;
}

/** An upload with its received bytes. */
export interface Upload {
  readonly about: NewUpload;
  readonly scope: FileScope;
  readonly bytes: ArrivedBytes;
}

/**
 * Uploads in the memory of the process. The size of each counts for the quota of its owner from the beginning. In the
 * store an upload first takes the room of the smallest file, and beyond that only room for received bytes.
 */
export class MemoryUploads implements UploadStore {
  readonly #options: MemoryUploadsOptions;
  readonly #uploads = new OwnedFiles<Upload>();

  constructor(options: MemoryUploadsOptions) {
    this.#options = options;
  }

  async begin(scope: FileScope, about: NewUpload, limits: FileLimits): Promise<void> {
    const { quotas, limitsOf, takeRoom } = this.#options;
    const expired = this.#uploads.find(scope, about.id);
    if (expired !== undefined && this.#isExpired(expired)) await this.#remove(expired);
    const reservation = await quotas.reserve(scope, about, limitsOf(limits));
    try {
      if (this.#uploads.find(scope, about.id) !== undefined) throw new Error('Another upload has the id of a new one');
      this.#uploads.add(scope, about.id, { about, scope, bytes: new ArrivedBytes(takeRoom, about.size) });
    } catch (error) {
      reservation.release();
      throw error;
    }
    reservation.stored(about.size);
  }

  async find(scope: FileScope, id: string): Promise<PartialUpload | undefined> {
    const upload = this.#find(scope, id);
    return upload && { ...upload.about, offset: upload.bytes.size };
  }

  async append(scope: FileScope, { id, offset, chunks }: AppendedBytes): Promise<number | undefined> {
    const upload = this.#find(scope, id);
    if (upload === undefined) return undefined;
    const { about, bytes } = upload;
    if (bytes.size !== offset) throw new UploadOffsetError(bytes.size);
    for await (const chunk of chunks) {
      if (!this.#isThere(upload)) return undefined;
      if (bytes.size + chunk.length > about.size) throw uploadTooLong(about.size);
      bytes.append(chunk);
    }
    return this.#isThere(upload) ? bytes.size : undefined;
  }

  async complete(scope: FileScope, { id, createdAt, expiresAt, check }: UploadEnd): Promise<StoredFile | undefined> {
    const upload = this.#find(scope, id);
    if (upload === undefined) return undefined;
    const { bytes, about } = upload;
    const { size } = about;
    if (bytes.size !== size) throw new UploadOffsetError(bytes.size);
    bytes.trim();
    const { blocks } = bytes;
    const facts = await check(
      (async function* () {
        yield* blocks;
      })(),
    );
    await this.#options.removeExpired(scope, id);
    // The upload may have been removed meanwhile.
    if (this.#find(scope, id) !== upload) return undefined;
    const file = { ...facts, id, size, createdAt, expiresAt };
    if (!this.#options.keep(scope, file, bytes)) throw new Error('A file has the id of an upload');
    // The file takes over the quota and the room of the upload.
    this.#uploads.delete(scope, id, upload);
    return file;
  }

  async remove(scope: FileScope, id: string): Promise<boolean> {
    const upload = this.#find(scope, id);
    return upload !== undefined && this.#remove(upload);
  }

  /** The bytes of the uploads of an owner as they count for the quota. */
  countedOf(owner: FileOwner): number {
    return this.#uploads.of(owner).reduce((sum, { about }) => sum + quotaBytes(about.size), 0);
  }

  /** The uploads of an owner in all agents and tenants. */
  ownedBy(owner: OwnerQuery): Upload[] {
    return this.#uploads.all().filter(({ scope }) => isOwnedBy(owner, scope));
  }

  /** Removes the uploads of an owner, and returns their number. */
  async erase(owner: OwnerQuery): Promise<number> {
    const removed = await Promise.all(this.ownedBy(owner).map((upload) => this.#remove(upload)));
    return removed.filter(Boolean).length;
  }

  /** Removes expired uploads. */
  async sweep(): Promise<void> {
    const expired = this.#uploads.all().filter((upload) => this.#isExpired(upload));
    await Promise.all(expired.map((upload) => this.#remove(upload)));
  }

  #remove(upload: Upload): Promise<boolean> {
    const { scope, about, bytes } = upload;
    return this.#options.quotas.remove(scope, about.size, async () => {
      if (!this.#uploads.delete(scope, about.id, upload)) return false;
      bytes.release();
      return true;
    });
  }

  /** False if the upload was removed. */
  #isThere(upload: Upload): boolean {
    return this.#uploads.find(upload.scope, upload.about.id) === upload;
  }

  #find(scope: FileScope, id: string): Upload | undefined {
    const upload = this.#uploads.find(scope, id);
    return upload === undefined || this.#isExpired(upload) ? undefined : upload;
  }

  #isExpired({ about }: Upload): boolean {
    return about.expiresAt <= this.#options.clock.now();
  }
}
