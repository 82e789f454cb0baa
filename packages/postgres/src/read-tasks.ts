import {
  LogRecord,
  type RecordPage,
  type RecordTexts,
  ShapedTask,
  type StoredTask,
  stateOfNumber,
  type Task,
  TaskBuilder,
  type TaskKey,
  type TaskProgress,
  type ToldTasks,
} from 'parley-a2a/storage-engine';
import { keyFields, nameOf, type StoredScopes } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** A row of a task with `record: false`, or one of its records with `record: true`. */
interface Row {
  readonly n: number;
  readonly record: boolean;
  readonly seq: number;
  readonly metadata: string | null;
  readonly history: string | null;
  /** The fields of a task. */
  readonly epoch: number;
  readonly held: number;
  readonly created: number;
  readonly ended: number | null;
  readonly running: boolean;
  readonly context_id: string | null;
  readonly snapshot_seq: number;
  readonly status: string;
  readonly artifacts: string | null;
  /** The fields of a record. */
  readonly turn: number;
  readonly event: string;
}

const KEYS = 'json_to_recordset($1::json) AS i(n integer, part smallint, scope uuid, id text)';
const OF_KEY = 't.part = i.part AND t.id = i.id AND t.scope IS NOT DISTINCT FROM i.scope';

/** One statement reads task and log in one snapshot. Each part uses an index. */
const TASKS: Sql = {
  name: 'read-tasks',
  text: `WITH t AS MATERIALIZED (
      SELECT i.n, t.pk, t.part, t.seq, t.metadata, t.history, t.epoch, t.held, t.created, t.ended,
        coalesce((
          SELECT e.lease_end > parley.now_ms() FROM parley.execution e
          WHERE e.task = t.pk AND e.part = t.part AND e.turn = t.held
        ), false) AS running, t.context_id, t.snapshot_seq,
        coalesce(t.snapshot_status, t.status) AS status, t.artifacts
      FROM ${KEYS} CROSS JOIN LATERAL (SELECT * FROM parley.task t WHERE ${OF_KEY} LIMIT 1) t
    )
    SELECT n, false AS record, seq, metadata, history, epoch, held, created, ended, running, context_id, snapshot_seq,
      status, artifacts, NULL::integer AS turn, NULL::text AS event FROM t
    UNION ALL
    SELECT t.n, true, r.seq, r.metadata, r.history, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, r.turn, r.event
    FROM t CROSS JOIN LATERAL (
      SELECT * FROM parley.task_record r WHERE r.task = t.pk AND r.part = t.part AND r.seq > t.snapshot_seq OFFSET 0
    ) r
    WHERE t.ended IS NULL
    ORDER BY 1, 2, 3`,
  repeatable: true,
};

/** The tables of a storage, and the log for unreadable tasks. */
export interface ReadSources {
  readonly tables: Tables;
  readonly scopes: StoredScopes;
  readonly unreadable: ToldTasks;
}

/**
 * Reads a whole task; `undefined` if it does not exist.
 * @throws UnreadableTaskError
 */
export async function readTask(
  { tables, scopes, unreadable }: ReadSources,
  key: TaskKey,
): Promise<StoredTask | undefined> {
  const [task] = await readTasksApart(tables, scopes, [key]);
  return unreadable.required(key, () => {
    if (task instanceof Error) throw task;
    return task;
  });
}

/** Reads whole tasks, in the order of the keys; `undefined` for a missing task, and an error for an unreadable one. */
export async function readTasksApart(
  tables: Tables,
  scopes: StoredScopes,
  keys: readonly TaskKey[],
): Promise<readonly (StoredTask | Error | undefined)[]> {
  if (keys.length === 0) return [];
  const rows = await tables.query<Row>(TASKS, keysJson(scopes, keys));
  const byKey = Map.groupBy(rows, ({ n }) => n);
  return keys.map((key, n) => {
    const [row, ...records] = byKey.get(n) ?? [];
    if (row === undefined) return undefined;
    const { seq, epoch, running, held: heldTurn, created: createdAt } = row;
    try {
      return { scope: key.scope, task: taskOf(key, row, records), seq, epoch, running, heldTurn, createdAt };
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  });
}

function taskOf({ id }: TaskKey, row: Row, records: readonly Row[]): Task {
  const log = records.map((record) => LogRecord.parse(record));
  if (row.snapshot_seq === 0 && row.ended === null) return TaskBuilder.replay(id, undefined, log);
  const { status, artifacts, history, metadata } = row;
  const base = ShapedTask.parse({
    id,
    contextId: row.context_id === null ? undefined : nameOf(row.context_id),
    status,
    artifacts: artifacts ?? undefined,
    history: history ?? undefined,
    metadata: metadata ?? undefined,
  });
  return log.length === 0 ? base : TaskBuilder.replay(id, base, log);
}

const HEADS: Sql = {
  name: 'read-heads',
  text: `SELECT i.n, t.seq, t.state, t.began FROM ${KEYS}
    CROSS JOIN LATERAL (SELECT seq, state, began FROM parley.task t WHERE ${OF_KEY} LIMIT 1) t`,
  repeatable: true,
};

/** Reads the progress of tasks, in the order of the keys. */
export async function readHeads(
  tables: Tables,
  scopes: StoredScopes,
  keys: readonly TaskKey[],
): Promise<readonly (TaskProgress | undefined)[]> {
  if (keys.length === 0) return [];
  const rows = await tables.query<{ n: number; seq: number; state: number; began: number }>(
    HEADS,
    keysJson(scopes, keys),
  );
  const found: (TaskProgress | undefined)[] = keys.map(() => undefined);
  for (const { n, seq, state, began } of rows) found[n] = { seq, state: stateOfNumber(state), lastTurn: began };
  return found;
}

function keysJson(scopes: StoredScopes, keys: readonly TaskKey[]): string {
  return JSON.stringify(keys.map((key, n) => ({ n, ...keyFields(scopes.of(key.scope), key) })));
}

/** Maximum number of records in one read. */
const PAGE = 1_000;
const RECORDS: Sql = {
  name: 'read-records',
  text: `SELECT t.floor, t.seq AS last, r.* FROM parley.task t LEFT JOIN LATERAL (
      SELECT p.seq, turn, event, history, metadata FROM (
        SELECT *, sum(octet_length(event)) OVER (ORDER BY seq) AS bytes, row_number() OVER (ORDER BY seq) AS place
        FROM (
          SELECT seq, turn, event, history, metadata FROM parley.task_record
          WHERE task = t.pk AND part = t.part AND seq > $4 ORDER BY seq LIMIT ${PAGE}
        ) found
      ) p WHERE p.bytes <= $5 OR p.place = 1
    ) r ON true
    WHERE t.part = $1 AND t.id = $3 AND t.scope IS NOT DISTINCT FROM $2::uuid ORDER BY r.seq`,
  repeatable: true,
};

/**
 * Reads records of a task after a sequence number, up to `maxBytes` of JSON of their events.
 * @throws UnreadableTaskError
 */
export async function readRecords(
  { tables, scopes, unreadable }: ReadSources,
  { key, after, maxBytes }: { readonly key: TaskKey; readonly after: number; readonly maxBytes: number },
): Promise<RecordPage> {
  const { part, scope, id } = keyFields(scopes.of(key.scope), key);
  const most = Math.min(maxBytes, Number.MAX_SAFE_INTEGER);
  type Row = Omit<RecordTexts, 'seq'> & { readonly floor: number; readonly last: number; readonly seq: number | null };
  const rows = await tables.query<Row>(RECORDS, part, scope, id, after, most);
  const [first] = rows;
  if (first === undefined) return { records: [], floor: 1, last: 0 };
  const records = unreadable.required(key, () =>
    rows.flatMap(({ seq, ...row }) => (seq === null ? [] : [LogRecord.parse({ seq, ...row })])),
  );
  return { records, floor: first.floor, last: first.last };
}
