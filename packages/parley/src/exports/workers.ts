import { availableParallelism } from 'node:os';
import type { CloseTimes } from '../adapters/node/agent-server.js';
import { parseDatabaseUrl } from '../store/database-url.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { Logger } from '../telemetry/logger.js';
import type { LogLevel } from '../telemetry/text-logger.js';
import type { ServedDatabase } from './served-database.js';
import { textLogger } from './stderr-logger.js';
import { WorkerPool } from './worker-pool.js';
import { workerProcess } from './worker-process.js';
import { StorageProcess } from './worker-storage.js';

export { REPLACES, SLOT, workUntilStop } from './worker-pool.js';

const MOST_WORKERS = 256;

/** The rule for a number of workers, for errors. */
export const WORKER_COUNT_RULE = `must be a whole number from 1 to ${MOST_WORKERS}, or max`;

/** Returns a number of workers, `max` as one for each core. Undefined for a value that breaks the rule. */
export function workerCount(value: unknown): number | undefined {
  const count = value === 'max' ? Math.min(MOST_WORKERS, availableParallelism()) : value;
  return Number.isInteger(count) && 1 <= Number(count) && Number(count) <= MOST_WORKERS ? Number(count) : undefined;
}

/** Options of workers. */
interface WorkersOptions {
  readonly count: number;
  /** The database of a storage process, or its url. Absent: the workers share a database of their own. */
  readonly database?: ServedDatabase | string | undefined;
  /** The number of the server that has this database, in the order in which the program makes servers. */
  readonly server?: number;
  /** The times of workers that a reload replaces. */
  readonly reload: CloseTimes;
  /** Writes the lines of the storage process; a level writes them to standard error. */
  readonly logger: Logger | LogLevel;
  /** Writes the ends and reloads of processes. */
  readonly notes: Pick<Logger, 'info' | 'warn'>;
}

/** Several processes that run this program behind one port, and the one that has their storage. */
export class Workers {
  readonly #pool: WorkerPool;
  readonly #storage: StorageProcess | undefined;
  readonly #reload = () => void this.#pool.reload();

  constructor({ count, database: place, server, reload, logger, notes }: WorkersOptions) {
    const database = typeof place === 'string' ? parseDatabaseUrl(place) : place;
    const onDeath = (reason: string, inMs: number) => notes.warn(`${reason}; another one starts in ${inMs} ms`);
    this.#storage =
      database &&
      new StorageProcess({
        database,
        server,
        workers: count,
        logger: typeof logger === 'string' ? textLogger({ level: logger }) : logger,
        onDeath: (reason, inMs) => {
          if (database.backend === 'memory')
            notes.warn('all tasks are lost: they were in the memory of the storage process');
          onDeath(reason, inMs);
        },
      });
    const env = this.#storage?.env ?? {};
    this.#pool = new WorkerPool({ count, reload, env, onDeath, onReload: (text) => notes.info(text) });
  }

  /**
   * Resolves when the first worker listens, to the facts that it tells. It is undefined if `close` was called before.
   * From then on SIGUSR2 replaces all workers, one after the other.
   * @throws StorageError if the storage cannot be opened; Error if the first worker ends before it listens.
   */
  async start(): Promise<unknown> {
    await this.#storage?.start();
    const facts = await this.#pool.start();
    if (facts !== undefined && process.platform !== 'win32') process.on('SIGUSR2', this.#reload);
    return facts;
  }

  /** Sends a signal to all workers. */
  signal(signal: NodeJS.Signals): void {
    this.#pool.signal(signal);
  }

  /** Tells all workers to stop, and resolves when they and the storage process have ended. */
  async close(times: CloseTimes): Promise<void> {
    await this.#pool.close(times);
    await this.#storage?.close();
    process.off('SIGUSR2', this.#reload);
  }
}

/** The connection of this worker to the storage process, if there is one. */
export function workerStorage(): TaskStorage | undefined {
  return workerProcess.storage;
}
