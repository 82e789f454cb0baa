import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { OwnerQuotas } from '../owner-quotas.js';
import { namesIn, removedIfEmpty, removeFile, undefinedIfMissing } from './folder-files.js';
import { foldersIn, type OwnerFolders } from './owner-folders.js';
import { entryOf, type FolderEntry } from './stored-record.js';

/** The directory of a sweep. */
interface DirectorySweepOptions {
  readonly folders: OwnerFolders;
  readonly quotas: OwnerQuotas;
  readonly clock: Clock;
  /** The time without a write after which bytes without a record are removed, in ms. */
  readonly leftoverMs: number;
}

/** A name in a folder that is one of ours. */
interface NamedEntry extends FolderEntry {
  readonly name: string;
}

/** The state of a sweep in one folder. */
interface SweptFolder {
  readonly folder: string;
  /** The names of bytes that records name. */
  readonly used: Set<string>;
  /** The ids with a record that could not be read. All of their names stay. */
  readonly unreadable: Set<string>;
}

/** One sweep. It continues after a name that cannot be read or removed. */
export class DirectorySweep {
  readonly #options: DirectorySweepOptions;
  #removed = 0;
  #failures = 0;
  #firstFailure: { readonly path: string; readonly error: unknown } | undefined;

  constructor(options: DirectorySweepOptions) {
    this.#options = options;
  }

  /**
   * Removes expired files and uploads, and old bytes without a record. Resolves to the count of the removed files.
   * @throws StorageError at the end, if some names could not be read or removed.
   */
  async run(): Promise<number> {
    const { folders } = this.#options;
    for (const owner of await folders.owners()) {
      await this.#attempt(owner, async () => {
        for (const folder of await foldersIn(owner)) await this.#attempt(folder, () => this.#sweepFolder(folder));
      });
      await removedIfEmpty(owner);
    }
    if (this.#firstFailure === undefined) return this.#removed;
    const { path, error } = this.#firstFailure;
    const count = this.#failures === 1 ? '1 name' : `${this.#failures} names`;
    const reason = `${error instanceof Error ? error.message : error} (${path})`;
    const text = `${count} in ${folders.path} could not be read or removed: ${reason}. Check the disk and the rights`;
    throw new StorageError(text, { cause: error });
  }

  async #sweepFolder(folder: string): Promise<void> {
    const names = await namesIn(folder);
    const swept: SweptFolder = { folder, used: new Set(), unreadable: new Set() };
    const entries = names.flatMap((name): readonly NamedEntry[] => {
      const entry = entryOf(name);
      return entry === undefined ? [] : [{ ...entry, name }];
    });
    // Records of files are first, because an upload that has become a file shares its bytes.
    for (const entry of entries.sort((one, other) => order(one) - order(other))) {
      if (swept.unreadable.has(entry.id)) continue;
      const isDone = await this.#attempt(join(folder, entry.name), () => this.#sweepEntry(swept, entry));
      if (!isDone) swept.unreadable.add(entry.id);
    }
    await removedIfEmpty(folder);
  }

  #sweepEntry(swept: SweptFolder, entry: NamedEntry): Promise<void> {
    if (entry.kind === 'record') return this.#sweepRecord(swept, entry.name);
    if (entry.kind === 'upload') return this.#sweepUpload(swept, entry.name);
    return this.#sweepBytes(swept, entry);
  }

  async #sweepRecord({ folder, used }: SweptFolder, name: string): Promise<void> {
    const { folders, quotas, clock } = this.#options;
    const record = await folders.record(folder, name);
    if (record === undefined) return;
    const { scope, file, bytes } = record;
    if (file.expiresAt > clock.now()) used.add(bytes);
    else if (await quotas.remove(scope, file.size, () => folders.delete(record))) this.#removed += 1;
  }

  async #sweepUpload({ folder, used }: SweptFolder, name: string): Promise<void> {
    const { folders, quotas, clock } = this.#options;
    const record = await folders.upload(folder, name);
    if (record === undefined) return;
    const { scope, upload, bytes } = record;
    const isOver = used.has(bytes) || upload.expiresAt <= clock.now();
    if (!isOver || folders.writing.has(join(folder, bytes))) used.add(bytes);
    else await quotas.remove(scope, upload.size, () => folders.deleteUpload(record));
  }

  /** Removes bytes and drafts without a record, unless this process still writes them. */
  async #sweepBytes({ folder, used }: SweptFolder, { name, kind, id }: NamedEntry): Promise<void> {
    const { folders, clock, leftoverMs } = this.#options;
    const path = join(folder, name);
    if (used.has(name) || folders.writing.has(path)) return;
    const found = await stat(path).catch(undefinedIfMissing);
    if (found === undefined || found.mtimeMs + leftoverMs > clock.now()) return;
    // An upload may have become a file since the names were read. The upload's record is older than the file's.
    if (kind === 'bytes') {
      if ((await folders.upload(folder, `${id}.upload`))?.bytes === name) return;
      if ((await folders.record(folder, `${id}.json`))?.bytes === name) return;
    }
    await removeFile(path);
  }

  /** False if the work failed. */
  async #attempt(path: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#failures += 1;
      this.#firstFailure ??= { path, error };
      return false;
    }
  }
}

function order({ kind }: FolderEntry): number {
  return kind === 'record' ? 0 : kind === 'upload' ? 1 : 2;
}
