import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { TaskEvent } from '../../model/stream-response.js';
import { LogRecord } from '../../task/log-record.js';

/** The stored members of one record. */
type Entry = readonly [turn: number, event: TaskEvent, history: readonly Message[] | null, metadata: JsonObject | null];

/** Records in one text: few enough to be parsed for one of them, many enough to leave the collector little to visit. */
const BLOCK = 64;

interface Blocks {
  /** Sequence number of the first record in the first block. */
  readonly firstSeq: number;
  /** Records of the first block that are gone. */
  readonly skip: number;
  /** The JSON of `BLOCK` entries each, the last one of fewer. */
  readonly texts: readonly string[];
  /** Records without those that are gone. */
  readonly count: number;
}

/** Consecutive records as text: a few long strings cost far less than the many objects they stand for. */
export class PackedTail {
  readonly #blocks: Blocks;

  private constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  static of(records: readonly LogRecord[]): PackedTail {
    const texts: string[] = [];
    for (let at = 0; at < records.length; at += BLOCK) texts.push(blockOf(records.slice(at, at + BLOCK)));
    return new PackedTail({ firstSeq: records[0]?.seq ?? 0, skip: 0, texts, count: records.length });
  }

  get count(): number {
    return this.#blocks.count;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    let bytes = 0;
    for (const text of this.#blocks.texts) bytes += text.length;
    return bytes;
  }

  /** The records without so many of the first ones. */
  *records(from: number): Generator<LogRecord, void> {
    const { firstSeq, skip, texts } = this.#blocks;
    for (let at = skip + from, block = Math.floor(at / BLOCK); block < texts.length; block += 1) {
      const entries = JSON.parse(texts[block] ?? '[]') as readonly Entry[];
      for (const entry of entries.slice(at - block * BLOCK)) {
        yield recordOf(firstSeq + at, entry);
        at += 1;
      }
    }
  }

  /** The rest without a number of the first records. */
  without(count: number): PackedTail | undefined {
    const { firstSeq, skip, texts, count: all } = this.#blocks;
    if (count >= all) return undefined;
    const gone = Math.floor((skip + count) / BLOCK);
    return new PackedTail({
      firstSeq: firstSeq + gone * BLOCK,
      skip: skip + count - gone * BLOCK,
      texts: texts.slice(gone),
      count: all - count,
    });
  }
}

/** Streams have made the texts of their records already; others are written at once. */
function blockOf(records: readonly LogRecord[]): string {
  const isWritten = records.some((record) => record.isWritten);
  return isWritten ? `[${records.map(textOf).join(',')}]` : JSON.stringify(records.map(entryOf));
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
