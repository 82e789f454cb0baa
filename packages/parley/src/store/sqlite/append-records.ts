import { type AppendedHead, decideAppend } from '../rules/decide-append.js';
import { waitingIn } from '../rules/task-head.js';
import { isEndState } from '../state-numbers.js';
import { markDue } from './delivery-queues.js';
import { putSnapshot } from './insert-task.js';
import { AFTER_SEQ, RECORD_KEY } from './record-keys.js';
import { trimFinishedLogs, trimLog } from './retention.js';
import type { HeadRow } from './task-heads.js';
import { dropTurns, settleReady } from './task-turns.js';
import { type AppendResult, type AppendWrite, RECORD_FIELDS } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** Rows that one statement inserts at most. */
const ROWS = 8;
const INSERTS: string[] = [];

/** Adds records to the log of a task, if the writer has the right to. */
export function append(tables: WriteTables, write: AppendWrite): AppendResult {
  const [, scope, taskId, now, authority, after, state, , , , snapshot, endsTurn, records, checkpoint] = write;
  const head = tables.heads.find(scope, taskId);
  if (head === undefined) return ['not-found'];
  const request = {
    authority,
    after,
    count: records.length / RECORD_FIELDS,
    ends: isEndState(state),
    endsTurn: endsTurn ?? undefined,
  };
  let decision = decideAppend(head, request, { now });
  if (decision.kind === 'compare') {
    decision = decideAppend(head, request, { now, isInLog: endsWith(tables, head, write) });
  }
  switch (decision.kind) {
    case 'appended':
      break;
    case 'repeated':
      return ['appended', waitingIn(head)];
    case 'compare':
      throw new TypeError('An append is compared once');
    default:
      return [decision.kind];
  }
  if (checkpoint !== null && typeof authority === 'number' && head.holder !== undefined) {
    const update = 'UPDATE execution SET checkpoint = ? WHERE task = ? AND turn = ?';
    tables.sql.run(update, checkpoint, head.pk, head.holder.turn);
  }
  insertRecords(tables, head, records);
  writeHead(tables, head, { decision, write });
  if (snapshot !== null) putSnapshot(tables, head, snapshot);
  if (head.hasEnded) {
    tables.counters.changeFinishedLogs(head.bytes);
    trimFinishedLogs(tables, head.pk);
  } else {
    if (snapshot !== null) trimLog(tables, head);
    settleReady(tables, head);
  }
  tables.heads.keep(taskId, head);
  const isDue = head.hasDeliveries && records.length > 0 && markDue(tables, head, now);
  return isDue ? ['appended', waitingIn(head), isDue] : ['appended', waitingIn(head)];
}

/** True if the log ends with just these records. */
function endsWith({ sql }: WriteTables, head: HeadRow, [, , , , , after, , , , , , , records]: AppendWrite): boolean {
  const found = sql.all<{ turn: number; event: string; history: string | null; metadata: string | null }>(
    `SELECT turn, event, history, metadata FROM task_record WHERE ${AFTER_SEQ} ORDER BY key`,
    head.pk,
    after,
    head.pk,
  );
  const fields = found.flatMap(({ turn, event, history, metadata }) => [turn, event, history, metadata]);
  return fields.length === records.length && fields.every((field, at) => field === records[at]);
}

function insertRecords({ sql }: WriteTables, head: HeadRow, records: AppendWrite[12]): void {
  for (let at = 0; at < records.length; at += RECORD_FIELDS * ROWS) {
    const values: (string | number | null)[] = [];
    const end = Math.min(records.length, at + RECORD_FIELDS * ROWS);
    for (let row = at; row < end; row += RECORD_FIELDS) {
      const [turn = 0, event = '', history = null, metadata = null] = records.slice(row, row + RECORD_FIELDS);
      head.seq += 1;
      head.bytes += String(event).length + textLength(history) + textLength(metadata);
      values.push(head.pk, head.seq, turn, event, history, metadata);
    }
    sql.run(insertOf((end - at) / RECORD_FIELDS), ...values);
  }
}

function insertOf(rows: number): string {
  INSERTS[rows] ??=
    `INSERT INTO task_record VALUES ${Array.from({ length: rows }, () => `(${RECORD_KEY}, ?, ?, ?, ?)`).join()}`;
  return INSERTS[rows];
}

/** Applies what was decided to the row of the task. Few columns change while an artifact streams. */
function writeHead(
  tables: WriteTables,
  head: HeadRow,
  { decision, write }: { readonly decision: AppendedHead; readonly write: AppendWrite },
): void {
  const { sql, counters } = tables;
  const [, , , now, , , state, statusTime, status, metadata] = write;
  const { epoch, began, holder, drops } = decision;
  const isSameOwner = head.holder === holder && head.epoch === epoch;
  head.epoch = epoch;
  head.began = began;
  head.holder = holder;
  if (drops !== undefined) dropTurns(tables, head, drops);
  if (isSameOwner && head.status === status && head.metadata === metadata) {
    sql.run('UPDATE task SET seq = ?, began = ?, bytes = ? WHERE pk = ?', head.seq, began, head.bytes, head.pk);
    return;
  }
  if (head.state !== state) {
    counters.countTask(head.scope, head.state, -1);
    counters.countTask(head.scope, state, 1);
  }
  head.state = state;
  head.hasEnded = isEndState(state);
  head.statusTime = statusTime;
  head.status = status;
  head.metadata = metadata;
  sql.run(
    `UPDATE task SET state = ?, status_time = ?, seq = ?, epoch = ?, held = ?, node = ?, lease_end = ?, began = ?,
      ended = ?, status = ?, metadata = ?, bytes = ? WHERE pk = ?`,
    state,
    statusTime,
    head.seq,
    epoch,
    holder?.turn ?? null,
    holder?.node ?? null,
    holder?.leaseEnd ?? null,
    began,
    head.hasEnded ? counters.endTime(now) : null,
    status,
    metadata,
    head.bytes,
    head.pk,
  );
}

function textLength(text: string | number | null): number {
  return text === null ? 0 : String(text).length;
}
