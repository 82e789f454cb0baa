import { firstBytes, LogRecord, type RecordTexts, type Task, TaskBuilder } from 'parley-a2a/storage-engine';
import type { ObjectSql } from './object-context.js';
import type { TaskRow } from './task-rows.js';

/** Rows of a log per statement. */
const READ_AT_ONCE = 200;

const RECORDS = `SELECT seq, turn, event, history, metadata FROM record WHERE task = ? AND seq > ?
  ORDER BY seq LIMIT ${READ_AT_ONCE}`;
const SNAPSHOT = 'SELECT seq, task_text FROM snapshot WHERE task = ?';
const PUT_SNAPSHOT = `INSERT INTO snapshot VALUES (?, ?, ?)
  ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, task_text = excluded.task_text`;

/** The records and the snapshots of tasks. */
export class TaskLog {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  /** Inserts records. Returns their approximate bytes. */
  insert(pk: number, records: readonly LogRecord[]): number {
    let sum = 0;
    for (const record of records) {
      const { seq, turn, event, history, metadata } = record;
      const texts = [event, history, metadata].map((value) => this.#sql.textValue(value));
      // Without the JSON of the extras, which is mostly small.
      const bytes = record.text.length + 100;
      sum += bytes;
      this.#sql.run('INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)', pk, seq, turn, bytes, ...texts);
    }
    return sum;
  }

  putSnapshot(pk: number, seq: number, task: Task): void {
    this.#sql.run(PUT_SNAPSHOT, pk, seq, this.#sql.textValue(task));
  }

  /** The whole task after its last record. */
  read({ pk, key }: Pick<TaskRow, 'pk' | 'key'>): Task {
    const snapshot = this.#sql.get<{ seq: number; task_text: string }>(SNAPSHOT, pk);
    const task = snapshot && this.#sql.parse<Task>(snapshot.task_text);
    return TaskBuilder.replay(key.id, task, this.after(pk, snapshot?.seq ?? 0));
  }

  /** The records after a sequence number. */
  *after(pk: number, after: number): Generator<LogRecord, void> {
    for (let last = after; ; ) {
      const rows = this.#sql.all<RecordTexts>(RECORDS, pk, last);
      for (const row of rows) yield LogRecord.parse(this.#textsOf(row));
      last = rows.at(-1)?.seq ?? last;
      if (rows.length < READ_AT_ONCE) return;
    }
  }

  /** The records after a sequence number, up to `maxBytes` of JSON, but at least one. */
  first(pk: number, after: number, maxBytes: number): readonly LogRecord[] {
    return firstBytes(this.after(pk, after), maxBytes, ({ text }) => text.length);
  }

  /** Deletes the records below a sequence number. Returns their approximate bytes. */
  drop(pk: number, floor: number): number {
    const sum = 'SELECT sum(bytes) AS bytes FROM record WHERE task = ? AND seq < ?';
    const freed = this.#sql.get<{ bytes: number | null }>(sum, pk, floor)?.bytes ?? 0;
    this.#sql.run('DELETE FROM record WHERE task = ? AND seq < ?', pk, floor);
    this.#sql.run('UPDATE task SET floor = ?, log_bytes = log_bytes - ? WHERE pk = ?', floor, freed, pk);
    return freed;
  }

  #textsOf({ seq, turn, event, history, metadata }: RecordTexts): RecordTexts {
    const [told, changed] = [history, metadata].map((text) => (text === null ? null : this.#sql.textOf(text)));
    return { seq, turn, event: this.#sql.textOf(event), history: told ?? null, metadata: changed ?? null };
  }
}
