import { availableParallelism } from 'node:os';
import type { Invocation } from '../command-line/invocation.js';
import { databaseUrl, isShared } from '../database/backends.js';
import { usageError } from '../failure/cli-error.js';
import { tellListening, untilStopped } from './listening.js';
import { StorageProcess } from './storage-process.js';
import { WorkerPool } from './worker-pool.js';

/** Time that a worker has to stop after its drain, in ms. */
const GRACE_MS = 30_000;
/** Time that a worker of a reload has to start listening, in ms. */
const START_MS = 30_000;

/**
 * Serves agents in several processes until a signal stops them. Each of them runs this command again. A database for a
 * single process gets a separate process. SIGUSR2 replaces all workers, one after the other.
 * @throws CliError for an invalid number.
 */
export async function serveWorkers({ settings, output }: Invocation): Promise<number> {
  const count = workerCount(settings.text('workers'));
  const database = databaseUrl(settings);
  if (!isShared(database) && settings.setting('metrics-port')?.source === 'flag') {
    const hint = '/metrics on the common port has the figures of all workers';
    throw usageError('--metrics-port goes with a database that several servers share', hint);
  }
  const isMemory = database.startsWith('memory:');
  const onDeath = (reason: string, inMs: number) => output.warn(`${reason}; another one starts in ${inMs} ms`);
  const storage = isShared(database)
    ? undefined
    : new StorageProcess({
        workers: count,
        onDeath: (reason, inMs) => {
          if (isMemory) output.warn('all tasks are lost: they were in the memory of the storage process');
          onDeath(reason, inMs);
        },
      });
  const pool = new WorkerPool({
    count,
    stopMs: (settings.duration('drain') ?? 0) + GRACE_MS,
    startMs: START_MS,
    env: storage?.env ?? {},
    onDeath,
    onReload: (text) => output.note(text),
  });
  const close = async () => {
    await pool.close();
    await storage?.close();
  };
  const stopped = untilStopped({ close });
  try {
    await storage?.start();
    const message = await pool.start();
    for (const agent of message?.listening ?? []) tellListening(output, agent);
  } catch (error) {
    await close();
    throw error;
  }
  if (process.platform !== 'win32') {
    process.on('SIGUSR2', () => void pool.reload());
    // The workers reopen the file of the audit log.
    if (settings.text('audit-file') !== undefined) process.on('SIGHUP', () => pool.signal('SIGHUP'));
  }
  await stopped;
  return 0;
}

/** Parses the number of workers; `max` is one per core. */
function workerCount(text: string | undefined): number {
  const count = text === 'max' ? availableParallelism() : Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 256)
    throw usageError(`--workers is 1 to 256, or max, not "${text}"`);
  return count;
}
