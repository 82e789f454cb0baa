import { StorageError } from '../../errors/storage-error.js';
import type { RecordTexts } from '../../task/log-record.js';
import { ShapedTask } from '../../task/shaped-task.js';
import { stateOfNumber } from '../state-numbers.js';
import type { CopiedKey, CopiedPushConfig, CopiedTask, CopiedTurn, TransferCounts } from '../task-transfer.js';
import type { ReadTables } from './read-tables.js';
import { wholeTask } from './read-task.js';
import { OF_TASK } from './record-keys.js';
import { type RecordRow, ROW_COLUMNS, recordsOf } from './record-rows.js';
import { LEASE_COLUMNS, type LeasedRow, TASK_COLUMNS } from './task-texts.js';

/** Columns of a task that other readers do not need. */
interface OtherColumns {
  readonly pk: number;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly state: number;
  readonly statusTime: number;
  readonly floor: number;
  readonly turns: number;
  readonly began: number;
}

const COUNTS = `SELECT (SELECT count(*) FROM task) AS tasks, (SELECT coalesce(sum(seq - floor + 1), 0) FROM task) AS records,
  (SELECT count(*) FROM execution) AS turns, (SELECT count(*) FROM push_config) AS pushConfigs,
  (SELECT count(*) FROM idempotency WHERE node IS NULL) AS keys`;
const NEXT_TASKS = `SELECT t.pk, a.name AS agent, s.tenant, s.owner, t.state, t.status_time AS statusTime, t.floor, t.turns, t.began FROM task t
  JOIN scope s ON s.pk = t.scope JOIN agent a ON a.pk = t.agent WHERE t.pk > ? ORDER BY t.pk LIMIT 100`;
const TASK = `SELECT ${TASK_COLUMNS}, n.history, n.artifacts, ${LEASE_COLUMNS} FROM task t
  LEFT JOIN snapshot n ON n.task = t.pk AND t.ended IS NOT NULL WHERE t.pk = ?`;
const ROWS = `SELECT ${ROW_COLUMNS} FROM task_record WHERE ${OF_TASK} ORDER BY key`;
const TURNS = `SELECT turn, attempt, hand_overs AS handOvers, message, caller, checkpoint, cancel FROM execution
  WHERE task = ? ORDER BY turn`;
const CONFIGS = `SELECT c.id, c.config, d.position, d.attempts, d.due AS dueAt, d.status AS lastStatus, d.parked
  FROM push_config c JOIN push_delivery d ON d.task = c.task AND d.config = c.id WHERE c.task = ? ORDER BY d.pk`;
const KEYS = `SELECT a.name AS agent, s.tenant, s.owner, i.key, i.digest, i.expires AS expiresAt, i.task AS taskId,
  i.turn, i.reply FROM idempotency i JOIN scope s ON s.pk = i.scope JOIN agent a ON a.pk = s.agent
  WHERE i.node IS NULL ORDER BY i.expires`;

/** Counts the rows of a file. */
export function countCopies(tables: ReadTables): TransferCounts {
  const { tasks = 0, records = 0, turns = 0, pushConfigs = 0, keys = 0 } = tables.get<TransferCounts>(COUNTS) ?? {};
  return { tasks, records, turns, pushConfigs, keys };
}

/** Reads all tasks, oldest first. */
export function* copiedTasks(tables: ReadTables): Generator<CopiedTask> {
  for (let last = 0; ; ) {
    const rows = tables.all<OtherColumns>(NEXT_TASKS, last);
    for (const row of rows) yield copiedTask(tables, row);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.pk;
  }
}

/** Reads all keys with an outcome, earliest expiry first. */
export function* copiedKeys(tables: ReadTables): Generator<CopiedKey> {
  type Row = Omit<CopiedKey, 'scope'> & { readonly agent: string; readonly tenant: string; readonly owner: string };
  for (const { agent, tenant, owner, ...key } of tables.each<Row>(KEYS)) {
    yield { scope: { agent, tenant, owner }, ...key };
  }
}

function copiedTask(tables: ReadTables, columns: OtherColumns): CopiedTask {
  const { pk, agent, tenant, owner, state, statusTime, floor, turns, began } = columns;
  try {
    const row = tables.row<LeasedRow>(TASK, pk);
    if (row === undefined) throw new Error('The row is gone');
    const [, endedAt, id, contextId, seq, epoch, createdAt, status, metadata] = row;
    const { history, artifacts } = ShapedTask.textsOf(wholeTask(tables, row));
    return {
      scope: { agent, tenant, owner },
      id,
      contextId,
      state: stateOfNumber(state),
      statusTime,
      createdAt,
      endedAt,
      seq,
      floor,
      epoch,
      turnCount: turns,
      lastTurn: began,
      status,
      metadata,
      history: history ?? null,
      artifacts: artifacts ?? null,
      records: copiedRecords(tables, pk, floor),
      turns: tables.all<CopiedTurn>(TURNS, pk),
      pushConfigs: tables.all<CopiedPushConfig>(CONFIGS, pk),
    };
  } catch (cause) {
    throw new StorageError(`Task number ${pk} cannot be read: restore a copy of the file`, { cause });
  }
}

function copiedRecords(tables: ReadTables, pk: number, floor: number): readonly RecordTexts[] {
  const records = recordsOf(tables.each<RecordRow>(ROWS, pk, pk), floor - 1);
  return Array.from(records, ([seq, turn, event, history, metadata]) => ({ seq, turn, event, history, metadata }));
}
