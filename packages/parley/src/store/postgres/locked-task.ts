import type { TaskHead } from '../rules/task-head.js';
import { isEndState } from '../state-numbers.js';
import type { TaskKey } from '../task-key.js';
import { indexForm, nameOf, type StoredScope, textOfName } from './stored-names.js';
import type { SqlValue, Tables } from './tables.js';

/** A task that a transaction has locked. The fields are those of its rows. */
export interface LockedTask extends TaskHead {
  readonly pk: number;
  readonly part: number;
  readonly state: number;
  readonly statusTime: number;
  readonly status: string;
  readonly metadata: string | null;
  readonly bytes: number;
  readonly pushes: boolean;
}

/** The time of a transaction, and the task that it has locked; none if there is no such task. */
export interface Locked {
  readonly now: number;
  readonly task: LockedTask | undefined;
}

interface TaskRow {
  readonly pk: number;
  readonly seq: number;
  readonly epoch: number;
  readonly held: number;
  readonly turns: number;
  readonly began: number;
  readonly state: number;
  readonly status_time: number;
  readonly status: string;
  readonly metadata: string | null;
  readonly bytes: number;
  readonly pushes: boolean;
  readonly context_id: string | null;
}

interface QueueRow {
  readonly now: number;
  readonly turn: number | null;
  readonly node: string | null;
  readonly lease_end: number;
}

const LOCK = {
  name: 'lock-task',
  text: `SELECT pk, seq, epoch, held, turns, began, state, status_time, status, metadata, bytes, pushes, context_id
    FROM parley.task WHERE part = $1 AND id = $3 AND scope IS NOT DISTINCT FROM $2::uuid FOR UPDATE`,
};
// The lock has to be there first: a statement does not see what was committed while it waited for a lock.
const QUEUE = {
  name: 'queue-of-task',
  text: `SELECT parley.now_ms() AS now, e.turn, e.node, e.lease_end FROM (SELECT) one
    LEFT JOIN parley.execution e ON e.task = $1 AND e.part = $2 ORDER BY e.turn`,
};
const NO_TASK = -1;

/** Locks a task until the transaction ends, and reads its head. */
export async function lockTask(tables: Tables, scope: StoredScope, id: string): Promise<Locked> {
  const { part } = scope;
  const [row] = await tables.query<TaskRow>(LOCK, part, scope.hash, indexForm(id));
  const queue = await tables.query<QueueRow>(QUEUE, row?.pk ?? NO_TASK, part);
  const now = queue[0]?.now ?? 0;
  if (row === undefined) return { now, task: undefined };
  const turns = queue.flatMap(({ turn, node, lease_end: leaseEnd }) =>
    turn === null ? [] : [{ turn, holder: node === null ? undefined : { turn, node: nameOf(node), leaseEnd } }],
  );
  const { pk, seq, epoch, began, state, status, metadata, bytes, pushes } = row;
  return {
    now,
    task: {
      ...{ pk, part, seq, epoch, turns: row.turns, began, state, status, metadata, bytes, pushes },
      statusTime: row.status_time,
      contextId: row.context_id === null ? undefined : nameOf(row.context_id),
      hasEnded: isEndState(state),
      queue: turns.map(({ turn }) => ({ turn })),
      holder: row.held === 0 ? undefined : turns.find(({ turn }) => turn === row.held)?.holder,
    },
  };
}

const WRITE_QUEUE = {
  name: 'write-queue',
  text: `WITH t AS (
      UPDATE parley.task SET epoch = $3, held = $4, turns = $5, queued = $6 WHERE pk = $1 AND part = $2
    )
    UPDATE parley.execution SET ready = turn = $7 AND $4 = 0,
      epoch = CASE WHEN turn = $4 THEN $3 ELSE 0 END,
      node = CASE WHEN turn = $4 THEN $8 END,
      lease_end = CASE WHEN turn = $4 THEN $9::bigint ELSE 0 END
    WHERE task = $1 AND part = $2 AND turn = $7`,
};

/** Writes the queue of a locked task: its length, its epoch and the holder of its first turn. */
export async function writeQueue(
  tables: Tables,
  { pk, part, epoch, turns, queue, holder }: Pick<LockedTask, 'pk' | 'part' | keyof TaskHead>,
): Promise<void> {
  const first = queue[0]?.turn ?? NO_TASK;
  const node = holder === undefined ? null : textOfName(holder.node);
  const lease: readonly SqlValue[] = [node, holder?.leaseEnd ?? 0];
  await tables.query(WRITE_QUEUE, pk, part, epoch, holder?.turn ?? 0, turns, queue.length, first, ...lease);
}

const DROP_TURN = {
  name: 'drop-turn',
  text: 'DELETE FROM parley.execution WHERE task = $1 AND part = $2 AND turn = $3',
};
const DROP_TURNS = { name: 'drop-turns', text: 'DELETE FROM parley.execution WHERE task = $1 AND part = $2' };

/** Removes a turn from the queue of a locked task, or all of them. Resolves to the turns that are left. */
export async function dropTurns(
  tables: Tables,
  { pk, part, queue }: LockedTask,
  dropped: number | 'all',
): Promise<TaskHead['queue']> {
  if (queue.length === 0) return queue;
  if (dropped === 'all') {
    await tables.query(DROP_TURNS, pk, part);
    return [];
  }
  await tables.query(DROP_TURN, pk, part, dropped);
  return queue.filter(({ turn }) => turn !== dropped);
}

/** The key of a task as statements want it. */
export function keyFields(
  scope: StoredScope,
  { id }: Pick<TaskKey, 'id'>,
): { part: number; scope: string; id: string } {
  return { part: scope.part, scope: scope.hash, id: indexForm(id) };
}
