import type { Task } from '../../model/task.js';
import type { LogRecord } from '../../task/log-record.js';
import { type MemberTexts, ShapedTask } from '../../task/shaped-task.js';
import { JoinedTexts } from './joined-texts.js';
import { type PackedRecord, RecordPacker, unpackRecords } from './packed-record.js';
import { type ContentOwner, ENTRY, FRAME, type TaskContent, type WantedMembers } from './task-content.js';

/** Records in one text. Few enough to parse all for one of them, many enough to keep the number of texts low. */
const BLOCK = 64;

/** Above this length, parsing a task again costs more than keeping a weak reference to it. */
const LARGE = 16_384;

const WHOLE = { artifacts: true, history: true };

/** Texts of a task: status, artifacts, history and metadata; from here on its log. */
const LOG = 4;

/**
 * Finished tasks with their logs as text. A few long strings for several tasks cost the garbage collector far less than
 * many objects for each. Each task has a place, from 0.
 */
export class PackedTasks<Owner extends ContentOwner & { readonly content: TaskContent }> implements TaskContent {
  /** The owner of each task; `undefined` for a removed one. */
  readonly owners: (Owner | undefined)[];
  /** The first record in the texts of each task, and the first one that is not dropped. */
  readonly #firsts: number[] = [];
  readonly #floors: number[] = [];
  #texts: JoinedTexts;
  /** The index behind the last text of each task. */
  readonly #ends: number[] = [];
  /** Number of removed tasks whose texts are still in memory. */
  #removed = 0;

  constructor(owners: readonly Owner[]) {
    const texts: (string | undefined)[] = [];
    for (const owner of owners) {
      const { content } = owner;
      const task = content.read(owner);
      const { status, artifacts, history, metadata } = ShapedTask.textsOf(task);
      texts.push(status, artifacts, history, metadata);
      const records = [...content.records(owner, 0)];
      const packer = new RecordPacker(task);
      for (let from = 0; from < records.length; from += BLOCK) {
        texts.push(JSON.stringify(packer.pack(records.slice(from, from + BLOCK))));
      }
      this.#ends.push(texts.length);
      const first = owner.seq - records.length + 1;
      this.#firsts.push(first);
      this.#floors.push(first);
    }
    this.owners = [...owners];
    this.#texts = new JoinedTexts(texts);
  }

  recordCount({ seq, place }: ContentOwner): number {
    return seq - (this.#floors[place] ?? 0) + 1;
  }

  bytes(of: ContentOwner): number {
    return ENTRY + this.bytesOf(of, WHOLE) + this.logBytes(of);
  }

  *records(of: ContentOwner, skipped: number): Generator<LogRecord, void> {
    const from = (this.#floors[of.place] ?? 0) + skipped;
    let first = this.#firsts[of.place] ?? 0;
    const task = this.read(of);
    for (const text of this.#log(of)) {
      if (first + BLOCK > from) {
        for (const record of unpackRecords(first, JSON.parse(text) as readonly PackedRecord[], task)) {
          if (record.seq >= from) yield record;
        }
      }
      first += BLOCK;
    }
  }

  read(of: ContentOwner): Task {
    const known = of.lately?.deref();
    if (known !== undefined) return known;
    const task = this.readPart(of, WHOLE);
    if (this.bytesOf(of, WHOLE) > LARGE) of.lately = new WeakRef(task);
    return task;
  }

  readPart(of: ContentOwner, wanted: WantedMembers): Task {
    return ShapedTask.unread({ id: of.id, contextId: of.contextId, ...this.#members(of, wanted) });
  }

  bytesOf(of: ContentOwner, wanted: WantedMembers): number {
    const { status, artifacts = '', history = '', metadata = '' } = this.#members(of, wanted);
    return FRAME + status.length + artifacts.length + history.length + metadata.length;
  }

  /** Approximate bytes of the log of a task. */
  logBytes(of: ContentOwner): number {
    let bytes = 0;
    for (const text of this.#log(of)) bytes += text.length;
    return bytes;
  }

  /** Drops the oldest records of a task, at most `limit`. Returns their number. */
  dropRecords(of: ContentOwner, limit: number): number {
    const count = Math.min(limit, this.recordCount(of));
    this.#floors[of.place] = (this.#floors[of.place] ?? 0) + count;
    if (!this.#left.some((owner) => this.recordCount(owner) > 0)) this.#copy();
    return count;
  }

  /** Removes a task. Returns true if none is left. */
  remove({ place }: ContentOwner): boolean {
    this.owners[place] = undefined;
    this.#removed += 1;
    if (this.#removed >= this.#left.length) this.#copy();
    return this.#left.length === 0;
  }

  /** Removes the texts of removed tasks from memory. Happens by itself when half of the tasks are removed. */
  scrub(): void {
    if (this.#removed > 0) this.#copy();
  }

  /** Copies the texts that are still needed. */
  #copy(): void {
    const texts: (string | undefined)[] = [];
    for (const [place, owner] of this.owners.entries()) {
      const log = texts.length + LOG;
      while (texts.length < (this.#ends[place] ?? 0)) {
        const isNeeded = owner !== undefined && (texts.length < log || this.recordCount(owner) > 0);
        texts.push(isNeeded ? this.#texts.at(texts.length) : undefined);
      }
    }
    this.#texts = new JoinedTexts(texts);
    this.#removed = 0;
  }

  /** The texts of a log; none if all records are dropped. */
  #log(of: ContentOwner): readonly string[] {
    const texts: string[] = [];
    const end = this.recordCount(of) === 0 ? 0 : (this.#ends[of.place] ?? 0);
    for (let index = (this.#ends[of.place - 1] ?? 0) + LOG; index < end; index += 1) {
      texts.push(this.#texts.at(index) ?? '');
    }
    return texts;
  }

  get #left(): readonly Owner[] {
    return this.owners.filter((owner) => owner !== undefined);
  }

  #members({ place }: ContentOwner, { artifacts, history }: WantedMembers): MemberTexts {
    return {
      status: this.#text(place, 0) ?? '',
      artifacts: artifacts ? this.#text(place, 1) : undefined,
      history: history ? this.#text(place, 2) : undefined,
      metadata: this.#text(place, 3),
    };
  }

  #text(place: number, index: number): string | undefined {
    return this.#texts.at((this.#ends[place - 1] ?? 0) + index);
  }
}
