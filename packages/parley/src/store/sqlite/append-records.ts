import { appendRecords, type RecordTables } from '../engine/append-records.js';
import type { AppendedHead } from '../rules/task-head.js';
import { isEndState } from '../state-numbers.js';
import { markDue } from './delivery-queues.js';
import { putSnapshot } from './insert-task.js';
import { AFTER_SEQ, RECORD_KEY } from './record-keys.js';
import { type RecordRow, ROW_COLUMNS, recordsOf } from './record-rows.js';
import { trimFinishedLogs, trimLog } from './retention.js';
import type { HeadRow } from './task-heads.js';
import { dropTurns, settleReady } from './task-turns.js';
import type { AppendResult, AppendWrite, RecordRowFields } from './write-requests.js';
import type { WriteTables } from './write-tables.js';

const INSERT = `INSERT INTO task_record VALUES (${RECORD_KEY}, ?, ?, ?, ?)`;

/** The rows that an append writes. */
class RecordRows implements RecordTables<HeadRow, AppendWrite> {
  readonly #tables: WriteTables;

  constructor(tables: WriteTables) {
    this.#tables = tables;
  }

  endsWith(head: HeadRow, write: AppendWrite): boolean {
    return endsWith(this.#tables, head, write);
  }

  append(head: HeadRow, appended: AppendedHead, write: AppendWrite, now: number): boolean {
    const tables = this.#tables;
    const [, , taskId, , , , , , , , snapshot, , rows, checkpoint] = write;
    if (checkpoint !== null && appended.writer !== undefined) {
      const update = 'UPDATE execution SET checkpoint = ? WHERE task = ? AND turn = ?';
      tables.sql.run(update, checkpoint, head.pk, appended.writer);
    }
    insertRows(tables, head, rows);
    writeHead(tables, head, { decision: appended, write });
    if (snapshot !== null) putSnapshot(tables, head, snapshot);
    if (head.hasEnded) {
      tables.counters.changeFinishedLogs(head.bytes);
      trimFinishedLogs(tables, head.pk);
    } else {
      if (snapshot !== null) trimLog(tables, head);
      settleReady(tables, head);
    }
    tables.heads.keep(taskId, head);
    return head.hasDeliveries && rows.length > 0 && markDue(tables, head, now);
  }
}

/** Appends records to the log of a task, if the writer still has the right to. */
export function append(tables: WriteTables, write: AppendWrite): AppendResult {
  const [, scope, taskId, now, authority, after, state, , , , , endsTurn, rows] = write;
  const request = { authority, after, count: countOf(rows), ends: isEndState(state), endsTurn: endsTurn ?? undefined };
  const at = { head: tables.heads.find(scope, taskId), request, call: write };
  const { outcome, isDue, isReady } = appendRecords(new RecordRows(tables), at, now);
  if (outcome.kind !== 'appended') return [outcome.kind];
  return isDue || isReady ? ['appended', outcome.waiting, isDue, isReady] : ['appended', outcome.waiting];
}

/** True if the log ends with these records. The earlier append may have grouped them into other rows. */
function endsWith({ sql }: WriteTables, head: HeadRow, [, , , , , after, , , , , , , rows]: AppendWrite): boolean {
  let last = after;
  const wanted = rows.map(([turn, records, event, history, metadata]): RecordRow => {
    last += records;
    return { last, turn, event, history, metadata };
  });
  const found = sql.all<RecordRow>(
    `SELECT ${ROW_COLUMNS} FROM task_record WHERE ${AFTER_SEQ} ORDER BY key`,
    head.pk,
    after,
    head.pk,
  );
  const records = (from: readonly RecordRow[]) => [...recordsOf(from, after)].flat();
  const [is, wants] = [records(found), records(wanted)];
  return is.length === wants.length && is.every((field, at) => field === wants[at]);
}

function insertRows({ sql }: WriteTables, head: HeadRow, rows: readonly RecordRowFields[]): void {
  for (const [turn, records, event, history, metadata] of rows) {
    head.seq += records;
    head.bytes += event.length + (history?.length ?? 0) + (metadata?.length ?? 0);
    sql.run(INSERT, head.pk, head.seq, turn, event, history, metadata);
  }
}

function countOf(rows: readonly RecordRowFields[]): number {
  return rows.reduce((sum, [, records]) => sum + records, 0);
}

/** Writes the new head to the row of the task. Few columns change while an artifact streams. */
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
