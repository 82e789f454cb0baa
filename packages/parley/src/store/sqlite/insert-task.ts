import type { Holder } from '../rules/task-head.js';
import { isEndState } from '../state-numbers.js';
import { joinContext } from './contexts.js';
import { RECORD_KEY } from './record-keys.js';
import type { HeadRow } from './task-heads.js';
import type { NewTaskFields, ScopeFields } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** A task to insert. */
interface Insertion {
  readonly scope: ScopeFields;
  readonly now: number;
  readonly taskId: string;
  readonly task: NewTaskFields;
  /** Number of its turns, which are inserted later. */
  readonly turns: 0 | 1;
  readonly epoch: number;
  readonly holder: Holder | undefined;
}

/** Inserts a task with its first record; its id must be free. */
export function insertTask(tables: WriteTables, insertion: Insertion): HeadRow {
  const { sql, heads, counters } = tables;
  const { scope, now, taskId, task, turns, epoch, holder } = insertion;
  const [contextId, state, statusTime, status, metadata, history, artifacts, isContextNew, event] = task;
  const scopePk = heads.scopeOf(scope);
  const ended = isEndState(state) ? counters.endTime(now) : null;
  const head: HeadRow = {
    pk: counters.nextTask(),
    scope: scopePk,
    contextId,
    state,
    statusTime,
    hasEnded: ended !== null,
    seq: 1,
    epoch,
    turns,
    began: 0,
    queue: [],
    holder,
    status,
    metadata,
    bytes: event.length,
    hasDeliveries: false,
  };
  if (holder !== undefined) counters.noteLease(holder.leaseEnd);
  sql.run(
    'INSERT INTO task VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)',
    head.pk,
    heads.agentOf(scope[0]),
    taskId,
    scopePk,
    contextId === null || isContextNew ? null : joinContext(tables, scopePk, contextId),
    contextId,
    state,
    statusTime,
    now,
    epoch,
    turns,
    holder?.turn ?? null,
    holder?.node ?? null,
    holder?.leaseEnd ?? null,
    ended,
    status,
    metadata,
    head.bytes,
  );
  if (ended !== null) {
    putSnapshot(tables, head, [history, artifacts]);
    counters.changeFinishedLogs(head.bytes);
  }
  sql.run(`INSERT INTO task_record VALUES (${RECORD_KEY}, 0, ?, NULL, NULL)`, head.pk, 1, event);
  counters.countTask(scopePk, state, 1);
  return head;
}

/** Writes the whole task as of its last record. */
export function putSnapshot(
  { sql }: WriteTables,
  { pk, seq, status, metadata }: HeadRow,
  [history, artifacts]: readonly [history: string | null, artifacts: string | null],
): void {
  const replace = 'INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?, ?)';
  sql.run(replace, pk, seq, status, metadata, history, artifacts);
}
