import type { Task } from '../../model/task.js';
import type { LogRecord } from '../../task/log-record.js';
import { TaskBuilder } from '../../task/task-builder.js';
import { firstBytes } from '../engine/pages.js';
import { stateOfNumber } from '../state-numbers.js';
import type { TaskKey } from '../task-key.js';
import type { RecordPage, StoredTask, TaskProgress } from '../task-storage.js';
import type { ReadTables } from './read-tables.js';
import { AFTER_SEQ } from './record-keys.js';
import { eventBytes, type RecordRow, ROW_COLUMNS, recordOf, recordsOf } from './record-rows.js';
import {
  LEASE_COLUMNS,
  type LeasedRow,
  parseTask,
  storedOf,
  TASK_COLUMNS,
  type TextColumns,
  taskOf,
} from './task-texts.js';

const OF_KEY = `t.id = ? AND t.scope = (SELECT s.pk FROM scope s JOIN agent a ON a.pk = s.agent
  WHERE a.name = ? AND s.tenant = ? AND s.owner IS ?)`;
/** For a finished task, the large members are included. */
const BY_KEY = `SELECT ${TASK_COLUMNS}, n.history, n.artifacts, ${LEASE_COLUMNS} FROM task t
  LEFT JOIN snapshot n ON n.task = t.pk AND t.ended IS NOT NULL WHERE ${OF_KEY}`;
const PROGRESS_BY_KEY = `SELECT t.seq, t.state, t.began FROM task t WHERE ${OF_KEY}`;
const LOG_BY_KEY = `SELECT t.pk, t.seq, t.floor FROM task t WHERE ${OF_KEY}`;
const ROWS = `SELECT ${ROW_COLUMNS} FROM task_record WHERE ${AFTER_SEQ} ORDER BY key`;

/** Reads a task as of the time `now`. */
export function readTask(tables: ReadTables, { id, scope }: TaskKey, now: number): StoredTask | undefined {
  const { agent, tenant, owner } = scope;
  const read = () => tables.row<LeasedRow>(BY_KEY, id, agent, tenant, owner);
  const row = read();
  if (row === undefined) return undefined;
  const [, ended] = row;
  if (ended !== null) return storedOf(row, taskOf(row), { scope, now });
  // The log of an open task is a read of its own. Both must see the same state of the file.
  return tables.together(() => {
    const open = read();
    return open && storedOf(open, wholeTask(tables, open), { scope, now });
  });
}

/** Returns the whole task of a row. Must run in the transaction that has read the row. */
export function wholeTask(tables: ReadTables, row: LeasedRow): Task {
  const [pk, ended, id] = row;
  if (ended !== null) return taskOf(row);
  const base = snapshotOf(tables, row);
  return TaskBuilder.replay(id, base?.task, recordsAfter(tables, pk, base?.seq ?? 0));
}

/** Reads rows lazily, because a log may be much longer than the task that it folds to. */
function* recordsAfter(tables: ReadTables, pk: number, seq: number): Generator<LogRecord, void> {
  for (const record of recordsOf(tables.each<RecordRow>(ROWS, pk, seq, pk), seq)) yield recordOf(record);
}

/** Reads the progress of tasks. */
export function readProgress(tables: ReadTables, keys: readonly TaskKey[]): readonly (TaskProgress | undefined)[] {
  return tables.together(() =>
    keys.map(({ id, scope: { agent, tenant, owner } }) => {
      const row = tables.get<{ seq: number; state: number; began: number }>(PROGRESS_BY_KEY, id, agent, tenant, owner);
      return row && { seq: row.seq, state: stateOfNumber(row.state), lastTurn: row.began };
    }),
  );
}

/** Reads the records of a task after a sequence number, up to `maxBytes` of JSON of their events. */
export function readRecords(
  tables: ReadTables,
  options: { readonly key: TaskKey; readonly after: number; readonly maxBytes: number },
): RecordPage {
  const { key, after, maxBytes } = options;
  const { agent, tenant, owner } = key.scope;
  return tables.together(() => {
    const row = tables.get<{ pk: number; seq: number; floor: number }>(LOG_BY_KEY, key.id, agent, tenant, owner);
    if (row === undefined) return { records: [], floor: 1, last: 0 };
    const from = Math.max(after, row.floor - 1);
    const all = recordsOf(tables.each<RecordRow>(ROWS, row.pk, from, row.pk), from);
    return { records: firstBytes(all, maxBytes, eventBytes).map(recordOf), floor: row.floor, last: row.seq };
  });
}

function snapshotOf(
  tables: ReadTables,
  [pk, , id, contextId]: LeasedRow,
): { readonly seq: number; readonly task: Task } | undefined {
  const found = tables.get<Omit<TextColumns, 'id' | 'contextId'> & { readonly seq: number }>(
    'SELECT seq, status, metadata, history, artifacts FROM snapshot WHERE task = ?',
    pk,
  );
  return found && { seq: found.seq, task: parseTask({ ...found, id, contextId }) };
}
