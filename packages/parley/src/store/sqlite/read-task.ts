import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import { LogRecord } from '../../task/log-record.js';
import { TaskBuilder } from '../../task/task-builder.js';
import type { RecordPage, TaskKey } from '../task-storage.js';
import type { ReadTables } from './read-tables.js';
import { AFTER_SEQ, SEQ_OF_KEY } from './record-keys.js';
import { parseTask, type TaskColumns, type TaskTexts } from './task-texts.js';

/** A task with what is needed to put it together. */
export interface TaskRow extends TaskTexts {
  readonly pk: number;
  readonly ended: number | null;
}

interface RecordRow {
  readonly seq: number;
  readonly turn: number;
  readonly event: string;
  readonly history: string | null;
  readonly metadata: string | null;
}

/** The columns of a task `t` that every reader wants. */
export const TASK_COLUMNS =
  't.pk, t.id, t.context_id AS contextId, t.seq, t.epoch, t.created, t.lease_end AS leaseEnd, t.ended, t.status, t.metadata';

const BY_ID = `SELECT ${TASK_COLUMNS}, n.history, n.artifacts, a.name AS agent, s.tenant, s.owner FROM task t
  JOIN scope s ON s.pk = t.scope JOIN agent a ON a.pk = t.agent
  LEFT JOIN snapshot n ON n.task = t.pk AND t.ended IS NOT NULL
  WHERE t.id = ? AND a.name = ? AND s.tenant = ? AND s.owner IS ?`;
const LOG_OF = `SELECT t.pk, t.seq, t.floor FROM task t JOIN scope s ON s.pk = t.scope JOIN agent a ON a.pk = t.agent
  WHERE t.id = ? AND a.name = ? AND s.tenant = ? AND s.owner IS ?`;
const RECORDS = `SELECT ${SEQ_OF_KEY} AS seq, turn, event, history, metadata FROM task_record WHERE ${AFTER_SEQ} ORDER BY key`;

/** A task as it stands. */
export function readTask(
  tables: ReadTables,
  { id, scope: { agent, tenant, owner } }: TaskKey,
): { readonly row: TaskRow; readonly task: Task } | undefined {
  return tables.together(() => {
    const row = tables.get<TaskRow>(BY_ID, id, agent, tenant, owner);
    if (row === undefined) return undefined;
    return { row, task: wholeTask(tables, row) };
  });
}

/** The whole task of a row; must be read together with it. */
export function wholeTask(tables: ReadTables, row: TaskRow): Task {
  if (row.ended !== null) return parseTask(row);
  const base = snapshotOf(tables, row);
  const records = recordsAfter(tables, row, base?.seq ?? 0);
  if (base !== undefined) return TaskBuilder.fold(base.task, records);
  // Without a snapshot nothing of the log is gone, and the log begins with the task.
  const first = records.next();
  if (first.done === true || !('task' in first.value.event)) {
    throw new Error(`The log of task ${row.id} has no beginning`);
  }
  return TaskBuilder.fold(first.value.event.task, records);
}

/** One after the other: a log may be much longer than the task that it comes to. */
function* recordsAfter(tables: ReadTables, { pk }: TaskRow, seq: number): Generator<LogRecord, void> {
  for (const row of tables.each<RecordRow>(RECORDS, pk, seq, pk)) yield recordOf(row);
}

/** Records of a task after a sequence number, until so much JSON. */
export function readRecords(
  tables: ReadTables,
  options: { readonly key: TaskKey; readonly after: number; readonly maxBytes: number },
): RecordPage {
  const { key, after, maxBytes } = options;
  const { agent, tenant, owner } = key.scope;
  return tables.together(() => {
    const row = tables.get<{ pk: number; seq: number; floor: number }>(LOG_OF, key.id, agent, tenant, owner);
    if (row === undefined) return { records: [], floor: 1, last: 0 };
    const records: LogRecord[] = [];
    let bytes = 0;
    for (const record of tables.each<RecordRow>(RECORDS, row.pk, after, row.pk)) {
      bytes += record.event.length;
      if (bytes > maxBytes && records.length > 0) break;
      records.push(recordOf(record));
    }
    return { records, floor: row.floor, last: row.seq };
  });
}

function snapshotOf(tables: ReadTables, row: TaskRow): { readonly seq: number; readonly task: Task } | undefined {
  const found = tables.get<Omit<TaskColumns, 'id' | 'contextId'> & { seq: number }>(
    'SELECT seq, status, metadata, history, artifacts FROM snapshot WHERE task = ?',
    row.pk,
  );
  return found && { seq: found.seq, task: parseTask({ ...found, id: row.id, contextId: row.contextId }) };
}

function recordOf({ seq, turn, event, history, metadata }: RecordRow): LogRecord {
  return LogRecord.fromText(seq, turn, event, {
    ...(history !== null && { history: JSON.parse(history) as readonly Message[] }),
    ...(metadata !== null && { metadata: JSON.parse(metadata) as JsonObject }),
  });
}
