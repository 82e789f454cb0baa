import { OptionsError } from '../errors/options-error.js';
import { type CopiedCounts, copyTasks } from '../store/copy-tasks.js';
import { parseDatabaseUrl } from '../store/database-url.js';
import type { TaskTransfer, TransferTarget } from '../store/task-transfer.js';
import { systemClock, systemIds } from './runtime.js';
import { stderrLogger } from './stderr-logger.js';

/** Options of a copy between two databases. */
export interface CopyStorageOptions {
  /** The database url of the source, which does not change. */
  readonly from: string;
  /** The database url of the target. It must be empty, or new. */
  readonly to: string;
  /** Goes on with a copy that was interrupted: tasks that are there already stay as they are. */
  readonly resume?: boolean;
  /** Hears the number of tasks that were copied, and of all tasks. */
  readonly onProgress?: (tasks: number, all: number) => void;
}

/**
 * Copies all tasks of a database into another one, with their logs, waiting turns, push configurations and idempotency
 * keys. Compares the numbers at the end. No server may use either database.
 * @throws OptionsError for a url that names no database to copy. StorageError if a server uses one of them, if the
 * target is not empty, or if the copy is not whole.
 */
export async function copyStorage(options: CopyStorageOptions): Promise<CopiedCounts> {
  const { from, to, ...others } = options;
  if (from === to) throw new OptionsError('Copy', ['needs two different databases']);
  const source = await openTransfer(from, 'source');
  try {
    const target = await openTarget(to);
    try {
      return await copyTasks({ from: source, to: target, ...others });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function openTarget(url: string): Promise<TransferTarget> {
  if (!/^rediss?:/.test(url)) return openTransfer(url, 'target');
  const { RedisTransfer } = await import('../store/redis/redis-transfer.js');
  return RedisTransfer.open({ url, clock: systemClock, ids: systemIds, logger: stderrLogger });
}

async function openTransfer(url: string, role: 'source' | 'target'): Promise<TaskTransfer> {
  if (/^postgres(?:ql)?:/.test(url)) {
    const { PostgresTransfer } = await import('../store/postgres/postgres-transfer.js');
    return PostgresTransfer.open({ url, clock: systemClock, logger: stderrLogger }, role);
  }
  const database = parseDatabaseUrl(url);
  if (database.backend === 'sqlite') {
    const { SqliteTransfer } = await import('../store/sqlite/sqlite-transfer.js');
    return SqliteTransfer.open(database.path, role);
  }
  throw new OptionsError('Copy', [`${database.backend}: cannot be the ${role}`]);
}
