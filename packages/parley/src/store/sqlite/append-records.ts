import { type AppendOperation, type AppendResult, RECORD_FIELDS } from './operations.js';
import { isEnded } from './state-numbers.js';
import { dropTurn, dropTurns, isRunning, letGo, settleReady, waitingIn } from './task-turns.js';
import type { TaskHead, WriteTables } from './write-tables.js';

/** Adds records to the log of a task, if the writer has the right to. */
export function append(tables: WriteTables, operation: AppendOperation): AppendResult {
  const [, agent, taskId, now, authority, after, state, statusTime, status, metadata, snapshot, endsTurn, records] =
    operation;
  const head = tables.head(agent, taskId);
  if (head === undefined) return ['not-found'];
  if (head.ended) return ['terminal'];
  if (authority === 'idle') {
    if (isRunning(head, now)) return ['running'];
  } else if (authority !== 'force' && (head.held === null || head.epoch !== authority)) {
    return ['fenced'];
  }
  if (head.seq !== after) return ['fenced'];
  const { held } = head;
  insertRecords(tables, head, records);
  if (typeof authority === 'number' && held !== null && records.length > 0) head.began = held;
  if (authority === 'force') {
    head.epoch += 1;
    letGo(head);
  }
  if (isEnded(state)) {
    end(tables, head, { now, state, statusTime, status, metadata, snapshot });
    tables.forget(agent, taskId);
    return ['appended', 0];
  }
  if (endsTurn !== null) dropTurn(tables, head, endsTurn);
  const isChunk = head.held === held && head.status === status && head.metadata === metadata;
  const isFirstSnapshot = snapshot !== null && !head.hasSnapshot;
  if (snapshot !== null) {
    head.hasSnapshot = true;
    tables.run(
      'INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?, ?)',
      head.pk,
      head.seq,
      status,
      metadata,
      snapshot[0],
      snapshot[1],
    );
  }
  if (isChunk && !isFirstSnapshot) {
    tables.run('UPDATE task SET seq = ?, began = ? WHERE pk = ?', head.seq, head.began, head.pk);
  } else {
    setStatus(tables, head, { state, statusTime, status, metadata });
  }
  settleReady(tables, head);
  return ['appended', waitingIn(head)];
}

interface Status {
  readonly state: number;
  readonly statusTime: number;
  readonly status: string;
  readonly metadata: string | null;
}

function insertRecords(tables: WriteTables, head: TaskHead, records: AppendOperation[12]): void {
  for (let at = 0; at < records.length; at += RECORD_FIELDS) {
    const [turn = 0, event = '', history = null, metadata = null] = records.slice(at, at + RECORD_FIELDS);
    head.seq += 1;
    tables.run('INSERT INTO task_record VALUES (?, ?, ?, ?, ?, ?)', head.pk, head.seq, turn, event, history, metadata);
  }
}

function setStatus(tables: WriteTables, head: TaskHead, next: Status): void {
  countChange(tables, head, next.state);
  head.state = next.state;
  head.statusTime = next.statusTime;
  head.status = next.status;
  head.metadata = next.metadata;
  tables.run(
    `UPDATE task SET state = ?, status_time = ?, seq = ?, epoch = ?, held = ?, node = ?, lease_end = ?, began = ?,
      snapshot = ?, status = ?, metadata = ? WHERE pk = ?`,
    head.state,
    head.statusTime,
    head.seq,
    head.epoch,
    head.held,
    head.node,
    head.leaseEnd,
    head.began,
    head.hasSnapshot ? 1 : 0,
    head.status,
    head.metadata,
    head.pk,
  );
}

/** The last write to a task: its whole content moves into its row. */
function end(
  tables: WriteTables,
  head: TaskHead,
  last: Status & { readonly now: number; readonly snapshot: AppendOperation[10] },
): void {
  const [history, artifacts] = last.snapshot ?? [null, null];
  countChange(tables, head, last.state);
  dropTurns(tables, head);
  if (head.hasSnapshot) tables.run('DELETE FROM snapshot WHERE task = ?', head.pk);
  tables.run(
    `UPDATE task SET state = ?, status_time = ?, seq = ?, epoch = ?, held = NULL, node = NULL, lease_end = NULL, began = ?,
      ended = ?, snapshot = 0, status = ?, metadata = ?, history = ?, artifacts = ? WHERE pk = ?`,
    last.state,
    last.statusTime,
    head.seq,
    head.epoch,
    head.began,
    tables.endTime(last.now),
    last.status,
    last.metadata,
    history,
    artifacts,
    head.pk,
  );
}

function countChange(tables: WriteTables, head: TaskHead, state: number): void {
  if (head.state === state) return;
  tables.count(head.scope, head.state, -1);
  tables.count(head.scope, state, 1);
}
