import type { Clock } from '../runtime/clock.js';
import { uploadTooLong } from './file-errors.js';
import { countedBytes, type FileLimits, type FileScope, fileScopeText, type StoredFile } from './file-store.js';
import type { OwnerQuotas } from './owner-quotas.js';
import {
  type AppendedBytes,
  type NewUpload,
  type PartialUpload,
  type UploadEnd,
  UploadOffsetError,
  type UploadStore,
} from './upload-store.js';

/** The parts of the store of the uploads. */
export interface MemoryUploadsOptions {
  readonly clock: Clock;
  readonly quotas: OwnerQuotas;
  /** Takes bytes of the room of all owners; a negative number gives them back. Throws if there is no room. */
  readonly takeRoom: (bytes: number) => void;
  /** Keeps the bytes of a whole upload as a file. False if there is a file of its id. */
  readonly keep: (scope: FileScope, file: StoredFile, bytes: Uint8Array) => boolean;
}

interface Upload {
  readonly about: NewUpload;
  readonly scope: FileScope;
  /** Of the size of the whole file. Absent before the first byte. */
  bytes: Uint8Array | undefined;
  offset: number;
}

/** Uploads in the memory of the process. Each takes the room of its whole file from the beginning. */
export class MemoryUploads implements UploadStore {
  readonly #options: MemoryUploadsOptions;
  /** By scope, and then by id. */
  readonly #spaces = new Map<string, Map<string, Upload>>();

  constructor(options: MemoryUploadsOptions) {
    this.#options = options;
  }

  async begin(scope: FileScope, about: NewUpload, limits: FileLimits): Promise<void> {
    const { quotas, takeRoom } = this.#options;
    const reservation = await quotas.reserve(scope, about, limits);
    try {
      if (this.#found(scope, about.id) !== undefined) throw new Error('Another upload has the id of a new one');
      takeRoom(countedBytes(about.size));
    } catch (error) {
      reservation.release();
      throw error;
    }
    const key = fileScopeText(scope);
    const space = this.#spaces.get(key) ?? new Map<string, Upload>();
    this.#spaces.set(key, space);
    space.set(about.id, { about, scope, bytes: undefined, offset: 0 });
    reservation.stored(about.size);
  }

  async find(scope: FileScope, id: string): Promise<PartialUpload | undefined> {
    const upload = this.#found(scope, id);
    return upload && { ...upload.about, offset: upload.offset };
  }

  async append(scope: FileScope, { id, offset, chunks }: AppendedBytes): Promise<number | undefined> {
    const upload = this.#found(scope, id);
    if (upload === undefined) return undefined;
    if (upload.offset !== offset) throw new UploadOffsetError(upload.offset);
    const { size } = upload.about;
    for await (const chunk of chunks) {
      if (upload.offset + chunk.length > size) throw uploadTooLong(size);
      upload.bytes ??= new Uint8Array(size);
      upload.bytes.set(chunk, upload.offset);
      upload.offset += chunk.length;
    }
    return upload.offset;
  }

  async complete(scope: FileScope, { id, createdAt, expiresAt, check }: UploadEnd): Promise<StoredFile | undefined> {
    const upload = this.#found(scope, id);
    if (upload === undefined) return undefined;
    const { bytes = new Uint8Array(0), offset, about } = upload;
    const { size } = about;
    if (offset !== size) throw new UploadOffsetError(offset);
    const facts = await check(
      (async function* () {
        if (size > 0) yield bytes;
      })(),
    );
    // The upload may have been removed meanwhile.
    if (this.#found(scope, id) !== upload) return undefined;
    const file = { ...facts, id, size, createdAt, expiresAt };
    if (!this.#options.keep(scope, file, bytes)) throw new Error('A file has the id of an upload');
    // The file counts for the quota as the upload did, and takes the room of its bytes.
    this.#forget(upload);
    this.#options.takeRoom(size - countedBytes(size));
    return file;
  }

  async remove(scope: FileScope, id: string): Promise<boolean> {
    const upload = this.#found(scope, id);
    return upload !== undefined && this.#remove(upload);
  }

  /** The bytes of the uploads of a scope as they count for the quota. */
  countedOf(scope: FileScope): number {
    const uploads = [...(this.#spaces.get(fileScopeText(scope))?.values() ?? [])];
    return uploads.reduce((sum, { about }) => sum + countedBytes(about.size), 0);
  }

  /** Removes expired uploads. */
  async sweep(): Promise<void> {
    const now = this.#options.clock.now();
    const uploads = [...this.#spaces.values()].flatMap((space) => [...space.values()]);
    await Promise.all(uploads.filter(({ about }) => about.expiresAt <= now).map((upload) => this.#remove(upload)));
  }

  #remove(upload: Upload): Promise<boolean> {
    const { scope, about } = upload;
    return this.#options.quotas.remove(scope, about.size, async () => {
      if (!this.#forget(upload)) return false;
      this.#options.takeRoom(-countedBytes(about.size));
      return true;
    });
  }

  #forget({ scope, about }: Upload): boolean {
    const key = fileScopeText(scope);
    const space = this.#spaces.get(key);
    const isForgotten = space?.delete(about.id) === true;
    if (space?.size === 0) this.#spaces.delete(key);
    return isForgotten;
  }

  #found(scope: FileScope, id: string): Upload | undefined {
    const upload = this.#spaces.get(fileScopeText(scope))?.get(id);
    return upload !== undefined && upload.about.expiresAt > this.#options.clock.now() ? upload : undefined;
  }
}
