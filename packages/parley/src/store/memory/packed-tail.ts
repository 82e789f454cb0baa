import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { TaskEvent } from '../../model/stream-response.js';
import { LogRecord } from '../../task/log-record.js';

/** What is kept of one record. */
type Entry = readonly [turn: number, event: TaskEvent, history: readonly Message[] | null, metadata: JsonObject | null];

/** So many records are still one text. */
const SHORT = 16;

/** Consecutive records as text: it costs far less than the many objects it stands for. */
export class PackedTail {
  readonly #firstSeq: number;
  /** Short logs that nobody has seen are a single text; others have one for each record, which streams have made already. */
  readonly #texts: string | readonly string[];
  readonly count: number;

  private constructor(firstSeq: number, count: number, texts: string | readonly string[]) {
    this.#firstSeq = firstSeq;
    this.#texts = texts;
    this.count = count;
  }

  static of(records: readonly LogRecord[]): PackedTail {
    const first = records[0]?.seq ?? 0;
    const single = records.length <= SHORT && !records.some((record) => record.isWritten);
    return new PackedTail(first, records.length, single ? JSON.stringify(records.map(entryOf)) : records.map(textOf));
  }

  /** About how much memory it takes. */
  get bytes(): number {
    if (typeof this.#texts === 'string') return this.#texts.length;
    let bytes = 0;
    for (const text of this.#texts) bytes += text.length;
    return bytes;
  }

  /** The records without so many of the first ones. */
  *records(from: number): Generator<LogRecord, void> {
    const entries = typeof this.#texts === 'string' ? (JSON.parse(this.#texts) as readonly Entry[]) : undefined;
    for (let at = from; at < this.count; at += 1) {
      const entry = entries?.[at] ?? (JSON.parse(String(this.#texts[at])) as Entry);
      yield recordOf(this.#firstSeq + at, entry);
    }
  }

  /** What is left without so many of the first ones. */
  without(count: number): PackedTail | undefined {
    return count >= this.count ? undefined : PackedTail.of([...this.records(count)]);
  }
}

function entryOf({ turn, event, history, metadata }: LogRecord): Entry {
  return [turn, event, history ?? null, metadata ?? null];
}

function textOf({ turn, text, history, metadata }: LogRecord): string {
  return `[${turn},${text},${JSON.stringify(history ?? null)},${JSON.stringify(metadata ?? null)}]`;
}

function recordOf(seq: number, [turn, event, history, metadata]: Entry): LogRecord {
  return LogRecord.of(seq, turn, event, { ...(history && { history }), ...(metadata && { metadata }) });
}
