import { type AppendOperation, type AppendResult, RECORD_FIELDS } from './operations.js';
import { putSnapshot } from './put-snapshot.js';
import { AFTER_SEQ, RECORD_KEY } from './record-keys.js';
import { isEnded } from './state-numbers.js';
import { trimLog, trimTails } from './tails.js';
import { dropTurn, dropTurns, isRunning, letGo, settleReady, waitingIn } from './task-turns.js';
import { isLarge, type TaskHead, type WriteTables } from './write-tables.js';

/** Rows that one statement inserts at most. */
const ROWS = 8;
const INSERTS: string[] = [];

/** Adds records to the log of a task, if the writer has the right to. */
export function append(tables: WriteTables, operation: AppendOperation): AppendResult {
  const [, scope, taskId, now, authority, after, state, statusTime, status, metadata, snapshot, endsTurn, records] =
    operation;
  const head = tables.head(scope, taskId);
  if (head === undefined) return ['not-found'];
  if (head.epoch === authority && isRepeat(tables, head, operation)) return ['appended', waitingIn(head)];
  if (head.ended) return ['terminal'];
  if (authority === 'idle') {
    if (isRunning(head, now)) return ['running'];
  } else if (authority !== 'force' && (head.held === null || head.epoch !== authority)) {
    return ['fenced'];
  }
  if (head.seq !== after) return ['fenced'];
  const { held } = head;
  insertRecords(tables, head, records);
  // An end from outside ends the turn that runs, and counts as its record.
  if (held !== null && (isEnded(state) || (typeof authority === 'number' && records.length > 0))) head.began = held;
  if (authority === 'force') {
    head.epoch += 1;
    letGo(head);
  }
  if (isEnded(state)) dropTurns(tables, head);
  else if (endsTurn !== null) dropTurn(tables, head, endsTurn);
  const isSame = head.held === held && authority !== 'force';
  if (isSame && head.status === status && head.metadata === metadata) {
    tables.run('UPDATE task SET seq = ?, began = ?, bytes = ? WHERE pk = ?', head.seq, head.began, head.bytes, head.pk);
  } else {
    setStatus(tables, head, { now, state, statusTime, status, metadata });
  }
  if (snapshot !== null) putSnapshot(tables, head, snapshot);
  if (head.ended) {
    tables.changeTails(head.bytes);
    trimTails(tables, head.pk);
  } else {
    if (snapshot !== null) trimLog(tables, head);
    settleReady(tables, head);
  }
  if (head.ended || isLarge(head)) tables.forget(head.scope, taskId);
  return ['appended', waitingIn(head)];
}

/** Whether the log ends with just these records, and the turn that ends with them is over. */
export function isRepeat(tables: WriteTables, head: TaskHead, operation: AppendOperation): boolean {
  const [, , , , , after, , , , , , endsTurn, records] = operation;
  if (head.seq !== after + records.length / RECORD_FIELDS) return false;
  // Of no records, all that can have been done is the end of the turn.
  if (records.length === 0) return endsTurn !== null && head.held !== endsTurn;
  const found = tables.all<{ turn: number; event: string; history: string | null; metadata: string | null }>(
    `SELECT turn, event, history, metadata FROM task_record WHERE ${AFTER_SEQ} ORDER BY key`,
    head.pk,
    after,
    head.pk,
  );
  const fields = found.flatMap(({ turn, event, history, metadata }) => [turn, event, history, metadata]);
  return fields.length === records.length && fields.every((field, at) => field === records[at]);
}

interface Status {
  readonly now: number;
  readonly state: number;
  readonly statusTime: number;
  readonly status: string;
  readonly metadata: string | null;
}

function insertRecords(tables: WriteTables, head: TaskHead, records: AppendOperation[12]): void {
  for (let at = 0; at < records.length; at += RECORD_FIELDS * ROWS) {
    const values: (string | number | null)[] = [];
    const end = Math.min(records.length, at + RECORD_FIELDS * ROWS);
    for (let row = at; row < end; row += RECORD_FIELDS) {
      const [turn = 0, event = '', history = null, metadata = null] = records.slice(row, row + RECORD_FIELDS);
      head.seq += 1;
      head.bytes += String(event).length + textLength(history) + textLength(metadata);
      values.push(head.pk, head.seq, turn, event, history, metadata);
    }
    tables.run(insertOf((end - at) / RECORD_FIELDS), ...values);
  }
}

function insertOf(rows: number): string {
  INSERTS[rows] ??=
    `INSERT INTO task_record VALUES ${Array.from({ length: rows }, () => `(${RECORD_KEY}, ?, ?, ?, ?)`).join()}`;
  return INSERTS[rows];
}

function setStatus(tables: WriteTables, head: TaskHead, next: Status): void {
  if (head.state !== next.state) {
    tables.count(head.scope, head.state, -1);
    tables.count(head.scope, next.state, 1);
  }
  head.state = next.state;
  head.ended = isEnded(next.state);
  head.statusTime = next.statusTime;
  head.status = next.status;
  head.metadata = next.metadata;
  tables.run(
    `UPDATE task SET state = ?, status_time = ?, seq = ?, epoch = ?, held = ?, node = ?, lease_end = ?, began = ?,
      ended = ?, status = ?, metadata = ?, bytes = ? WHERE pk = ?`,
    head.state,
    head.statusTime,
    head.seq,
    head.epoch,
    head.held,
    head.node,
    head.leaseEnd,
    head.began,
    head.ended ? tables.endTime(next.now) : null,
    head.status,
    head.metadata,
    head.bytes,
    head.pk,
  );
}

function textLength(text: string | number | null): number {
  return text === null ? 0 : String(text).length;
}
