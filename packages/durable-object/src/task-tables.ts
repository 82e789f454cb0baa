import {
  type Acceptance,
  type AcceptedTurn,
  type AppendedHead,
  type CallerContext,
  type CancelRequest,
  type Holder,
  isTerminal,
  type JsonValue,
  type LocalLoad,
  type LocalPage,
  type LocalTasks,
  type LocalTurn,
  LogRecord,
  type Message,
  mergeCancels,
  nextPlace,
  type ReadRow,
  type RecordPage,
  type Scope,
  statusTime,
  type Task,
  type TaskKey,
  type TaskQuery,
  type WrittenAppend,
} from 'parley-a2a/storage-engine';
import type { ObjectSql } from './object-context.js';
import type { Retention } from './retention.js';
import type { TaskLists } from './task-lists.js';
import type { TaskLog } from './task-log.js';
import type { TaskRow, TaskRows } from './task-rows.js';

interface TurnColumns {
  readonly attempts: number;
  readonly hand_overs: number;
  readonly message: string;
  readonly caller: string;
  readonly checkpoint: string | null;
  readonly cancel: string | null;
}

const INSERT_TASK = `INSERT INTO task (scope, id, context_id, state, status_time, created, ended, status, metadata, seq,
  floor, log_bytes, epoch, turns, began) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1, 0, 0, 0, 0) RETURNING pk`;
const WRITE_HEAD = `UPDATE task SET state = ?, status_time = ?, ended = ?, status = ?, metadata = ?, seq = ?,
  log_bytes = ?, epoch = ?, began = ?, first_place = ?, held_turn = ?, held_node = ?, lease_end = ? WHERE pk = ?`;
const WRITE_HOLDER = `UPDATE task SET epoch = ?, turns = ?, first_place = ?, held_turn = ?, held_node = ?, lease_end = ?
  WHERE pk = ?`;
const FREE = `SELECT pk, first_place AS place FROM task INDEXED BY task_turns
  WHERE first_place > ? AND (held_turn IS NULL OR lease_end <= ?) ORDER BY first_place LIMIT 200`;
const LOAD = `SELECT (SELECT count(*) FROM turn)
    - (SELECT count(*) FROM task WHERE first_place IS NOT NULL AND held_turn IS NOT NULL) AS waiting,
  (SELECT min(first_place) FROM task WHERE first_place IS NOT NULL AND held_turn IS NULL) AS oldestPlace,
  (SELECT count(*) FROM push_queue WHERE due IS NOT NULL) AS pendingDeliveries,
  (SELECT min(due) FROM push_queue WHERE due IS NOT NULL) AS oldestDue`;

/** The tables with tasks. */
interface TaskTablesOptions {
  readonly sql: ObjectSql;
  readonly rows: TaskRows;
  readonly log: TaskLog;
  readonly lists: TaskLists;
  readonly retention: Retention;
}

/** The tables of tasks and turns. */
export class TaskTables implements LocalTasks<TaskRow> {
  readonly #to: TaskTablesOptions;
  /** The place of the last turn. */
  #place: number;

  constructor(options: TaskTablesOptions) {
    this.#to = options;
    this.#place = options.sql.get<{ place: number | null }>('SELECT max(place) AS place FROM turn')?.place ?? 0;
  }

  find(key: TaskKey): TaskRow | undefined {
    return this.#to.rows.find(key);
  }

  insert(scope: Scope, task: Task, now: number): TaskRow {
    const { sql, rows, log, retention } = this.#to;
    const { status, contextId, metadata } = task;
    const ended = isTerminal(status.state) ? now : null;
    const texts = [sql.textValue(status), sql.textValue(metadata)] as const;
    const values = [rows.scopeOf(scope), task.id, contextId ?? null, status.state, statusTime(status), now] as const;
    const { pk = 0 } = sql.get<{ pk: number }>(INSERT_TASK, ...values, ended, ...texts) ?? {};
    const bytes = log.insert(pk, [new LogRecord(1, 0, { task })]);
    sql.run('UPDATE task SET log_bytes = ? WHERE pk = ?', bytes, pk);
    if (ended !== null) log.putSnapshot(pk, 1, task);
    const head = rows.get(pk) as TaskRow;
    if (head.hasEnded) retention.countEnded(head);
    return head;
  }

  addTurn(head: TaskRow, { turn, attempts, epoch, holder }: AcceptedTurn, call: Acceptance, now: number): void {
    const { sql } = this.#to;
    const place = nextPlace(this.#place, now);
    this.#place = place;
    const texts = [sql.textValue(call.message), sql.textValue(call.caller)] as const;
    sql.run('INSERT INTO turn VALUES (?, ?, ?, ?, 0, ?, ?, NULL, NULL)', head.pk, turn, place, attempts, ...texts);
    head.turns = turn;
    head.queue = [...head.queue, { turn, place }];
    this.hold(head, { epoch, holder });
  }

  append(head: TaskRow, appended: AppendedHead, append: WrittenAppend, now: number): void {
    const { sql, log, retention } = this.#to;
    const { records, snapshot } = append;
    const { status, metadata } = append.head;
    const { seq, epoch, began, holder, drops } = appended;
    if (drops !== undefined) this.#drop(head, drops);
    const hasEnded = isTerminal(status.state);
    const bytes = head.bytes + log.insert(head.pk, records);
    Object.assign(head, { seq, epoch, began, holder, bytes, hasEnded, state: status.state });
    sql.run(
      WRITE_HEAD,
      status.state,
      statusTime(status),
      hasEnded ? now : null,
      sql.textValue(status),
      sql.textValue(metadata),
      seq,
      bytes,
      epoch,
      began,
      head.queue[0]?.place ?? null,
      holder?.turn ?? null,
      holder?.node ?? null,
      holder?.leaseEnd ?? null,
      head.pk,
    );
    if (snapshot !== undefined) log.putSnapshot(head.pk, seq, snapshot);
    if (hasEnded) retention.countEnded(head);
    else if (snapshot !== undefined) retention.trim(head);
  }

  hold(head: TaskRow, { epoch, holder }: { readonly epoch: number; readonly holder: Holder | undefined }): void {
    head.epoch = epoch;
    head.holder = holder;
    const { pk, turns, queue } = head;
    const { turn = null, node = null, leaseEnd = null } = holder ?? {};
    this.#to.sql.run(WRITE_HOLDER, epoch, turns, queue[0]?.place ?? null, turn, node, leaseEnd, pk);
  }

  drop(head: TaskRow, turn: number): void {
    this.#drop(head, turn);
    this.#to.sql.run('UPDATE task SET first_place = ? WHERE pk = ?', head.queue[0]?.place ?? null, head.pk);
  }

  count(
    { pk }: TaskRow,
    turn: number,
    { attempts, addedHandOvers }: { readonly attempts: number; readonly addedHandOvers: 0 | 1 },
  ): void {
    const update = 'UPDATE turn SET attempts = ?, hand_overs = hand_overs + ? WHERE task = ? AND turn = ?';
    this.#to.sql.run(update, attempts, addedHandOvers, pk, turn);
  }

  saveCheckpoint({ pk }: TaskRow, turn: number, checkpoint: JsonValue): void {
    const { sql } = this.#to;
    sql.run('UPDATE turn SET checkpoint = ? WHERE task = ? AND turn = ?', sql.textValue(checkpoint), pk, turn);
  }

  cancelOf({ pk }: TaskRow, turn: number): CancelRequest | undefined {
    const { sql } = this.#to;
    const select = 'SELECT cancel FROM turn WHERE task = ? AND turn = ?';
    const { cancel = null } = sql.get<{ cancel: string | null }>(select, pk, turn) ?? {};
    return cancel === null ? undefined : sql.parse(cancel);
  }

  cancel(head: TaskRow, turn: number, request: CancelRequest): void {
    const { sql } = this.#to;
    const merged = sql.textValue(mergeCancels(this.cancelOf(head, turn), request));
    sql.run('UPDATE turn SET cancel = ? WHERE task = ? AND turn = ?', merged, head.pk, turn);
  }

  remove({ pk }: TaskRow): void {
    this.#to.retention.remove(pk);
  }

  read(head: TaskRow): Task {
    return this.#to.log.read(head);
  }

  turn({ pk }: TaskRow, turn: number): LocalTurn | undefined {
    const { sql } = this.#to;
    const select = `SELECT attempts, hand_overs, message, caller, checkpoint, cancel FROM turn
      WHERE task = ? AND turn = ?`;
    const row = sql.get<TurnColumns>(select, pk, turn);
    if (row === undefined) return undefined;
    return {
      message: sql.parse<Message>(row.message),
      caller: sql.parse<CallerContext>(row.caller),
      attempts: row.attempts,
      handOvers: row.hand_overs,
      checkpoint: row.checkpoint === null ? undefined : sql.parse<JsonValue>(row.checkpoint),
      cancel: row.cancel === null ? undefined : sql.parse<CancelRequest>(row.cancel),
    };
  }

  *free(now: number): Generator<TaskRow, void> {
    const { sql, rows } = this.#to;
    for (let after = -1; ; ) {
      const found = sql.all<{ pk: number; place: number }>(FREE, after, now);
      const last = found.at(-1);
      if (last === undefined) return;
      yield* rows.each(found.map(({ pk }) => pk));
      after = last.place;
    }
  }

  records({ pk, floor, seq }: TaskRow, after: number, maxBytes: number): RecordPage {
    return { records: this.#to.log.first(pk, after, maxBytes), floor, last: seq };
  }

  page(query: TaskQuery, readRow: ReadRow): LocalPage<TaskRow> {
    return this.#to.lists.page(query, readRow);
  }

  abandoned(agents: readonly string[], before: number, limit: number): readonly TaskRow[] {
    return this.#to.lists.abandoned(agents, before, limit);
  }

  load(): LocalLoad {
    const load = this.#to.sql.get<Record<keyof LocalLoad, number | null>>(LOAD);
    return {
      waiting: load?.waiting ?? 0,
      oldestPlace: load?.oldestPlace ?? undefined,
      pendingDeliveries: load?.pendingDeliveries ?? 0,
      oldestDue: load?.oldestDue ?? undefined,
    };
  }

  #drop(head: TaskRow, drops: number | 'all'): void {
    const { sql } = this.#to;
    if (drops === 'all') sql.run('DELETE FROM turn WHERE task = ?', head.pk);
    else sql.run('DELETE FROM turn WHERE task = ? AND turn = ?', head.pk, drops);
    head.queue = drops === 'all' ? [] : head.queue.filter(({ turn }) => turn !== drops);
  }
}
