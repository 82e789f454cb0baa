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
  const rows: OpenRow[] = [];
  let row: OpenRow | undefined;
  for (const { turn, text, history, metadata } of records) {
    if (row === undefined || row[0] !== turn || row[2].length >= ROW_LENGTH) {
      row = [turn, 0, '', null, null];
      rows.push(row);
    }
    const [, before, events] = row;
    row[1] += 1;
    row[2] = before === 0 ? text : `${events}\n${text}`;
    row[3] = addLine(row[3], before, history);
    row[4] = addLine(row[4], before, metadata);
  }
  return rows;
}

/** A row that may get more records. */
type OpenRow = { -readonly [At in keyof RecordRowFields]: RecordRowFields[At] };

/** Adds the line of a record to those of `before` records; `null` if none of them has the member. */
function addLine(lines: string | null, before: number, member: unknown): string | null {
  if (lines === null && member === undefined) return null;
  const earlier = lines ?? '\n'.repeat(Math.max(0, before - 1));
  return `${earlier}${before === 0 ? '' : '\n'}${textOf(member) ?? ''}`;
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
