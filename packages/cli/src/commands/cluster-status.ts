import { readClusterStatus } from 'parley-a2a/operator';
import { openStorage } from 'parley-a2a/storage';
import type { Invocation } from '../command-line/invocation.js';
import { backendsOf } from '../database/backends.js';
import { databaseOf } from '../database/open-database.js';
import { usageError } from '../failure/cli-error.js';

/**
 * Prints the replicas on a database, their work, and problems that need an operator. The exit code is 1 if there are
 * problems.
 */
export async function run({ settings, output }: Invocation): Promise<number> {
  const url = databaseOf(settings);
  if (/^(?:memory|sqlite):/.test(url))
    throw usageError('cluster status needs a database of several processes', 'parley db status shows a SQLite file');
  const storage = await openStorage(url, { backends: await backendsOf(url) });
  try {
    const status = await readClusterStatus(storage);
    if (output.json) output.document(status);
    else {
      const rows = status.replicas.map(({ node, isAlive, silentMs, ageMs, runningTurns, agents }) => [
        node,
        isAlive ? 'alive' : 'silent',
        seconds(silentMs),
        seconds(ageMs),
        String(runningTurns),
        agents.join(' '),
      ]);
      output.table([['REPLICA', 'STATE', 'HEARTBEAT', 'AGE', 'TURNS', 'AGENTS'], ...rows]);
      output.field('Running turns', String(status.runningTurns));
      const age =
        status.oldestWaitMs === undefined || status.waiting === 0 ? '' : `, for ${seconds(status.oldestWaitMs)}`;
      output.field('Waiting messages', `${status.waiting}${age}`);
      const most = status.mostPendingEvents > 0 ? `, with ${status.mostPendingEvents} events at most` : '';
      output.field('Pending webhooks', `${status.pendingWebhooks}${most}`);
      output.field('Parked webhooks', String(status.parkedWebhooks));
      if (status.unreadableTasks > 0) output.field('Unreadable tasks', String(status.unreadableTasks));
    }
    for (const problem of status.problems) output.warn(problem);
    return status.problems.length > 0 ? 1 : 0;
  } finally {
    await storage.close();
  }
}

function seconds(ms: number): string {
  const whole = Math.round(ms / 1_000);
  if (whole < 120) return `${whole} s`;
  return whole < 7_200 ? `${Math.round(whole / 60)} min` : `${Math.round(whole / 3_600)} h`;
}
