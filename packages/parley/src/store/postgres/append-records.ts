import type { TaskStatus } from '../../model/task.js';
import type { LogRecord } from '../../task/log-record.js';
import { ShapedTask } from '../../task/shaped-task.js';
import { statusTime } from '../../task/status-time.js';
import { appendRequest } from '../engine/append-records.js';
import { decideAppend, unchangedOutcome } from '../rules/decide-append.js';
import { waitingIn } from '../rules/task-head.js';
import { stateNumber } from '../state-numbers.js';
import type { Append, AppendOutcome } from '../task-storage.js';
import { dropTurns, type LockedTask, lockTask, writeQueue } from './locked-task.js';
import { indexForm, type StoredScope } from './stored-names.js';
import type { Sql, Tables } from './tables.js';

/** An append for the statement that appends. */
export interface PreparedAppend {
  /** Its place in the batch. */
  n: number;
  readonly part: number;
  readonly scope: string;
  readonly id: string;
  /** Negative for an append from outside of a turn. */
  readonly epoch: number;
  readonly after: number;
  readonly count: number;
  readonly bytes: number;
  readonly state: number;
  readonly status_time: number;
  readonly ends: boolean;
  readonly ends_turn: number | null;
  readonly status: string;
  readonly metadata: string | null;
  readonly snap: boolean;
  readonly history: string | null;
  readonly artifacts: string | null;
  readonly checkpoint: string | null;
  readonly records: readonly RecordFields[];
}

/** A record for a statement. */
interface RecordFields {
  readonly q: number;
  readonly t: number;
  readonly e: string;
  readonly h?: string;
  readonly m?: string;
}

/** An outcome, and if a delivery became due. */
export interface Appended {
  readonly outcome: AppendOutcome;
  readonly isDue: boolean;
}

const FIELDS = `n integer, part smallint, scope uuid, id text, epoch integer, after integer, count integer, bytes bigint,
  state smallint, status_time bigint, ends boolean, ends_turn integer, status text, metadata text, snap boolean,
  history text, artifacts text, checkpoint text, records json`;
const RECORD_FIELDS = 'q integer, t integer, e text, h text, m text';
const INSERT_RECORDS = 'INSERT INTO parley.task_record (task, seq, turn, part, event, history, metadata)';

/**
 * The plain append: the writer holds the turn, knows the last record, and no other turn waits if this one ends. It
 * writes nothing for any other append. It finds the row of the task by its place in the table. If another transaction
 * has written to the row since the statement began, the row is at another place, and the append is not plain.
 *
 * The lateral query and the arrays tell PostgreSQL to look each task up by an index, whatever the tables held when the
 * statement was planned.
 */
const APPEND: Sql = {
  name: 'append-records',
  text: `WITH clock AS MATERIALIZED (SELECT parley.now_ms() AS now),
    i AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS i(${FIELDS})),
    f AS MATERIALIZED (
      SELECT i.*, o.place FROM i CROSS JOIN LATERAL (
        SELECT t.ctid AS place FROM parley.task t
        WHERE t.part = i.part AND t.id = i.id AND t.scope IS NOT DISTINCT FROM i.scope
          AND t.epoch = i.epoch AND t.held <> 0 AND t.seq = i.after AND t.ended IS NULL
          AND (i.ends_turn IS NULL AND NOT i.ends OR t.queued = 1 AND coalesce(i.ends_turn, t.held) = t.held)
        LIMIT 1
      ) o
    ),
    t AS (
      UPDATE parley.task t SET
        seq = i.after + i.count, bytes = t.bytes + i.bytes,
        began = CASE WHEN i.count > 0 OR i.ends THEN t.held ELSE t.began END,
        held = CASE WHEN i.ends OR i.ends_turn IS NOT NULL THEN 0 ELSE t.held END,
        queued = CASE WHEN i.ends OR i.ends_turn IS NOT NULL THEN 0 ELSE t.queued END,
        state = i.state, earlier_state = t.state, status_time = i.status_time, status = i.status, metadata = i.metadata,
        ended = CASE WHEN i.ends THEN now END,
        snapshot_seq = CASE WHEN i.snap THEN i.after + i.count ELSE t.snapshot_seq END,
        snapshot_status = CASE WHEN i.ends THEN NULL WHEN i.snap THEN i.status ELSE t.snapshot_status END,
        history = CASE WHEN i.snap THEN i.history ELSE t.history END,
        artifacts = CASE WHEN i.snap THEN i.artifacts ELSE t.artifacts END
      FROM f i, clock
      WHERE t.part = i.part AND t.ctid = i.place
      RETURNING i.n, t.pk, t.part, t.scope, t.queued - (t.held <> 0)::int AS waiting, t.state, t.earlier_state, t.pushes,
        i.count, t.held, i.checkpoint, i.records
    ),
    r AS (
      ${INSERT_RECORDS}
      SELECT t.pk, r.q, r.t, t.part, r.e, r.h, r.m FROM t, json_to_recordset(t.records) AS r(${RECORD_FIELDS})
    ),
    e AS (
      DELETE FROM parley.execution e
      WHERE e.task = ANY (ARRAY(SELECT pk FROM t WHERE held = 0)) AND e.part = ANY (ARRAY(SELECT part FROM t))
    ),
    k AS (
      UPDATE parley.execution e SET checkpoint = t.checkpoint FROM t
      WHERE e.task = ANY (ARRAY(SELECT pk FROM t WHERE held <> 0 AND checkpoint IS NOT NULL))
        AND e.task = t.pk AND e.part = t.part AND e.turn = t.held
    ),
    s AS (
      INSERT INTO parley.task_count_change
      SELECT scope, count(*), earlier_state, state, part FROM t WHERE state <> earlier_state
      GROUP BY scope, earlier_state, state, part
    )
    SELECT n, waiting, CASE WHEN pushes AND count > 0 THEN parley.mark_due(pk, part) ELSE false END AS due FROM t`,
};

/** Makes plain appends in one statement. An append that is not plain is missing in the result. */
export async function appendPlain(
  tables: Tables,
  appends: readonly PreparedAppend[],
): Promise<ReadonlyMap<number, Appended>> {
  for (const [n, append] of appends.entries()) append.n = n;
  const rows = await tables.query<{ readonly n: number; readonly waiting: number; readonly due: boolean }>(
    APPEND,
    JSON.stringify(appends),
  );
  return new Map(
    rows.map(({ n, waiting, due }) => [n, { outcome: { kind: 'appended', waiting }, isDue: due }] as const),
  );
}

/** An append as the statement wants it. */
export function preparedAppend(scope: StoredScope, append: Append): PreparedAppend {
  const { authority, after, ends, endsTurn } = appendRequest(append);
  const { key, records, head, snapshot, checkpoint } = append;
  const texts = snapshot && ShapedTask.textsOf(snapshot);
  const fields = records.map(fieldsOf);
  return {
    n: 0,
    part: scope.part,
    scope: scope.hash,
    id: indexForm(key.id),
    epoch: typeof authority === 'number' ? authority : -1,
    after,
    count: records.length,
    bytes: fields.reduce((sum, { e, h, m }) => sum + e.length + (h?.length ?? 0) + (m?.length ?? 0), 0),
    state: stateNumber(head.status.state),
    status_time: statusTime(head.status),
    ends,
    ends_turn: endsTurn ?? null,
    status: texts?.status ?? statusText(head.status),
    metadata: head.metadata === undefined ? null : JSON.stringify(head.metadata),
    snap: texts !== undefined,
    history: texts?.history ?? null,
    artifacts: texts?.artifacts ?? null,
    checkpoint: checkpoint === undefined ? null : JSON.stringify(checkpoint),
    records: fields,
  };
}

function fieldsOf({ seq, turn, text, history, metadata }: LogRecord): RecordFields {
  return {
    q: seq,
    t: turn,
    e: text,
    ...(history !== undefined && { h: JSON.stringify(history) }),
    ...(metadata !== undefined && { m: JSON.stringify(metadata) }),
  };
}

const statusTexts = new WeakMap<TaskStatus, string>();

/** A status stays the same while chunks of artifacts come: its text is made once. */
function statusText(status: TaskStatus): string {
  let text = statusTexts.get(status);
  if (text === undefined) {
    text = JSON.stringify(status);
    statusTexts.set(status, text);
  }
  return text;
}

/** Makes any append, under a lock. Runs in a transaction. */
export async function appendLocked(
  tables: Tables,
  scope: StoredScope,
  { append, prepared }: { readonly append: Append; readonly prepared: PreparedAppend },
): Promise<Appended> {
  const { now, task } = await lockTask(tables, scope, append.key.id);
  const request = appendRequest(append);
  const { authority } = request;
  let decision = decideAppend(task, request, { now });
  if (task === undefined) return { outcome: { kind: 'not-found' }, isDue: false };
  if (decision.kind === 'compare') {
    decision = decideAppend(task, request, { now, isInLog: await endsWith(tables, task, prepared) });
  }
  if (decision.kind !== 'appended') return { outcome: unchangedOutcome(decision, task), isDue: false };
  const { pk, part } = task;
  if (prepared.checkpoint !== null && typeof authority === 'number' && task.holder !== undefined) {
    await tables.query(CHECKPOINT, pk, part, task.holder.turn, prepared.checkpoint);
  }
  const { seq, epoch, began, holder, drops } = decision;
  const queue = drops === undefined ? task.queue : await dropTurns(tables, task, drops);
  const [written] = await tables.query<{ readonly due: boolean }>(
    WRITE,
    pk,
    part,
    JSON.stringify([prepared]),
    seq,
    began,
    prepared.ends ? now : null,
  );
  const after_ = { ...task, epoch, queue, holder };
  await writeQueue(tables, after_);
  return { outcome: { kind: 'appended', waiting: waitingIn(after_) }, isDue: written?.due === true };
}

const CHECKPOINT: Sql = {
  name: 'checkpoint-of-turn',
  text: 'UPDATE parley.execution SET checkpoint = $4 WHERE task = $1 AND part = $2 AND turn = $3',
};
const WRITE: Sql = {
  name: 'write-append',
  text: `WITH i AS MATERIALIZED (SELECT * FROM json_to_recordset($3::json) AS i(${FIELDS})),
    t AS (
      UPDATE parley.task t SET seq = $4, began = $5, ended = $6, bytes = t.bytes + i.bytes,
        state = i.state, earlier_state = t.state, status_time = i.status_time, status = i.status, metadata = i.metadata,
        snapshot_seq = CASE WHEN i.snap THEN $4 ELSE t.snapshot_seq END,
        snapshot_status = CASE WHEN i.ends THEN NULL WHEN i.snap THEN i.status ELSE t.snapshot_status END,
        history = CASE WHEN i.snap THEN i.history ELSE t.history END,
        artifacts = CASE WHEN i.snap THEN i.artifacts ELSE t.artifacts END
      FROM i WHERE t.pk = $1 AND t.part = $2
      RETURNING t.scope, t.part, t.state, t.earlier_state
    ),
    r AS (
      ${INSERT_RECORDS}
      SELECT $1, r.q, r.t, $2, r.e, r.h, r.m FROM i, json_to_recordset(i.records) AS r(${RECORD_FIELDS})
    ),
    s AS (
      INSERT INTO parley.task_count_change
      SELECT scope, 1, earlier_state, state, part FROM t WHERE state <> earlier_state
    )
    SELECT CASE WHEN count > 0 THEN parley.mark_due($1, $2) ELSE false END AS due FROM i`,
};

const TAIL: Sql = {
  name: 'tail-of-log',
  text: `SELECT seq AS q, turn AS t, event AS e, history AS h, metadata AS m FROM parley.task_record
    WHERE task = $1 AND part = $2 AND seq > $3 ORDER BY seq`,
  repeatable: true,
};

/** True if the log ends with just these records. */
async function endsWith(
  tables: Tables,
  { pk, part }: LockedTask,
  { after, records }: PreparedAppend,
): Promise<boolean> {
  const found = await tables.query<{ t: number; e: string; h: string | null; m: string | null }>(TAIL, pk, part, after);
  return (
    found.length === records.length &&
    found.every((row, at) => {
      const record = records[at];
      return row.t === record?.t && row.e === record.e && row.h === (record.h ?? null) && row.m === (record.m ?? null);
    })
  );
}
