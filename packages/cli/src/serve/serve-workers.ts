import { availableParallelism } from 'node:os';
import type { Invocation } from '../command-line/invocation.js';
import { isShared, SHARED_EXAMPLE } from '../database/backends.js';
import { usageError } from '../failure/cli-error.js';
import { tellListening, untilStopped } from './listening.js';
import { WorkerPool } from './worker-pool.js';

/** Longest time of a worker to stop, beyond its drain. */
const GRACE_MS = 30_000;

/**
 * Serves agents in several processes until a signal stops them. Each of them runs this command again.
 * @throws CliError for a wrong number, and for a database of one process.
 */
export async function serveWorkers({ settings, output }: Invocation): Promise<number> {
  const count = workerCount(settings.text('workers'));
  const database = settings.text('database') ?? process.env.DATABASE_URL ?? 'memory:';
  if (!isShared(database)) {
    const kind = /^[a-z]+:/.exec(database)?.[0] ?? 'this database';
    throw usageError(
      `--workers needs a database for several processes, and ${kind} belongs to one`,
      `name one with --database, such as ${SHARED_EXAMPLE}`,
    );
  }
  const pool = new WorkerPool({
    count,
    stopMs: (settings.duration('drain') ?? 0) + GRACE_MS,
    onDeath: (reason, inMs) => output.warn(`${reason}; another one starts in ${inMs} ms`),
  });
  const stopped = untilStopped(pool);
  const message = await pool.start();
  for (const agent of message?.listening ?? []) tellListening(output, agent);
  await stopped;
  return 0;
}

/** Reads the number of workers; `max` is one for each core. */
function workerCount(text: string | undefined): number {
  const count = text === 'max' ? availableParallelism() : Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 256)
    throw usageError(`--workers is 1 to 256, or max, not "${text}"`);
  return count;
}
