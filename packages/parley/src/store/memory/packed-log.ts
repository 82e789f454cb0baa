import type { Task } from '../../model/task.js';
import type { LogRecord } from '../../task/log-record.js';
import { type PackedRecord, RecordPacker, unpacked } from './packed-record.js';

/** Records in one text: few enough to be parsed for one of them, many enough to leave the collector little to visit. */
const BLOCK = 64;

/**
 * Consecutive records of a finished task as text, which refers to the task. A few long strings cost far less than the
 * many objects they stand for.
 */
export class PackedLog {
  /** Count of the records, without those that are gone. */
  readonly count: number;
  /** About how much memory it takes. */
  readonly bytes: number;
  /** Sequence number of the first record in the first block. */
  readonly #firstSeq: number;
  /** Count of the records of the first block that are gone. */
  readonly #skip: number;
  /** The JSON of `BLOCK` records each, the last one of fewer. A single block, as most logs have, is no list. */
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

  /** The records without so many of the first ones. `task` is the one that they were packed with. */
  *records(from: number, task: Task): Generator<LogRecord, void> {
    const texts = this.#blocks();
    const start = this.#firstSeq + this.#skip + from;
    for (let block = Math.floor((this.#skip + from) / BLOCK); block < texts.length; block += 1) {
      const entries = JSON.parse(texts[block] ?? '[]') as readonly PackedRecord[];
      for (const record of unpacked(this.#firstSeq + block * BLOCK, entries, task)) {
        if (record.seq >= start) yield record;
      }
    }
  }

  /** The rest without a number of the first records. */
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
