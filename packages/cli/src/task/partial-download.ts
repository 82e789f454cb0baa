import { createHash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  createReadStream,
  linkSync,
  lstatSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { PartialFile } from 'parley-a2a/client';
import { existsError, replaceBy } from './saved-files.js';

/** Maximum bytes of the notes. */
const NOTES_BYTES = 4096;

/**
 * A partial download beside its final path: `report.pdf.part`, with notes about its origin in `report.pdf.part.json`. A
 * later run continues it.
 */
export class PartialDownload {
  readonly #path: string;
  readonly #part: string;
  readonly #notes: string;
  /** A hash of the url, because the url may contain a secret. */
  readonly #source: string;

  constructor(path: string, url: string) {
    this.#path = path;
    this.#part = `${path}.part`;
    this.#notes = `${path}.part.json`;
    this.#source = createHash('sha256').update(url).digest('hex');
  }

  /**
   * Returns the partial download of an earlier run for the same url; `undefined` if there is none.
   * @throws CliError if another file has its path, unless it may be replaced.
   */
  earlier(overwrite: boolean): PartialFile | undefined {
    const part = lstatSync(this.#part, { throwIfNoEntry: false });
    const etag = this.#notedEtag();
    if (part?.isFile() === true && etag !== undefined) {
      if (part.size === 0) return undefined;
      return { etag, bytes: part.size, content: contentOf(this.#part) };
    }
    for (const place of [this.#part, this.#notes]) {
      const there = lstatSync(place, { throwIfNoEntry: false });
      if (there === undefined) continue;
      if (!overwrite || !there.isFile()) throw existsError(place);
      rmSync(place);
    }
    return undefined;
  }

  /** Opens the file to write from an offset. Never follows a link. */
  async openAt(offset: number, etag: string | undefined): Promise<FileHandle> {
    const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    const handle = await open(this.#part, flags, 0o666);
    await handle.truncate(offset);
    if (etag === undefined) rmSync(this.#notes, { force: true });
    else if (offset === 0) {
      rmSync(this.#notes, { force: true });
      writeFileSync(this.#notes, JSON.stringify({ source: this.#source, etag }), { flag: 'wx' });
    }
    return handle;
  }

  /**
   * Moves the complete file to its final path. Without `overwrite` it never replaces a file, even one created in the
   * meantime.
   */
  finish(overwrite: boolean): void {
    if (overwrite) replaceBy(this.#part, this.#path);
    else {
      createBy(this.#part, this.#path);
      rmSync(this.#part);
    }
    rmSync(this.#notes, { force: true });
  }

  /** Deletes the file and its notes. */
  drop(): void {
    for (const place of [this.#part, this.#notes]) rmSync(place, { force: true });
  }

  #notedEtag(): string | undefined {
    try {
      const there = lstatSync(this.#notes);
      if (!there.isFile() || there.size > NOTES_BYTES) return undefined;
      const { source, etag } = JSON.parse(readFileSync(this.#notes, 'utf8')) as { source?: unknown; etag?: unknown };
      return source === this.#source && typeof etag === 'string' && /^"[!-~]{0,1000}"$/.test(etag) ? etag : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Creates a hard link, which fails if the path exists. Copies on file systems without links. */
function createBy(part: string, path: string): void {
  try {
    linkSync(part, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw existsError(path, cause);
    try {
      copyFileSync(part, path, constants.COPYFILE_EXCL);
    } catch (second) {
      throw (second as NodeJS.ErrnoException).code === 'EEXIST' ? existsError(path, second) : second;
    }
  }
}

/** Reads a file, which is opened with the first chunk. */
async function* contentOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { highWaterMark: 1024 * 1024 });
}
