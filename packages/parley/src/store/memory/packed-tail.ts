import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import { LogRecord } from '../../task/log-record.js';

type Field = string | number | undefined;

/** turn, event, history, metadata */
const FIELDS = 4;

/** Consecutive records as text, in one list. */
export class PackedTail {
  readonly #firstSeq: number;
  readonly #fields: readonly Field[];

  private constructor(firstSeq: number, fields: readonly Field[]) {
    this.#firstSeq = firstSeq;
    this.#fields = fields;
  }

  static of(records: readonly LogRecord[]): PackedTail {
    const fields: Field[] = [];
    for (const { turn, text, history, metadata } of records) {
      fields.push(turn, text, history && JSON.stringify(history), metadata && JSON.stringify(metadata));
    }
    return new PackedTail(records[0]?.seq ?? 0, fields);
  }

  get count(): number {
    return this.#fields.length / FIELDS;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    let bytes = 0;
    for (const field of this.#fields) bytes += typeof field === 'string' ? field.length : 8;
    return bytes;
  }

  /** The records without so many of the first ones. */
  *records(from: number): Generator<LogRecord, void> {
    for (let at = from; at < this.count; at += 1) {
      const [turn, text, history, metadata] = this.#fields.slice(at * FIELDS, at * FIELDS + FIELDS);
      yield LogRecord.fromText(this.#firstSeq + at, Number(turn), String(text), {
        ...(typeof history === 'string' && { history: JSON.parse(history) as readonly Message[] }),
        ...(typeof metadata === 'string' && { metadata: JSON.parse(metadata) as JsonObject }),
      });
    }
  }

  /** What is left without so many of the first ones. */
  without(count: number): PackedTail | undefined {
    if (count >= this.count) return undefined;
    return new PackedTail(this.#firstSeq + count, this.#fields.slice(count * FIELDS));
  }
}
