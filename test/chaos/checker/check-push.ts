import { brief, canonical, type FoldedLog } from './folded-log.js';
import type { Arrival, History, Violation } from './history.js';

type LogOf = (agent: string, taskId: string) => FoldedLog | undefined;

/**
 * Checks the notifications. A configuration that came with its message gets every event of its task at least once. One
 * that came later gets every event after its first one. Each event arrives after the one before it was acknowledged.
 * Its content is that of the log.
 */
export function checkPush({ arrivals, queues, calls }: History, logOf: LogOf): Violation[] {
  const later = new Set(calls.filter(({ operation }) => operation === 'config').map(({ configId }) => configId));
  const byQueue = new Map<string, Arrival[]>();
  for (const arrival of [...arrivals].sort((one, other) => one.at - other.at)) {
    const key = `${arrival.taskId}/${arrival.configId}`;
    const of = byQueue.get(key);
    if (of === undefined) byQueue.set(key, [arrival]);
    else of.push(arrival);
  }
  const found = queues.flatMap(({ key, configId, position, last, parked }): Violation[] => {
    const place = { taskId: key.id, seq: position };
    if (parked !== undefined) return [{ rule: 'push is parked', ...place, evidence: `${configId}: ${parked}` }];
    if (position !== last)
      return [{ rule: 'push is pending', ...place, evidence: `${configId} is at ${position} of ${last}` }];
    const got = new Set(
      (byQueue.get(`${key.id}/${configId}`) ?? []).flatMap(({ acknowledged, seq }) => (acknowledged ? [seq] : [])),
    );
    const first = later.has(configId) ? Math.min(last + 1, ...got) : 1;
    const missing = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at).find(
      (seq) => !got.has(seq),
    );
    if (missing === undefined) return [];
    return [
      {
        rule: 'push is lost',
        taskId: key.id,
        seq: missing,
        evidence: `${configId} has got no event ${missing} of ${last}`,
      },
    ];
  });
  const agents = new Map(queues.map(({ key }) => [key.id, key.scope.agent]));
  return [
    ...found,
    ...Array.from(byQueue.values()).flatMap(outOfOrder),
    ...arrivals.flatMap((arrival) => findChanges(arrival, logOf(agents.get(arrival.taskId) ?? '', arrival.taskId))),
  ];
}

function outOfOrder(arrivals: readonly Arrival[]): Violation[] {
  const acknowledged = new Set<number>();
  const seen = new Set<number>();
  const first = arrivals[0]?.seq ?? 0;
  const found: Violation[] = [];
  for (const { taskId, configId, seq, acknowledged: isAcknowledged } of arrivals) {
    const isFirst = !seen.has(seq);
    seen.add(seq);
    if (isFirst && seq !== first && !acknowledged.has(seq - 1)) {
      const evidence = `${configId} got event ${seq} before it had acknowledged ${seq - 1}`;
      found.push({ rule: 'push out of order', taskId, seq, evidence });
    }
    if (isAcknowledged) acknowledged.add(seq);
  }
  return found;
}

function findChanges({ taskId, configId, seq, body }: Arrival, log: FoldedLog | undefined): Violation[] {
  // The task or the configuration was deleted meanwhile.
  if (log === undefined) return [];
  const record = log.record(seq);
  if (record !== undefined && canonical(JSON.parse(body)) === canonical(record.event)) return [];
  const evidence = `${configId} got ${body.slice(0, 300)}, the log has ${brief(record?.event)}`;
  return [{ rule: 'push is not the log', taskId, seq, evidence }];
}
