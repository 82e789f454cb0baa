import type { NodeBeat, StorageNode, TaskStorage } from './task-storage.js';

/** A replica as its storage sees it. Times are ms. */
export interface ReplicaStatus {
  readonly node: string;
  readonly agents: readonly string[];
  readonly runningTurns: number;
  /** Time since its last heartbeat. */
  readonly silentMs: number;
  /** Time since its first heartbeat. */
  readonly ageMs: number;
  readonly isAlive: boolean;
}

/** The state of all replicas on one storage. */
export interface ClusterStatus {
  readonly replicas: readonly ReplicaStatus[];
  /** Turns that live replicas run, each under a lease. */
  readonly runningTurns: number;
  /** Messages whose turn no replica runs yet. */
  readonly waiting: number;
  /** Age of the oldest of them, if the storage knows it. */
  readonly oldestWaitMs?: number;
  /** Time since the oldest attempt for a webhook became due, if the storage knows it. */
  readonly oldestDueMs?: number;
  /** Webhooks with undelivered events, and those that were given up; of each 10,000 at most are counted. */
  readonly pendingWebhooks: number;
  readonly parkedWebhooks: number;
  /** Undelivered events of the webhook that has most of them. */
  readonly mostPendingEvents: number;
  readonly unreadableTasks: number;
  /** One sentence for each problem that needs an operator. */
  readonly problems: readonly string[];
}

/** A replica sends a heartbeat every 5 s. One without a heartbeat for this long has ended, or its lease ends soon. */
const ALIVE_MS = 15_000;
/** Messages wait this long only if there are too few replicas. */
const LONG_WAIT_MS = 60_000;
const PAGE = 500;
const MOST_QUEUES = 10_000;

/**
 * Reads the state of all replicas. Writes only the row that every readiness check writes. `own`: the single process of
 * a storage that is not shared, which sends no heartbeats.
 */
export async function readClusterStatus(storage: TaskStorage, own?: NodeBeat): Promise<ClusterStatus> {
  const load = await storage.check();
  const now = await storage.now();
  const nodes = own === undefined ? await storage.nodes() : [{ ...own, firstSeenAt: now, seenAt: now }];
  const replicas = nodes.map((node) => replicaOf(node, now)).sort((one, other) => other.ageMs - one.ageMs);
  const alive = replicas.filter(({ isAlive }) => isAlive);
  const agents = [...new Set(replicas.flatMap((replica) => replica.agents))];
  const pending = await pendingEvents(storage, agents, 'pending');
  const parked = await pendingEvents(storage, agents, 'parked');
  const { waiting, oldestWaitMs, oldestDueMs, unreadable = 0 } = load;
  const status = {
    replicas,
    runningTurns: alive.reduce((sum, { runningTurns }) => sum + runningTurns, 0),
    waiting,
    ...(oldestWaitMs !== undefined && { oldestWaitMs }),
    ...(oldestDueMs !== undefined && { oldestDueMs }),
    pendingWebhooks: pending.length,
    parkedWebhooks: parked.length,
    mostPendingEvents: Math.max(0, ...pending),
    unreadableTasks: unreadable,
  };
  return { ...status, problems: problemsOf(status) };
}

/** Returns one sentence for each problem that needs an operator. */
export function problemsOf(status: Omit<ClusterStatus, 'problems'>): readonly string[] {
  const { replicas, waiting, oldestWaitMs = 0, parkedWebhooks, unreadableTasks } = status;
  const problems: string[] = [];
  const served = new Set(replicas.filter(({ isAlive }) => isAlive).flatMap(({ agents }) => agents));
  if (served.size === 0) problems.push('no replica is alive');
  const lost = new Set(replicas.flatMap(({ agents }) => agents).filter((agent) => !served.has(agent)));
  if (served.size > 0 && lost.size > 0) problems.push(`no replica serves ${[...lost].join(', ')} any more`);
  if (waiting > 0 && oldestWaitMs >= LONG_WAIT_MS)
    problems.push(`a message has waited for ${Math.round(oldestWaitMs / 1_000)} s: add replicas`);
  if (parkedWebhooks > 0) problems.push(`${parkedWebhooks} webhooks were given up: see parley push dead list`);
  if (unreadableTasks > 0) problems.push(`${unreadableTasks} tasks cannot be read: see the logs of the replicas`);
  return problems;
}

function replicaOf({ node, agents, runningTurns, firstSeenAt, seenAt }: StorageNode, now: number): ReplicaStatus {
  const silentMs = Math.max(0, now - seenAt);
  const ageMs = Math.max(0, now - firstSeenAt);
  return { node, agents, runningTurns, silentMs, ageMs, isAlive: silentMs < ALIVE_MS };
}

/** Returns the number of undelivered events of each webhook in a state. */
async function pendingEvents(
  storage: TaskStorage,
  agents: readonly string[],
  standing: 'pending' | 'parked',
): Promise<readonly number[]> {
  const found: number[] = [];
  for (let cursor: string | undefined, isDone = agents.length === 0; !isDone; ) {
    const query = { agents, standing, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const page = await storage.push.queues(query);
    for (const { last, position } of page.queues) found.push(last - position);
    cursor = page.next;
    isDone = cursor === undefined || found.length >= MOST_QUEUES;
  }
  return found;
}
