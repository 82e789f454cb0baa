import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The identity of each file of an open database, by path. */
export type OpenedFiles = ReadonlyMap<string, string | undefined>;

/** A file of an open database was moved or deleted. Writes to it would be lost. Never leaves its thread. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError';
  constructor(file: string) {
    super(`${file} was removed or replaced while the server had it open: move it back, or restart the server`);
  }
}

/**
 * Returns the identities of the database, its log, the index of its log, and its lock. All of them exist once it is
 * open.
 */
export function openedFiles(path: string): OpenedFiles {
  return new Map(['', '-wal', '-shm', '-lock'].map((end) => [path + end, identityOf(path + end)]));
}

/** @throws LostFileError */
export function checkInPlace(files: OpenedFiles): void {
  for (const [file, identity] of files) if (identityOf(file) !== identity) throw new LostFileError(file);
}

/** Checks before each commit that the files are in place. While their folder is unchanged, it only reads the folder. */
export class FileWatch {
  readonly #files: OpenedFiles;
  readonly #folder: string;
  #checked: string | undefined;

  constructor(path: string, files: OpenedFiles) {
    this.#files = files;
    this.#folder = dirname(path);
  }

  /** @throws LostFileError */
  check(): void {
    const folder = statSync(this.#folder, { throwIfNoEntry: false });
    const state = folder && `${folder.dev} ${folder.ino} ${folder.ctimeMs}`;
    if (state !== undefined && state === this.#checked) return;
    checkInPlace(this.#files);
    this.#checked = state;
  }
}

function identityOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}
