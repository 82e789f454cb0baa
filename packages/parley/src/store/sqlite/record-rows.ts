import { LogRecord } from '../../task/log-record.js';
import { SEQ_OF_KEY } from './record-keys.js';
import { textOf } from './task-texts.js';
import type { RecordFields, RecordRowFields } from './write-requests.js';

/**
 * A row of a log: records that one turn wrote in one commit. Each text has one line for each record, because JSON has
 * no line breaks. A row costs the same, however many records it has.
 */
export interface RecordRow {
  /** The sequence number of its last record. */
  readonly last: number;
  readonly turn: number;
  readonly event: string;
  /** `null` if no record has one; otherwise a line is empty if its record has none. */
  readonly history: string | null;
  readonly metadata: string | null;
}

/** The columns of a RecordRow. */
export const ROW_COLUMNS = `${SEQ_OF_KEY} AS last, turn, event, history, metadata`;

/** Length of the events of a row; only its last event goes beyond. Readers of a stream read whole rows. */
const ROW_LENGTH = 16_384;

/** The rows for records. */
export function rowsOf(records: readonly LogRecord[]): readonly RecordRowFields[] {
  const rows: RecordRowFields[] = [];
  for (let start = 0; start < records.length; ) {
    const end = endOfRow(records, start);
    const row = records.slice(start, end);
    const [first, ...others] = row;
    let event = first?.text ?? '';
    for (const { text } of others) event += `\n${text}`;
    rows.push([first?.turn ?? 0, row.length, event, linesOf(row, 'history'), linesOf(row, 'metadata')]);
    start = end;
  }
  return rows;
}

/** The end of the row that begins with a record. */
function endOfRow(records: readonly LogRecord[], start: number): number {
  const turn = records[start]?.turn;
  let end = start;
  for (let length = 0; length < ROW_LENGTH && end < records.length && records[end]?.turn === turn; end++) {
    length += records[end]?.text.length ?? 0;
  }
  return end;
}

/** A member of each record as a line; `null` if no record has it. */
function linesOf(records: readonly LogRecord[], member: 'history' | 'metadata'): string | null {
  if (records.every((record) => record[member] === undefined)) return null;
  return records.map((record) => textOf(record[member])).join('\n');
}

/** The records of rows after a sequence number. */
export function* recordsOf(rows: Iterable<RecordRow>, after: number): Generator<RecordFields, void> {
  for (const { last, turn, event, history, metadata } of rows) {
    const events = event.split('\n');
    const histories = history?.split('\n');
    const metadatas = metadata?.split('\n');
    for (const [at, text] of events.entries()) {
      const seq = last - events.length + 1 + at;
      if (seq > after) yield [seq, turn, text, histories?.[at] || null, metadatas?.[at] || null];
    }
  }
}

/** About the bytes of the event of a record. */
export function eventBytes([, , event]: RecordFields): number {
  return event.length;
}

/** The record of its fields. */
export function recordOf([seq, turn, event, history, metadata]: RecordFields): LogRecord {
  return LogRecord.parse({ seq, turn, event, history, metadata });
}
