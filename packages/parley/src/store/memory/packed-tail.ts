import type { Task } from '../../model/task.js';
import type { LogRecord } from '../../task/log-record.js';
import { type PackedRecord, RecordPacker, unpacked } from './packed-record.js';

/** Records in one text: few enough to be parsed for one of them, many enough to leave the collector little to visit. */
const BLOCK = 64;

interface Blocks {
  /** Sequence number of the first record in the first block. */
  readonly firstSeq: number;
  /** Records of the first block that are gone. */
  readonly skip: number;
  /** The JSON of `BLOCK` records each, the last one of fewer. */
  readonly texts: readonly string[];
  /** Records without those that are gone. */
  readonly count: number;
}

/**
 * Consecutive records of a finished task as text, which refers to the task. A few long strings cost far less than the
 * many objects they stand for.
 */
export class PackedTail {
  readonly #blocks: Blocks;

  private constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  static of(records: readonly LogRecord[], task: Task): PackedTail {
    const packer = new RecordPacker(task);
    const texts: string[] = [];
    for (let at = 0; at < records.length; at += BLOCK) {
      texts.push(JSON.stringify(packer.pack(records.slice(at, at + BLOCK))));
    }
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

  /** The records without so many of the first ones. `task` is the one that they were packed with. */
  *records(from: number, task: Task): Generator<LogRecord, void> {
    const { firstSeq, skip, texts } = this.#blocks;
    const start = firstSeq + skip + from;
    for (let block = Math.floor((skip + from) / BLOCK); block < texts.length; block += 1) {
      const entries = JSON.parse(texts[block] ?? '[]') as readonly PackedRecord[];
      for (const record of unpacked(firstSeq + block * BLOCK, entries, task)) {
        if (record.seq >= start) yield record;
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
