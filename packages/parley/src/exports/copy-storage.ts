import { OptionsError } from '../errors/options-error.js';
import { type CopiedCounts, copyTasks } from '../store/copy-tasks.js';
import { parseDatabaseUrl } from '../store/database-url.js';
import { backendOf, type StorageBackend } from '../store/storage-backend.js';
import type { TaskTransfer, TransferSource, TransferTarget } from '../store/task-transfer.js';

/** Options of a copy between two databases. */
export interface CopyStorageOptions {
  /** The database url of the source, which does not change. */
  readonly from: string;
  /** The database url of the target. It must be empty, or new. */
  readonly to: string;
  /** Backends of the urls, such as `postgresBackend` of `parley-a2a-postgres`. SQLite needs none. */
  readonly backends?: readonly StorageBackend[];
  /** Continues an interrupted copy: tasks that are in the target already stay unchanged. */
  readonly resume?: boolean;
  /** Called with the number of copied tasks, and of all tasks. */
  readonly onProgress?: (tasks: number, all: number) => void;
}

/**
 * Copies all tasks of a database into another one, with their logs, queued turns, push configurations and idempotency
 * keys. Compares the counts at the end. No server may use either database.
 * @throws OptionsError for a url that names no database to copy. StorageError if a server uses one of them, if the
 * target is not empty, or if the copy is incomplete.
 */
export async function copyStorage(options: CopyStorageOptions): Promise<CopiedCounts> {
  const { from, to, backends = [], ...others } = options;
  if (from === to) throw new OptionsError('Copy', ['needs two different databases']);
  const source = await openSource(from, backends);
  try {
    const target = await openTarget(to, backends);
    try {
      return await copyTasks({ from: source, to: target, ...others });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function openSource(url: string, backends: readonly StorageBackend[]): Promise<TransferSource> {
  const backend = backendOf(url, backends);
  if (backend === undefined) return openFile(url, 'source');
  if (backend.openSource === undefined) {
    throw new OptionsError('Copy', [`${backend.schemes[0]}: cannot be the source`]);
  }
  return backend.openSource(url);
}

async function openTarget(url: string, backends: readonly StorageBackend[]): Promise<TransferTarget> {
  return backendOf(url, backends)?.openTarget(url) ?? openFile(url, 'target');
}

async function openFile(url: string, role: 'source' | 'target'): Promise<TaskTransfer> {
  const database = parseDatabaseUrl(url);
  if (database.backend === 'memory') throw new OptionsError('Copy', [`memory: cannot be the ${role}`]);
  const { SqliteTransfer } = await import('../store/sqlite/sqlite-transfer.js');
  return SqliteTransfer.open(database.path, role);
}
