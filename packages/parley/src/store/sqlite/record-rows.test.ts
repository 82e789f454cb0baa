import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogRecord } from '../../task/log-record.js';
import { type RecordRow, recordsOf, rowsOf } from './record-rows.js';

const { array, integer, option, record, string } = fc;

const message = record({
  messageId: string(),
  role: fc.constant('ROLE_USER'),
  parts: array(record({ text: string({ unit: 'binary' }) }), { maxLength: 2 }),
});
const change = record({
  turn: integer({ min: 1, max: 2 }),
  text: string({ unit: 'binary' }),
  history: option(array(message, { maxLength: 2 }), { nil: undefined }),
  metadata: option(record({ note: string() }), { nil: undefined }),
});

function logOf(changes: readonly { turn: number; text: string; history: unknown; metadata: unknown }[]): LogRecord[] {
  return changes.map(({ turn, text, history, metadata }, at) => {
    const part = { text };
    const event = { artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [part] } } };
    const extras = { ...(history !== undefined && { history }), ...(metadata !== undefined && { metadata }) };
    return new LogRecord(at + 1, turn, event, extras as never);
  });
}

/** The rows in the form of the file. */
function storedRows(records: readonly LogRecord[]): RecordRow[] {
  let last = 0;
  return rowsOf(records).map(([turn, count, event, history, metadata]) => {
    last += count;
    return { last, turn, event, history, metadata };
  });
}

describe('rows of records', () => {
  it('keep every record, and give those after any sequence number', () => {
    fc.assert(
      fc.property(array(change, { maxLength: 6 }), integer({ min: 0, max: 6 }), (changes, after) => {
        const log = logOf(changes);
        const fields = log.map(({ seq, turn, text, history, metadata }) => [
          seq,
          turn,
          text,
          history === undefined ? null : JSON.stringify(history),
          metadata === undefined ? null : JSON.stringify(metadata),
        ]);
        expect([...recordsOf(storedRows(log), after)]).toEqual(fields.filter(([seq]) => Number(seq) > after));
      }),
    );
  });

  it('are one row for the records of one turn', () => {
    const log = logOf([1, 1, 1].map((turn) => ({ turn, text: 'chunk', history: undefined, metadata: undefined })));
    expect(rowsOf(log)).toHaveLength(1);
  });

  it('end with the turn, and before they are long', () => {
    const rows = (turns: readonly number[], length: number) =>
      rowsOf(logOf(turns.map((turn) => ({ turn, text: 'x'.repeat(length), history: undefined, metadata: undefined }))));
    expect(rows([1, 1, 2, 1], 10).map(([turn, count]) => [turn, count])).toEqual([
      [1, 2],
      [2, 1],
      [1, 1],
    ]);
    expect(rows([1, 1, 1, 1, 1], 9_000).map(([, count]) => count)).toEqual([2, 2, 1]);
  });

  it('read a row of an older file, which has one record', () => {
    const row = { last: 7, turn: 2, event: '{"a":1}', history: null, metadata: '{"b":2}' };
    expect([...recordsOf([row], 0)]).toEqual([[7, 2, '{"a":1}', null, '{"b":2}']]);
    expect([...recordsOf([row], 7)]).toEqual([]);
  });
});
