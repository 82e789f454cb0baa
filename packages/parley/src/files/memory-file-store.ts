import type { Clock } from '../runtime/clock.js';
import { storeFull } from './file-errors.js';
import {
  countedBytes,
  type FileLimits,
  type FileRange,
  type FileScope,
  type FileStore,
  type FileUsage,
  fileScopeText,
  type NewFile,
  type OpenedFile,
  type StoredFile,
} from './file-store.js';
import { MemoryUploads } from './memory-uploads.js';
import { OwnerQuotas } from './owner-quotas.js';

/** The options of a store in memory. */
export interface MemoryFileStoreOptions {
  readonly clock: Clock;
  /** The most bytes of all files together, with those that arrive. Default: 256 MiB. */
  readonly storeBytes?: number;
}

interface Entry {
  readonly scope: FileScope;
  readonly file: StoredFile;
  readonly chunks: readonly Uint8Array[];
}

const STORE_BYTES = 268_435_456;
/** The most bytes that a reader gets at once. */
const CHUNK_BYTES = 262_144;

/** Files in the memory of the process, for tests and small agents. They end with the process. */
export class MemoryFileStore implements FileStore {
  readonly uploads: MemoryUploads;
  readonly #clock: Clock;
  readonly #storeBytes: number;
  readonly #spaces = new Map<string, Map<string, Entry>>();
  readonly #quotas = new OwnerQuotas(async (scope) => (await this.usage(scope)).bytes);
  /** Of all scopes, with what arrives. */
  #bytes = 0;

  constructor({ clock, storeBytes = STORE_BYTES }: MemoryFileStoreOptions) {
    this.#clock = clock;
    this.#storeBytes = storeBytes;
    this.uploads = new MemoryUploads({
      clock,
      quotas: this.#quotas,
      takeRoom: (bytes) => {
        if (bytes > 0 && this.#bytes + bytes > storeBytes) throw storeFull();
        this.#bytes += bytes;
      },
      keep: (scope, file, bytes) => {
        if (this.#found(scope, file.id) !== undefined) return false;
        this.#space(scope).set(file.id, { scope, file, chunks: [bytes] });
        return true;
      },
    });
  }

  async put(scope: FileScope, file: NewFile, limits: FileLimits): Promise<StoredFile> {
    const known = this.#found(scope, file.id);
    if (known !== undefined) return known.file;
    const reservation = await this.#quotas.reserve(scope, file, limits);
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of file.chunks) {
        size += chunk.length;
        this.#bytes += chunk.length;
        reservation.cover(size);
        if (this.#bytes > this.#storeBytes) throw storeFull();
        chunks.push(new Uint8Array(chunk));
      }
      const { id, createdAt, expiresAt } = file;
      const stored = { ...file.finish(), id, size, createdAt, expiresAt };
      const other = this.#found(scope, id);
      if (other !== undefined) {
        this.#bytes -= size;
        reservation.release();
        return other.file;
      }
      this.#space(scope).set(id, { scope, file: stored, chunks });
      reservation.stored(size);
      return stored;
    } catch (error) {
      this.#bytes -= size;
      reservation.release();
      throw error;
    }
  }

  async head(scope: FileScope, id: string): Promise<StoredFile | undefined> {
    return this.#found(scope, id)?.file;
  }

  async read(scope: FileScope, id: string, range?: FileRange): Promise<OpenedFile | undefined> {
    const entry = this.#found(scope, id);
    if (entry === undefined) return undefined;
    const { file, chunks } = entry;
    const { start, end } = range ?? { start: 0, end: file.size };
    if (start < 0 || start > end || end > file.size) throw new RangeError(`The file has ${file.size} bytes`);
    return { file, chunks: slices(chunks, start, end) };
  }

  async delete(scope: FileScope, id: string): Promise<boolean> {
    const entry = this.#found(scope, id);
    return entry !== undefined && this.#remove(entry);
  }

  async usage(scope: FileScope): Promise<FileUsage> {
    const entries = [...(this.#spaces.get(fileScopeText(scope))?.values() ?? [])];
    const bytes = entries.reduce((sum, { file }) => sum + countedBytes(file.size), 0);
    return { files: entries.length, bytes: bytes + this.uploads.countedOf(scope) };
  }

  async sweep(): Promise<number> {
    const now = this.#clock.now();
    const expired = [...this.#spaces.values()]
      .flatMap((space) => [...space.values()])
      .filter(({ file }) => file.expiresAt <= now);
    await Promise.all([...expired.map((entry) => this.#remove(entry)), this.uploads.sweep()]);
    return expired.length;
  }

  #remove({ scope, file }: Entry): Promise<boolean> {
    const key = fileScopeText(scope);
    return this.#quotas.remove(scope, file.size, async () => {
      const space = this.#spaces.get(key);
      if (space?.delete(file.id) !== true) return false;
      if (space.size === 0) this.#spaces.delete(key);
      this.#bytes -= file.size;
      return true;
    });
  }

  #found(scope: FileScope, id: string): Entry | undefined {
    const entry = this.#spaces.get(fileScopeText(scope))?.get(id);
    return entry !== undefined && entry.file.expiresAt > this.#clock.now() ? entry : undefined;
  }

  #space(scope: FileScope): Map<string, Entry> {
    const key = fileScopeText(scope);
    const space = this.#spaces.get(key) ?? new Map<string, Entry>();
    this.#spaces.set(key, space);
    return space;
  }
}

/** The bytes from `start` to before `end`. */
async function* slices(chunks: readonly Uint8Array[], start: number, end: number): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const chunk of chunks) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, chunk.length);
    at += chunk.length;
    for (let next = from; next < to; next += CHUNK_BYTES) yield chunk.subarray(next, Math.min(next + CHUNK_BYTES, to));
    if (at >= end) return;
  }
}
