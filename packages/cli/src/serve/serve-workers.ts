import { WORKER_COUNT_RULE, Workers, workerCount } from 'parley-a2a/workers';
import type { Invocation } from '../command-line/invocation.js';
import { databaseUrl, isShared } from '../database/backends.js';
import { usageError } from '../failure/cli-error.js';
import { type ListeningAgent, logLevelOf, tellListening, untilStopped } from './listening.js';

/**
 * Serves agents in several processes until a signal stops them. Each of them runs this command again. A database for a
 * single process gets a separate process. SIGUSR2 replaces all workers, one after the other.
 * @throws CliError for an invalid number.
 */
export async function serveWorkers({ settings, output }: Invocation): Promise<number> {
  const count = countOf(settings.text('workers'));
  const database = databaseUrl(settings);
  if (!isShared(database) && settings.findSetting('metrics-port')?.source === 'flag') {
    const hint = '/metrics on the common port has the figures of all workers';
    throw usageError('--metrics-port goes with a database that several servers share', hint);
  }
  const drainMs = settings.duration('drain') ?? 0;
  // A worker has the times of a close itself.
  const times = { graceMs: 0, drainMs };
  const workers = new Workers({
    count,
    database: isShared(database) ? undefined : database,
    reload: times,
    logger: logLevelOf(settings),
    notes: { info: (text) => output.note(text), warn: (text) => output.warn(text) },
  });
  const close = () => workers.close(times);
  const stopped = untilStopped({ close });
  try {
    const listening = (await workers.start()) as readonly ListeningAgent[] | undefined;
    for (const agent of listening ?? []) tellListening(output, agent);
  } catch (error) {
    await close();
    throw error;
  }
  // The workers open the file of the audit log again.
  if (process.platform !== 'win32' && settings.text('audit-file') !== undefined)
    process.on('SIGHUP', () => workers.signal('SIGHUP'));
  await stopped;
  return 0;
}

/** Parses the number of workers. */
function countOf(text: string | undefined): number {
  const count = workerCount(text === 'max' ? text : Number(text));
  if (count === undefined) throw usageError(`--workers ${WORKER_COUNT_RULE}, not "${text}"`);
  return count;
}
