import type { Task } from '../../model/task.js';
import type { LogRecord } from '../../task/log-record.js';
import { type PackedRecord, RecordPacker, unpackRecords } from './packed-record.js';

/** Records in one text. Few enough to parse all for one of them, many enough to keep the number of objects low. */
const BLOCK = 64;

/**
 * Consecutive records of a finished task as text with references to the task. A few long strings cost the garbage
 * collector far less than many objects.
 */
export class PackedLog {
  /** Number of records, without dropped ones. */
  readonly count: number;
  /** Approximate bytes in memory. */
  readonly bytes: number;
  /** Sequence number of the first record in the first block. */
  readonly #firstSeq: number;
  /** Number of dropped records of the first block. */
  readonly #skip: number;
  /** The JSON of `BLOCK` records each; the last block may have fewer. A single block is stored without a list. */
  readonly #texts: string | readonly string[];

  private constructor(count: number, firstSeq: number, skip: number, texts: string | readonly string[]) {
    this.count = count;
    this.#firstSeq = firstSeq;
    this.#skip = skip;
    this.#texts = texts;
    this.bytes = typeof texts === 'string' ? texts.length : texts.reduce((bytes, text) => bytes + text.length, 0);
  }

  static of(records: readonly LogRecord[], task: Task): PackedLog {
    const packer = new RecordPacker(task);
    const texts: string[] = [];
    for (let from = 0; from < records.length; from += BLOCK) {
      texts.push(JSON.stringify(packer.pack(records.slice(from, from + BLOCK))));
    }
    const single = texts.length === 1 ? texts[0] : undefined;
    return new PackedLog(records.length, records[0]?.seq ?? 0, 0, single ?? texts);
  }

  /** The records after the first `from` ones. `task` must be the task of the packing. */
  *records(from: number, task: Task): Generator<LogRecord, void> {
    const texts = this.#blocks();
    const start = this.#firstSeq + this.#skip + from;
    for (let block = Math.floor((this.#skip + from) / BLOCK); block < texts.length; block += 1) {
      const entries = JSON.parse(texts[block] ?? '[]') as readonly PackedRecord[];
      for (const record of unpackRecords(this.#firstSeq + block * BLOCK, entries, task)) {
        if (record.seq >= start) yield record;
      }
    }
  }

  /** Returns the log without its first `count` records. Undefined if none is left. */
  without(count: number): PackedLog | undefined {
    if (count >= this.count) return undefined;
    const skip = this.#skip + count;
    const gone = Math.floor(skip / BLOCK);
    const texts = gone === 0 ? this.#texts : this.#blocks().slice(gone);
    return new PackedLog(this.count - count, this.#firstSeq + gone * BLOCK, skip - gone * BLOCK, texts);
  }

  #blocks(): readonly string[] {
    return typeof this.#texts === 'string' ? [this.#texts] : this.#texts;
  }
}
