import { A2AError } from '../../errors/a2a-error.js';
import { TaskNotFoundError } from '../../errors/spec-errors.js';
import { StorageError } from '../../errors/storage-error.js';
import type { TaskEvent } from '../../model/stream-response.js';
import type { TaskState } from '../../model/task-state.js';
import type { TaskKey } from '../../store/task-key.js';
import type { TaskProgress } from '../../store/task-storage.js';
import { LogRecord } from '../../task/log-record.js';
import type { ItemSource, StreamItem } from '../../task/stream-item.js';
import type { EngineContext } from './engine-context.js';
import type { FeedListener } from './task-feeds.js';
import { storageStalledError } from './unavailable-errors.js';

/** Options of a reader. */
interface FeedReaderOptions {
  readonly key: TaskKey;
  /**
   * True for a stream that stays open during a storage outage. False for a caller that waits for one answer and gets
   * the error. Default: true.
   */
  readonly isPatient?: boolean;
  /**
   * Returns true if the stream ends after a record, or the error that it ends with. Called with each record, with some
   * of them twice. If the log no longer has the start, a record of `SNAPSHOT_TURN` contains the current task.
   */
  readonly endsAfter: (record: LogRecord) => boolean | Error;
}

/** The parts of an engine that a reader needs. */
type ReaderContext = Pick<EngineContext, 'feeds' | 'storage' | 'clock'> & {
  readonly limits: Pick<EngineContext['limits'], 'readerBufferBytes' | 'readerStallMs'>;
};

/** The turn number of a record that represents a snapshot. Higher than any turn. */
export const SNAPSHOT_TURN = Number.MAX_SAFE_INTEGER;

/** Delay in ms before a failed read of the log is repeated. The reader ends after the longest allowed outage. */
const AGAIN_MS = 1_000;
const LONGEST_OUTAGE_MS = 3_600_000;

const DONE: IteratorResult<StreamItem, undefined> = { done: true, value: undefined };

/**
 * One stream of a task: the records after a sequence number, in order, without gap or repetition (Spec §3.1.6, §3.5.2).
 * It buffers records from its construction on; `begin` sets its start. A fast consumer reads from memory. When the
 * buffer is full, the reader drops records and reads the log instead.
 */
export class FeedReader implements FeedListener, ItemSource, AsyncIterable<StreamItem> {
  readonly key: TaskKey;
  readonly #context: ReaderContext;
  readonly #options: FeedReaderOptions;
  #queue: LogRecord[] = [];
  #queuedBytes = 0;
  #head: StreamItem | undefined;
  /** Last sequence number delivered or queued; `undefined` until `begin`. */
  #lastSeq: number | undefined;
  /** True if the log has records that are missing in the buffer. */
  #behind = false;
  /** Highest sequence number offered so far. */
  #newest = 0;
  #ended = false;
  /** The record that the stream ends after. */
  #lastRecord: LogRecord | undefined;
  #failure: Error | undefined;
  /** Present while a `next` waits. */
  #wake: PromiseWithResolvers<void> | undefined;
  /** True once the consumer has got an item. */
  #hasShown = false;
  /** Monotonic time of the first failed read of the log in a row. */
  #failingSince: number | undefined;
  #cancelStall: (() => void) | undefined;

  constructor(context: ReaderContext, options: FeedReaderOptions) {
    this.key = options.key;
    this.#context = context;
    this.#options = options;
    context.feeds.attach(this);
  }

  /** Starts after sequence number `after`. `head`, a snapshot, is returned first. */
  begin(after: number, head?: StreamItem): this {
    this.#head = head;
    this.#lastSeq = after;
    const early = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#take(early);
    return this;
  }

  /** Reads the log first. For a start before the newest record. */
  replay(): this {
    this.#behind = true;
    return this;
  }

  /** Ends the stream after the queued records. */
  finish(): this {
    this.#end(true);
    return this;
  }

  offer(records: readonly LogRecord[]): void {
    if (this.#ended) return;
    this.#newest = records.at(-1)?.seq ?? this.#newest;
    if (this.#lastSeq === undefined) this.#queue.push(...records);
    else this.#take(records);
    this.#notify();
  }

  get started(): boolean {
    return this.#lastSeq !== undefined;
  }

  look(progress: TaskProgress | undefined): void {
    if (this.#ended || this.#lastSeq === undefined) return;
    if (progress === undefined) return this.#end(new TaskNotFoundError(this.key.id));
    const { seq, state, lastTurn } = progress;
    // The first snapshot may already contain the end of the stream.
    if (seq === this.#lastSeq) return this.#endIfAfter(new LogRecord(seq, lastTurn, statusOf(this.key.id, state)));
    if (seq <= Math.max(this.#lastSeq, this.#newest)) return;
    this.#newest = seq;
    this.#fallBehind();
    this.#notify();
  }

  overdue(): void {
    if (this.#options.isPatient === false) this.#end(storageStalledError());
  }

  shutDown(): void {
    this.#end(true);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<StreamItem, undefined>> {
    for (;;) {
      const value = this.ready();
      if (value) return { done: false, value };
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure) throw failure;
      if (this.#ended) return DONE;
      if (this.#behind) {
        // A failed stream has ended, so no caller calls `return` on it.
        await this.#catchUp().catch((error: Error) => this.#waitOrEnd(error));
      } else {
        this.#wake = Promise.withResolvers();
        await this.#wake.promise;
      }
    }
  }

  ready(): StreamItem | undefined {
    this.#cancelStall?.();
    this.#cancelStall = undefined;
    const head = this.#head;
    if (head) {
      this.#head = undefined;
      this.#hasShown = true;
      return head;
    }
    const record = this.#queue.shift();
    if (!record) return undefined;
    this.#queuedBytes -= record.bytes;
    this.#hasShown = true;
    if (record !== this.#lastRecord) return record;
    // All readers of a task share its records, but their streams end at different ones.
    const { event, seq, text } = record;
    return { event, seq, text, last: true };
  }

  /** Releases everything at once, even while a `next` waits. */
  async return(): Promise<IteratorResult<StreamItem, undefined>> {
    this.#head = undefined;
    this.#queue = [];
    this.#failure = undefined;
    this.#end(true);
    this.#cancelStall?.();
    this.#cancelStall = undefined;
    return DONE;
  }

  #take(records: readonly LogRecord[]): void {
    for (const record of records) {
      if (this.#ended || this.#behind) return;
      const last = this.#lastSeq ?? 0;
      if (record.seq <= last) {
        // A snapshot has already included this record, but the stream may end with it.
        this.#endIfAfter(record);
        continue;
      }
      const bytes = record.bytes;
      const full = this.#queue.length > 0 && this.#queuedBytes + bytes > this.#context.limits.readerBufferBytes;
      if (full || record.seq > last + 1) {
        this.#fallBehind();
        return;
      }
      this.#queue.push(record);
      this.#queuedBytes += bytes;
      this.#lastSeq = record.seq;
      this.#endIfAfter(record);
    }
  }

  #fallBehind(): void {
    this.#behind = true;
    if (this.#wake) return;
    this.#cancelStall?.();
    const { clock, limits } = this.#context;
    this.#cancelStall = clock.after(limits.readerStallMs, () => void this.return());
  }

  /** Waits for a repeat of a failed read. A stream without items yet fails at once, so that its call can be refused. */
  async #waitOrEnd(error: Error): Promise<void> {
    const { isPatient = true } = this.#options;
    const { clock } = this.#context;
    const now = clock.monotonic();
    this.#failingSince ??= now;
    const isPassing = error instanceof StorageError || (error instanceof A2AError && error.code === 'UNAVAILABLE');
    const isWorthIt = isPatient && this.#hasShown && isPassing && now - this.#failingSince < LONGEST_OUTAGE_MS;
    if (!isWorthIt) return this.#end(error);
    if (this.#ended) return;
    const stopTimer = clock.after(AGAIN_MS, () => this.#notify());
    this.#wake = Promise.withResolvers();
    await this.#wake.promise;
    stopTimer();
  }

  async #catchUp(): Promise<void> {
    const { storage, limits } = this.#context;
    const { key } = this;
    const after = this.#lastSeq ?? 0;
    const offered = this.#newest;
    const page = await storage.records(key, after, limits.readerBufferBytes);
    this.#failingSince = undefined;
    if (this.#ended) return;
    // The task was deleted, or deleted and created again. Otherwise a log never gets shorter.
    if (page.last === 0 || page.last < after) return this.#end(new TaskNotFoundError(key.id));
    if (page.floor > after + 1 && page.last > after) return this.#reset();
    this.#behind = false;
    this.#take(page.records);
    const last = this.#lastSeq ?? 0;
    if (this.#ended || last >= Math.max(page.last, this.#newest)) return;
    // A read without new records is not repeated: a loop would block the process.
    if (last === after && (page.last > after || page.last < offered))
      return this.#end(new StorageError(`The log of task ${key.id} has a gap after record ${after}`));
    // Records committed after the read were dropped while this reader was behind, so it reads the log again.
    this.#behind = true;
  }

  /** Sends a snapshot instead of records that the log no longer has. */
  async #reset(): Promise<void> {
    const { key } = this;
    const stored = await this.#context.storage.task(key.scope, key.id);
    if (this.#ended) return;
    if (!stored || stored.seq <= (this.#lastSeq ?? 0)) return this.#end(new TaskNotFoundError(key.id));
    this.#head = { event: { task: stored.task }, seq: stored.seq, reset: true };
    this.#lastSeq = stored.seq;
    this.#endIfAfter(new LogRecord(stored.seq, SNAPSHOT_TURN, { task: stored.task }));
  }

  #endIfAfter(record: LogRecord): void {
    const end = this.#options.endsAfter(record);
    if (end === true) this.#lastRecord = record;
    if (end !== false) this.#end(end);
  }

  #end(how: boolean | Error): void {
    if (this.#ended) return;
    this.#ended = true;
    if (how instanceof Error) this.#failure = how;
    this.#context.feeds.detach(this);
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.resolve();
  }
}

function statusOf(taskId: string, state: TaskState): TaskEvent {
  return { statusUpdate: { taskId, contextId: '', status: { state } } };
}
