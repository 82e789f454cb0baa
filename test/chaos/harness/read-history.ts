import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeliveryQueue } from '../../../packages/parley/src/store/push-storage.js';
import type { StoredTask, TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import type { LogRecord } from '../../../packages/parley/src/task/log-record.js';
import { BACKENDS } from '../../support/backends.js';
import type { AgentRun, ReplicaLife, StoredLog } from '../checker/history.js';

const PAGE = 200;
const LOG_BYTES = 16_777_216;
const AGENTS = ['/steady', '/fragile', '/either'];
/** The built library, because sources cannot start the threads of a storage. */
const BUILT = new URL('../../../packages/parley/dist/exports/storage.js', import.meta.url).href;

/** Opens a storage with the built library. */
export async function openStorage(url: string): Promise<TaskStorage> {
  const { openStorage: open } = (await import(/* @vite-ignore */ BUILT)) as {
    openStorage: (url: string, options: object) => Promise<TaskStorage>;
  };
  return open(url, { backends: BACKENDS });
}

/** Reads every task of the agents of the load, with its log. */
export async function readLogs(storage: TaskStorage): Promise<StoredLog[]> {
  const logs: StoredLog[] = [];
  for (const agent of AGENTS) {
    const scope = { agent, tenant: '', owner: null };
    let cursor: Awaited<ReturnType<TaskStorage['tasks']>>['next'];
    do {
      const query = { scope, orderBy: 'created', limit: PAGE, artifacts: true, history: true } as const;
      const page = await storage.tasks({ ...query, ...(cursor && { cursor }) });
      logs.push(...(await Promise.all(page.tasks.map((stored) => readLog(storage, stored)))));
      cursor = page.next;
    } while (cursor !== undefined);
  }
  return logs;
}

async function readLog(storage: TaskStorage, stored: StoredTask): Promise<StoredLog> {
  const key = { scope: stored.scope, id: stored.task.id };
  const records: LogRecord[] = [];
  let floor = 1;
  for (;;) {
    const page = await storage.records(key, records.at(-1)?.seq ?? 0, LOG_BYTES);
    if (records.length === 0) floor = page.floor;
    if (page.records.length === 0) return { stored, records, floor };
    records.push(...page.records);
  }
}

/** Reads all delivery queues. */
export async function readQueues(storage: TaskStorage, standing?: 'pending' | 'parked'): Promise<DeliveryQueue[]> {
  const found: DeliveryQueue[] = [];
  let cursor: string | undefined;
  do {
    const query = {
      agents: AGENTS,
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
      ...(standing && { standing }),
    };
    const page = await storage.push.queues(query);
    found.push(...page.queues);
    cursor = page.next;
  } while (cursor !== undefined);
  return found;
}

interface Note {
  readonly at: number;
  readonly note: 'started' | 'saw' | 'flushed' | 'aborted' | 'ended' | 'stall';
  readonly run: string;
  readonly seq: number;
  readonly count: number;
  readonly from: number;
  readonly to: number;
}

/** Reads the runs of agents and the stalls of processes from all journals. */
export async function readJournals(
  folder: string,
  lives: readonly Omit<ReplicaLife, 'stalls'>[],
): Promise<{ readonly runs: AgentRun[]; readonly replicas: ReplicaLife[] }> {
  const runs = new Map<string, AgentRun>();
  const replicas: ReplicaLife[] = [];
  const files = new Set(await readdir(folder));
  for (const life of lives) {
    const stalls: { from: number; to: number }[] = [];
    const file = `${life.process}.jsonl`;
    const text = files.has(file) ? await readFile(join(folder, file), 'utf8') : '';
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const { at, note, run: id, seq, count, from, to, ...more } = JSON.parse(line) as Note;
      if (note === 'stall') stalls.push({ from, to });
      else if (note === 'started') {
        const facts = more as unknown as Pick<AgentRun, 'agent' | 'taskId' | 'messageId' | 'attempt'>;
        runs.set(id, { ...facts, id, process: life.process, startedAt: at, flushed: 0 });
      } else {
        const run = runs.get(id);
        if (run === undefined) continue;
        if (note === 'saw') runs.set(id, { ...run, saw: seq });
        if (note === 'flushed') runs.set(id, { ...run, flushed: count });
        if (note === 'aborted') runs.set(id, { ...run, abortedAt: at });
        if (note === 'ended') runs.set(id, { ...run, endedAt: at });
      }
    }
    replicas.push({ ...life, stalls });
  }
  return { runs: [...runs.values()], replicas };
}
