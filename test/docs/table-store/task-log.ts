import { firstBytes, LogRecord, type Task, TaskBuilder } from 'parley-a2a/storage-engine';
import type { Tables, TaskHead, TaskRow } from './rows.js';

/** The records and the snapshot of a task. */
export class TaskLog {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Writes records. Returns about the bytes that they take. */
  insert({ name }: TaskHead, records: readonly LogRecord[]): number {
    for (const { seq, turn, text, history, metadata } of records) {
      const extras = { history: textOf(history), metadata: textOf(metadata) };
      this.#tables.records.put(placeOf(name, seq), { seq, turn, event: text, ...extras });
    }
    return records.reduce((sum, { text }) => sum + text.length + 100, 0);
  }

  read(row: TaskRow): Task {
    const { snapshot, key } = row;
    const task = snapshot && (JSON.parse(snapshot.task) as Task);
    return TaskBuilder.replay(key.id, task, this.after(row, snapshot?.seq ?? 0));
  }

  *after({ name, floor, seq: last }: TaskRow, after: number): Generator<LogRecord, void> {
    for (let seq = Math.max(after + 1, floor); seq <= last; seq += 1) {
      const row = this.#tables.records.get(placeOf(name, seq));
      if (row !== undefined) yield LogRecord.parse(row);
    }
  }

  /** The records after a sequence number until they have so many bytes, and at least one. */
  first(row: TaskRow, after: number, maxBytes: number): readonly LogRecord[] {
    return firstBytes(this.after(row, after), maxBytes, ({ text }) => text.length);
  }

  /** Deletes the records below a sequence number. Returns how many went. */
  drop(head: TaskHead, floor: number): number {
    const count = floor - head.floor;
    for (; head.floor < floor; head.floor += 1) {
      const place = placeOf(head.name, head.floor);
      head.bytes -= (this.#tables.records.get(place)?.event.length ?? 0) + 100;
      this.#tables.records.delete(place);
    }
    this.#tables.putHead(head);
    return count;
  }
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function placeOf(name: string, seq: number): string {
  return `${name} ${seq}`;
}
