import type { FileStore } from '../files/file-store.js';
import { isTerminal, TASK_STATES } from '../model/task-state.js';
import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import { sha256Hex } from '../runtime/sha256.js';
import type { OwnerQuery } from '../store/owner-query.js';
import type { OwnedKey } from '../store/owner-storage.js';
import type { Scope } from '../store/task-key.js';
import type { ListCursor, StoredTask, TaskQuery, TaskStorage } from '../store/task-storage.js';
import type { AuditLog, AuditRecord } from '../telemetry/audit-log.js';

/** The data of a user, and their places. */
export interface OwnerDataOptions {
  readonly storage: TaskStorage;
  /** Absent: there are no files. */
  readonly files?: FileStore | undefined;
  readonly owner: OwnerQuery;
  /** Gets a record before the act, and one after it. If the first one cannot be written, the act is not done. */
  readonly audit?: Pick<AuditLog, 'write'> | undefined;
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'random'>;
}

/** Counts of the data of a user. */
export interface OwnerCounts {
  /** Task scopes: each is an agent with a tenant. */
  readonly scopes: number;
  readonly tasks: number;
  /** Tasks that have not ended. */
  readonly openTasks: number;
  readonly idempotencyKeys: number;
  readonly files: number;
  /** Uploads that are not complete. */
  readonly uploads: number;
}

/** The states of tasks that have not ended. */
export const OPEN_STATES = TASK_STATES.filter((state) => !isTerminal(state));
const KEY_PAGE = 200;

/** Counts the data of a user. Changes nothing. */
export async function countOwner({ storage, files, owner }: OwnerDataOptions): Promise<OwnerCounts> {
  const scopes = await storage.owners.scopes(owner);
  const counts = { scopes: scopes.length, tasks: 0, openTasks: 0, idempotencyKeys: 0, files: 0, uploads: 0 };
  for (const scope of scopes) {
    const query: TaskQuery = {
      scope,
      orderBy: 'created',
      limit: 1,
      exactTotal: true,
      artifacts: false,
      history: false,
    };
    counts.tasks += (await storage.tasks(query)).total;
    counts.openTasks += (await storage.tasks({ ...query, states: OPEN_STATES })).total;
    for await (const _ of keysOf(storage, scope)) counts.idempotencyKeys += 1;
  }
  return { ...counts, ...(await files?.owners?.count(owner)) };
}

/** The tasks of a query, one page after the other. */
export async function* tasksOf(storage: TaskStorage, query: Omit<TaskQuery, 'cursor'>): AsyncGenerator<StoredTask> {
  let cursor: ListCursor | undefined;
  do {
    const page = await storage.tasks({ ...query, ...(cursor !== undefined && { cursor }) });
    yield* page.tasks;
    cursor = page.next;
  } while (cursor !== undefined);
}

/** The idempotency keys of a scope, one page after the other. */
export async function* keysOf(storage: TaskStorage, scope: Scope): AsyncGenerator<OwnedKey> {
  let cursor: string | undefined;
  do {
    const page = await storage.owners.keys(scope, { limit: KEY_PAGE, ...(cursor !== undefined && { cursor }) });
    yield* page.keys;
    cursor = page.next;
  } while (cursor !== undefined);
}

/**
 * Runs an act on the data of a user, and audits its begin and its end. `countsOf` gives the counts for the last record.
 */
export async function recordedOwnerAct<Result>(
  operation: 'exportOwner' | 'eraseOwner',
  options: Pick<OwnerDataOptions, 'owner' | 'audit' | 'clock' | 'ids'>,
  run: () => Promise<Result>,
  countsOf: () => Readonly<Record<string, number>>,
): Promise<Result> {
  const { owner: query, audit, clock, ids } = options;
  if (audit === undefined) return run();
  const { owner, agent, tenant } = query;
  const hash = owner === null ? 'anonymous' : `sha256:${await sha256Hex(owner)}`;
  const write = (entry: Pick<AuditRecord, 'outcome' | 'code' | 'phase' | 'counts'>) =>
    audit.write({
      id: ids.random(),
      time: new Date(clock.now()).toISOString(),
      principal: { kind: 'operator' },
      operation,
      owner: hash,
      ...(agent !== undefined && { agent }),
      ...(tenant !== undefined && { tenant }),
      ...entry,
    });
  await write({ outcome: 'done', code: 'OK', phase: 'begin' });
  let result: Result;
  try {
    result = await run();
  } catch (error) {
    await write({ outcome: 'failed', code: 'UNAVAILABLE', phase: 'end', counts: { ...countsOf() } });
    throw error;
  }
  await write({ outcome: 'done', code: 'OK', phase: 'end', counts: { ...countsOf() } });
  return result;
}
