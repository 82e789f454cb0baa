import { LogRecord, type Task, TaskBuilder } from 'parley-a2a/storage-engine';
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
      const extras = JSON.stringify({ history, metadata });
      this.#tables.records.put(placeOf(name, seq), { seq, turn, event: text, extras });
    }
    return records.reduce((sum, { text }) => sum + text.length + 100, 0);
  }

  read(row: TaskRow): Task {
    const { snapshot, key } = row;
    if (snapshot !== undefined)
      return TaskBuilder.fold(JSON.parse(snapshot.task) as Task, this.after(row, snapshot.seq));
    const records = this.after({ ...row, floor: 1 }, 0);
    const first = records.next();
    if (first.done === true || !('task' in first.value.event)) throw new TypeError(`Task ${key.id} has no beginning`);
    return TaskBuilder.fold(first.value.event.task, records);
  }

  *after({ name, floor, seq: last }: TaskRow, after: number): Generator<LogRecord, void> {
    for (let seq = Math.max(after + 1, floor); seq <= last; seq += 1) {
      const row = this.#tables.records.get(placeOf(name, seq));
      if (row !== undefined) yield LogRecord.fromText(seq, row.turn, row.event, JSON.parse(row.extras));
    }
  }

  /** The records after a sequence number until they have so many bytes, and at least one. */
  first(row: TaskRow, after: number, maxBytes: number): readonly LogRecord[] {
    const found: LogRecord[] = [];
    let bytes = 0;
    for (const record of this.after(row, after)) {
      bytes += record.text.length;
      if (bytes > maxBytes && found.length > 0) break;
      found.push(record);
    }
    return found;
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

function placeOf(name: string, seq: number): string {
  return `${name} ${seq}`;
}
