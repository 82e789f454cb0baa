import { constants, type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isObject } from '../../model/json.js';
import type { AuditPage, AuditRange, AuditRecord } from '../../telemetry/audit-log.js';

/** Maximum number of bytes that one page reads. */
const PAGE_BYTES = 1_048_576;
/** Bytes per read. A longer line is no record. */
const BLOCK_BYTES = 65_536;
/** Maximum number of renamed files that are read, the latest names first. */
const MOST_FILES = 1_000;
/** The suffix of a renamed file: a time, as this log and logrotate write it, or a number. */
const RENAMED = /^\.[\dTZ-]+$/;

interface FoundFile {
  readonly path: string;
  /** The inode, which stays the same if the file is renamed. */
  readonly ino: string;
  readonly size: number;
  readonly changedAt: bigint;
}

/**
 * Records of an audit file and of those that it was renamed to, the last one first. An incomplete line, left by a
 * killed process, is skipped. `undefined` if the file of the cursor is gone, or the cursor is invalid.
 */
export async function readAuditFile(path: string, range: AuditRange): Promise<AuditPage | undefined> {
  const files = await filesOf(path);
  const [ino, offset] = range.cursor?.split(' ') ?? [files[0]?.ino];
  const first = files.findIndex((file) => file.ino === ino);
  if (range.cursor !== undefined && (first < 0 || !/^\d{1,15}$/.test(offset ?? ''))) return undefined;
  const page = new PageOfLines(range);
  for (const [at, file] of files.slice(Math.max(0, first)).entries()) {
    const end = at === 0 && offset !== undefined ? Math.min(file.size, Number(offset)) : file.size;
    if (!(await page.read(file, end))) break;
  }
  return page.found;
}

/** The lines of files, read backwards. */
class PageOfLines {
  readonly #range: AuditRange;
  readonly #records: AuditRecord[] = [];
  #unreadable = 0;
  #left = PAGE_BYTES;
  #next: string | undefined;

  constructor(range: AuditRange) {
    this.#range = range;
  }

  get found(): AuditPage {
    return { records: this.#records, unreadable: this.#unreadable, ...(this.#next && { next: this.#next }) };
  }

  /** Reads a file from its end. False if the page is full before its beginning. */
  async read({ path, ino }: FoundFile, size: number): Promise<boolean> {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
    try {
      if (handle === undefined || String((await handle.stat({ bigint: true })).ino) !== ino) return true;
      for (let end = size; end > 0; ) {
        if (this.#left <= 0 || this.#records.length >= this.#range.limit) {
          this.#next = `${ino} ${end}`;
          return false;
        }
        end = await this.#readBlock(handle, end);
      }
      return true;
    } finally {
      await handle?.close();
    }
  }

  /** Reads the lines that end before a position. Returns the position of the first line that it has read. */
  async #readBlock(handle: FileHandle, end: number): Promise<number> {
    const start = Math.max(0, end - BLOCK_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    this.#left -= BLOCK_BYTES;
    const block = buffer.subarray(0, bytesRead);
    // A line is complete if a line break ends it, and if its beginning is in the block.
    let to = block.lastIndexOf(LINE_BREAK) + 1;
    for (let from = beginningOf(block, to); to > 0 && (from > 0 || start === 0); from = beginningOf(block, to)) {
      this.#add(block.toString('utf8', from, to - 1));
      to = from;
      if (this.#records.length >= this.#range.limit) return start + to;
    }
    if (to < block.length) return start + to;
    // One line is longer than the block.
    this.#unreadable += 1;
    return start;
  }

  #add(line: string): void {
    if (line === '') return;
    const record = parseRecord(line);
    if (record === undefined) this.#unreadable += 1;
    else if (this.#range.isWanted(record)) this.#records.push(record);
  }
}

const LINE_BREAK = 0x0a;

/** The beginning of the line that ends before a position. */
function beginningOf(block: Buffer, end: number): number {
  return end > 1 ? block.lastIndexOf(LINE_BREAK, end - 2) + 1 : 0;
}

function parseRecord(line: string): AuditRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value.id === 'string' ? (value as unknown as AuditRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** The file, and those that it was renamed to, the last one first. */
async function filesOf(path: string): Promise<readonly FoundFile[]> {
  const name = basename(path);
  const names = await readdir(dirname(path)).catch(() => []);
  const renamed = names.filter((one) => one.startsWith(name) && RENAMED.test(one.slice(name.length)));
  const earlier = renamed.sort().slice(-MOST_FILES);
  // The operator may use a link as the path. Links beside it are no files of this log.
  const paths = [await realpath(path).catch(() => path), ...earlier.map((one) => join(dirname(path), one))];
  const found = await Promise.all(
    paths.map(async (one): Promise<readonly FoundFile[]> => {
      const stats = await lstat(one, { bigint: true }).catch(() => undefined);
      if (stats?.isFile() !== true) return [];
      return [{ path: one, ino: String(stats.ino), size: Number(stats.size), changedAt: stats.mtimeNs }];
    }),
  );
  const [current = [], ...others] = found;
  return [...current, ...others.flat().sort((a, b) => Number(b.changedAt - a.changedAt))];
}
