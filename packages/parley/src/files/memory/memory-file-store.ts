import type { Clock } from '../../runtime/clock.js';
import type { OwnerQuery } from '../../store/owner-query.js';
import { isOwnedBy } from '../../store/owner-query.js';
import { type FileArrival, FileArrivals } from '../arrivals.js';
import { storeFull } from '../file-errors.js';
import {
  type FileLimits,
  type FileOwner,
  type FileRange,
  type FileScope,
  type FileStore,
  type FileUsage,
  type NewFile,
  type OpenedFile,
  quotaBytes,
  type StoredFile,
} from '../file-store.js';
import type { ErasedFiles, OwnedFile, OwnerFiles } from '../owner-files.js';
import { OwnerQuotas } from '../owner-quotas.js';
import { ArrivedBytes } from './arrived-bytes.js';
import { MemoryUploads } from './memory-uploads.js';
import { OwnedFiles } from './owned-files.js';

/** The options of a store in memory. */
interface MemoryFileStoreOptions {
  readonly clock: Clock;
  /**
   * Maximum bytes of all files together, with those that are being received. Each counts at least 4 KiB. One user of
   * one agent has at most half of them. Default: 256 MiB.
   */
  readonly storeBytes?: number;
}

interface Entry {
  readonly scope: FileScope;
  readonly file: StoredFile;
  readonly bytes: ArrivedBytes;
}

const STORE_BYTES = 268_435_456;
/** One owner has at most 1/`SHARES` of the store. */
const SHARES = 2;
/** Maximum bytes per chunk for a reader. */
const CHUNK_BYTES = 262_144;

/** Files in the memory of the process, for tests and small agents. They are lost when it ends. */
export class MemoryFileStore implements FileStore {
  readonly uploads: MemoryUploads;
  readonly owners: OwnerFiles = {
    list: (owner) => this.#list(owner),
    count: async (owner) => ({ files: this.#of(owner).length, uploads: this.uploads.ownedBy(owner).length }),
    erase: (owner) => this.#erase(owner),
  };
  readonly #arrivals = new FileArrivals();
  readonly #clock: Clock;
  readonly #storeBytes: number;
  readonly #files = new OwnedFiles<Entry>();
  readonly #quotas = new OwnerQuotas(async (owner) => (await this.usage(owner)).bytes);
  /** Bytes of all scopes, with files that are being received. */
  #bytes = 0;

  constructor({ clock, storeBytes = STORE_BYTES }: MemoryFileStoreOptions) {
    this.#clock = clock;
    this.#storeBytes = storeBytes;
    this.uploads = new MemoryUploads({
      clock,
      quotas: this.#quotas,
      limitsOf: (limits) => this.#shareOf(limits),
      takeRoom: this.#takeRoom,
      removeExpired: (scope, id) => this.#removeExpired(scope, id),
      keep: (scope, file, bytes) => {
        const entry = { scope, file, bytes };
        return this.#files.add(scope, file.id, entry) === entry;
      },
    });
  }

  async put(scope: FileScope, file: NewFile, limits: FileLimits): Promise<StoredFile> {
    await this.#removeExpired(scope, file.id);
    const known = this.#find(scope, file.id);
    if (known !== undefined) return known.file;
    const arrival = this.#arrivals.begin(scope);
    try {
      return await this.#put(scope, file, { limits, arrival });
    } finally {
      arrival.end();
    }
  }

  async #put(
    scope: FileScope,
    file: NewFile,
    { limits, arrival }: { readonly limits: FileLimits; readonly arrival: FileArrival },
  ): Promise<StoredFile> {
    const reservation = await this.#quotas.reserve(scope, file, this.#shareOf(limits));
    let bytes: ArrivedBytes | undefined;
    try {
      bytes = new ArrivedBytes(this.#takeRoom, file.size);
      for await (const chunk of file.chunks) {
        reservation.cover(bytes.size + chunk.length);
        bytes.append(chunk);
      }
      const { id, createdAt, expiresAt } = file;
      const { size } = bytes;
      const entry = { scope, file: { ...file.finish(), id, size, createdAt, expiresAt }, bytes };
      // Another file of this id may have been stored and have expired meanwhile.
      await this.#removeExpired(scope, id);
      arrival.check();
      const kept = this.#files.add(scope, id, entry);
      if (kept !== entry) {
        bytes.release();
        reservation.release();
        return kept.file;
      }
      bytes.trim();
      reservation.stored(size);
      return entry.file;
    } catch (error) {
      bytes?.release();
      reservation.release();
      throw error;
    }
  }

  async head(scope: FileScope, id: string): Promise<StoredFile | undefined> {
    return this.#find(scope, id)?.file;
  }

  async read(scope: FileScope, id: string, range?: FileRange): Promise<OpenedFile | undefined> {
    const entry = this.#find(scope, id);
    if (entry === undefined) return undefined;
    const { file, bytes } = entry;
    const { start, end } = range ?? { start: 0, end: file.size };
    if (start < 0 || start > end || end > file.size) throw new RangeError(`The file has ${file.size} bytes`);
    return { file, chunks: slices(bytes.blocks, start, end) };
  }

  async delete(scope: FileScope, id: string): Promise<boolean> {
    const entry = this.#find(scope, id);
    return entry !== undefined && this.#remove(entry);
  }

  async usage(owner: FileOwner): Promise<FileUsage> {
    const entries = this.#files.of(owner);
    const bytes = entries.reduce((sum, { file }) => sum + quotaBytes(file.size), 0);
    return { files: entries.length, bytes: bytes + this.uploads.countedOf(owner) };
  }

  async sweep(): Promise<number> {
    const expired = this.#files.all().filter((entry) => this.#isExpired(entry));
    const [removed] = await Promise.all([
      Promise.all(expired.map((entry) => this.#remove(entry))),
      this.uploads.sweep(),
    ]);
    return removed.filter(Boolean).length;
  }

  #of(owner: OwnerQuery): Entry[] {
    return this.#files.all().filter(({ scope }) => isOwnedBy(owner, scope));
  }

  async *#list(owner: OwnerQuery): AsyncGenerator<OwnedFile> {
    for (const { scope, file } of this.#of(owner)) yield { scope, file };
  }

  async #erase(owner: OwnerQuery): Promise<ErasedFiles> {
    this.#arrivals.erase(owner);
    const removed = await Promise.all(this.#of(owner).map((entry) => this.#remove(entry)));
    return { files: removed.filter(Boolean).length, uploads: await this.uploads.erase(owner) };
  }

  #remove(entry: Entry): Promise<boolean> {
    const { scope, file, bytes } = entry;
    return this.#quotas.remove(scope, file.size, async () => {
      if (!this.#files.delete(scope, file.id, entry)) return false;
      bytes.release();
      return true;
    });
  }

  /** Removes the file of an id if it is expired, so that a new one can have its id, room and quota. */
  async #removeExpired(scope: FileScope, id: string): Promise<void> {
    const entry = this.#files.find(scope, id);
    if (entry !== undefined && this.#isExpired(entry)) await this.#remove(entry);
  }

  #find(scope: FileScope, id: string): Entry | undefined {
    const entry = this.#files.find(scope, id);
    return entry === undefined || this.#isExpired(entry) ? undefined : entry;
  }

  #isExpired({ file }: Entry): boolean {
    return file.expiresAt <= this.#clock.now();
  }

  readonly #takeRoom = (bytes: number): void => {
    if (bytes > 0 && this.#bytes + bytes > this.#storeBytes) throw storeFull();
    this.#bytes += bytes;
  };

  #shareOf({ maxBytes, ownerBytes }: FileLimits): FileLimits {
    return { maxBytes, ownerBytes: Math.min(ownerBytes, Math.floor(this.#storeBytes / SHARES)) };
  }
}

/** The bytes from `start` to before `end`. */
async function* slices(blocks: readonly Uint8Array[], start: number, end: number): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const block of blocks) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, block.length);
    at += block.length;
    for (let next = from; next < to; next += CHUNK_BYTES) yield block.subarray(next, Math.min(next + CHUNK_BYTES, to));
    if (at >= end) return;
  }
}
