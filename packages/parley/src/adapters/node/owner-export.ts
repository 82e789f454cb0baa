import { createWriteStream } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { OptionsError } from '../../errors/options-error.js';
import { type ExportedCounts, type ExportedFile, ownerRecords } from '../../user-data/export-owner.js';
import { type OwnerDataOptions, recordedOwnerAct } from '../../user-data/owner-data.js';

/** Options of an export into a folder. */
export interface ExportOwnerOptions extends OwnerDataOptions {
  /** The folder to make. Only the user of the process may read it. */
  readonly to: string;
  /** True if an earlier export may be replaced. Any other folder is never replaced. Default: false. */
  readonly force?: boolean | undefined;
  /** Called with the counts so far. */
  readonly onProgress?: ((counts: ExportedCounts) => void) | undefined;
}

const RECORDS = 'records.jsonl';
const FILES = 'files';

/**
 * Exports the data of a user into a folder: `records.jsonl`, and the bytes of files in `files`. The folder is written
 * under a temporary name beside its place, and renamed at the end.
 * @throws OptionsError if the place is taken; StorageError if the storage fails.
 */
export async function exportOwnerTo(options: ExportOwnerOptions): Promise<ExportedCounts> {
  const counts = { tasks: 0, pushNotificationConfigs: 0, idempotencyKeys: 0, files: 0 };
  const to = resolve(options.to);
  const isTaken = await checkPlace(to, options.force === true);
  return recordedOwnerAct(
    'exportOwner',
    options,
    async () => {
      const draft = join(dirname(to), `.${basename(to)}.${options.ids.random()}.partial`);
      await mkdir(draft, { mode: 0o700 });
      try {
        await mkdir(join(draft, FILES), { mode: 0o700 });
        await writeRecords(draft, options, counts);
        await syncFolder(join(draft, FILES));
        await syncFolder(draft);
        if (isTaken) await replace(to, draft);
        else await rename(draft, to);
        await syncFolder(dirname(to));
      } catch (error) {
        await rm(draft, { recursive: true, force: true });
        throw error;
      }
      return counts;
    },
    () => counts,
  );
}

async function writeRecords(
  draft: string,
  options: ExportOwnerOptions,
  counts: Parameters<typeof ownerRecords>[1],
): Promise<void> {
  const { files, onProgress } = options;
  const onFile = async ({ scope, id }: ExportedFile, path: string): Promise<boolean> => {
    const opened = await files?.read(scope, id);
    if (opened === undefined) return false;
    await pipeline(copies(opened.chunks), newFile(join(draft, path)));
    return true;
  };
  const lines = async function* () {
    for await (const record of ownerRecords(options, counts, onFile)) {
      onProgress?.(counts);
      yield `${JSON.stringify(record)}\n`;
    }
  };
  await pipeline(lines(), newFile(join(draft, RECORDS)));
}

/** A stream into a new file. Its bytes are on the disk when it ends. */
function newFile(path: string) {
  return createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
}

/** Copies chunks: a stream keeps them for longer than they are valid. */
async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield new Uint8Array(chunk);
}

/**
 * True if an earlier export exists.
 * @throws OptionsError if anything else exists there, or if it may not be replaced.
 */
async function checkPlace(to: string, force: boolean): Promise<boolean> {
  // A symbolic link is not followed: it may lead anywhere.
  const found = await lstat(to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) {
    const folder = await lstat(dirname(to)).catch(() => undefined);
    if (folder === undefined) throw takenError(dirname(to), 'does not exist: make it first');
    return false;
  }
  if (!found.isDirectory()) throw takenError(to, 'is not a folder: name another place');
  const names = await readdir(to);
  const isExport = names.length > 0 && names.every((name) => name === RECORDS || name === FILES);
  if (!isExport) throw takenError(to, 'is there already, and is no earlier export: name another place');
  if (!force) throw takenError(to, 'has an earlier export: name another place, or use force (--force) to replace it');
  return true;
}

function takenError(path: string, problem: string): OptionsError {
  return new OptionsError('The export', [`${path} ${problem}`]);
}

/** Puts the new folder in the place of an earlier export. */
async function replace(to: string, draft: string): Promise<void> {
  const old = `${draft}.old`;
  await rename(to, old);
  await rename(draft, to);
  await rm(old, { recursive: true, force: true });
}

/** Windows refuses to sync a folder, and some file systems do. */
const CANNOT_SYNC: ReadonlySet<unknown> = new Set(['EPERM', 'EISDIR', 'EINVAL']);

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!CANNOT_SYNC.has((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    await handle.close();
  }
}
