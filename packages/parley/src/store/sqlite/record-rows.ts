import { LogRecord } from '../../task/log-record.js';
import { SEQ_OF_KEY } from './record-keys.js';
import { textOf } from './task-texts.js';
import type { RecordFields, RecordRowFields } from './write-requests.js';

/**
 * A row of a log: records that one turn wrote in one commit. Each text has one line per record, because JSON has no
 * line breaks. The cost of a row does not depend on its number of records.
 */
export interface RecordRow {
  /** The sequence number of its last record. */
  readonly last: number;
  readonly turn: number;
  readonly event: string;
  /** `null` if no record has a history; otherwise the line of a record without one is empty. */
  readonly history: string | null;
  readonly metadata: string | null;
}

/** The columns of a RecordRow. */
export const ROW_COLUMNS = `${SEQ_OF_KEY} AS last, turn, event, history, metadata`;

/** Maximum length of the events of a row; only its last event may exceed it. Readers of a stream read whole rows. */
const ROW_LENGTH = 16_384;

/** Groups records into rows. */
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

/** Returns the index after the last record of the row that begins at `start`. */
function endOfRow(records: readonly LogRecord[], start: number): number {
  const turn = records[start]?.turn;
  let end = start;
  for (let length = 0; length < ROW_LENGTH && end < records.length && records[end]?.turn === turn; end++) {
    length += records[end]?.text.length ?? 0;
  }
  return end;
}

/** Returns a member of each record as a line; `null` if no record has it. */
function linesOf(records: readonly LogRecord[], member: 'history' | 'metadata'): string | null {
  if (records.every((record) => record[member] === undefined)) return null;
  return records.map((record) => textOf(record[member])).join('\n');
}

/** Returns the records of rows after a sequence number. */
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

/** Approximate bytes of the event of a record. */
export function eventBytes([, , event]: RecordFields): number {
  return event.length;
}

/** Parses a record. */
export function recordOf([seq, turn, event, history, metadata]: RecordFields): LogRecord {
  return LogRecord.parse({ seq, turn, event, history, metadata });
}
