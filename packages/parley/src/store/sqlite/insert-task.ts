import type { NewTaskFields, ScopeFields } from './operations.js';
import { putSnapshot } from './put-snapshot.js';
import { RECORD_KEY } from './record-keys.js';
import { isEnded } from './state-numbers.js';
import type { TaskHead, WriteTables } from './write-tables.js';

/** A task to be put there. */
export interface Insertion {
  readonly scope: ScopeFields;
  readonly now: number;
  readonly taskId: string;
  readonly task: NewTaskFields;
  /** Turns it is born with: none, or the first. */
  readonly turns: 0 | 1;
  /** Who runs the first turn. */
  readonly lease: { readonly node: string; readonly end: number } | null;
}

/** Writes a task with its first record; its id must be free. */
export function insertTask(tables: WriteTables, insertion: Insertion): TaskHead {
  const { scope, now, taskId, task, turns, lease } = insertion;
  const [contextId, state, statusTime, status, metadata, history, artifacts, event] = task;
  const scopePk = tables.scopeOf(scope);
  const ended = isEnded(state) ? tables.endTime(now) : null;
  const head: TaskHead = {
    pk: tables.nextTask(),
    scope: scopePk,
    context: contextId === null ? null : joinContext(tables, scopePk, contextId),
    contextId,
    state,
    statusTime,
    seq: 1,
    epoch: lease === null ? 0 : 1,
    turns,
    held: lease === null ? null : 1,
    node: lease === null ? null : lease.node,
    leaseEnd: lease === null ? null : lease.end,
    began: 0,
    ended: ended !== null,
    status,
    metadata,
    bytes: event.length,
    queue: [],
  };
  if (lease !== null) tables.nextLeaseEnd = Math.min(tables.nextLeaseEnd, lease.end);
  tables.run(
    'INSERT INTO task VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)',
    head.pk,
    tables.agentOf(scope[0]),
    taskId,
    scopePk,
    head.context,
    contextId,
    state,
    statusTime,
    now,
    head.epoch,
    turns,
    head.held,
    head.node,
    head.leaseEnd,
    ended,
    status,
    metadata,
    head.bytes,
  );
  if (ended !== null) {
    putSnapshot(tables, head, [history, artifacts]);
    tables.changeTails(head.bytes);
  }
  tables.run(`INSERT INTO task_record VALUES (${RECORD_KEY}, 0, ?, NULL, NULL)`, head.pk, 1, event);
  tables.count(scopePk, state, 1);
  return head;
}

/** Counts one task more in a context, which may be new. */
function joinContext(tables: WriteTables, scope: number, id: string): number {
  const number = tables.nextContext();
  const isNew = tables.run('INSERT OR IGNORE INTO context VALUES (?, ?, ?, 1)', scope, id, number) === 1;
  if (isNew) return number;
  const known = tables.get<{ number: number }>(
    'UPDATE context SET tasks = tasks + 1 WHERE scope = ? AND id = ? RETURNING number',
    scope,
    id,
  );
  return known?.number ?? 0;
}
