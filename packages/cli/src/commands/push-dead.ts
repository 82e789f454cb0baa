import type { DeliveryQueue, TaskStorage } from 'parley-a2a/storage';
import type { Invocation } from '../command-line/invocation.js';
import { openDatabase } from '../database/open-database.js';
import { withAudit } from '../database/operator-audit.js';
import { LABELS } from '../output/labels.js';

const PAGE = 100;

/** Lists the parked queues of a database. */
export function list(invocation: Invocation): Promise<number> {
  const { output } = invocation;
  return withParked(invocation, async (_, queues) => {
    if (output.json) {
      output.document({ queues });
      return;
    }
    for (const { key, configId, position, last, lastStatus, parked } of queues) {
      output.field(LABELS.task, key.id);
      output.field('Webhook', configId);
      if (key.scope.agent !== '/') output.field('Agent', key.scope.agent);
      if (key.scope.tenant !== '') output.field('Tenant', key.scope.tenant);
      if (key.scope.owner !== null) output.field('Owner', key.scope.owner);
      output.field('Pending', `${last - position} events`);
      if (lastStatus !== undefined) output.field('Status', String(lastStatus));
      output.field('Reason', parked ?? '');
      output.raw('\n');
    }
    output.field(LABELS.total, String(queues.length));
  });
}

/** The codes of audit records for the results of a replay. */
const REPLAY_CODES = { replayed: 'OK', 'not-found': 'TASK_NOT_FOUND', 'not-kept': 'INVALID_PARAMS' } as const;

/**
 * Makes parked queues due. Servers on a shared database deliver at once; the server of a file delivers when it starts.
 */
export function replay(invocation: Invocation): Promise<number> {
  const { output, settings } = invocation;
  return withAudit(settings, (audited) =>
    withParked(invocation, async (storage, queues) => {
      let replayed = 0;
      for (const queue of queues) {
        const act = { operation: 'replayDelivery', queue } as const;
        const result = await audited(
          act,
          () => storage.push.replay(queue),
          (one) => REPLAY_CODES[one],
        );
        if (result === 'replayed') replayed += 1;
      }
      if (output.json) output.document({ replayed });
      else output.field('Replayed', `${replayed} webhooks${storage.shared ? '' : ', when the server starts'}`);
    }),
  );
}

/** Drops the pending events of parked queues. */
export function purge(invocation: Invocation): Promise<number> {
  const { output, settings } = invocation;
  return withAudit(settings, (audited) =>
    withParked(invocation, async (storage, queues) => {
      let purged = 0;
      for (const queue of queues) {
        const act = { operation: 'purgeDelivery', queue } as const;
        const isDone = await audited(
          act,
          () => storage.push.purge(queue),
          (one) => (one ? 'OK' : 'TASK_NOT_FOUND'),
        );
        if (isDone) purged += 1;
      }
      if (output.json) output.document({ purged });
      else output.field('Purged', `${purged} webhooks`);
    }),
  );
}

/** Runs a command on the parked queues that the arguments select. */
async function withParked(
  { args: [taskId, configId], settings }: Invocation,
  run: (storage: TaskStorage, queues: readonly DeliveryQueue[]) => Promise<void>,
): Promise<number> {
  const storage = await openDatabase(settings);
  try {
    const queues: DeliveryQueue[] = [];
    for (let cursor: string | undefined, isDone = false; !isDone; ) {
      const page = await storage.push.queues({
        standing: 'parked',
        limit: PAGE,
        ...(cursor !== undefined && { cursor }),
      });
      queues.push(...page.queues);
      cursor = page.next;
      isDone = cursor === undefined;
    }
    const isMeant = (queue: DeliveryQueue) =>
      (taskId === undefined || queue.key.id === taskId) && (configId === undefined || queue.configId === configId);
    await run(storage, queues.filter(isMeant));
    return 0;
  } finally {
    await storage.close();
  }
}
