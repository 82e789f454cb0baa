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
   * True for a stream that stays open while the storage is away. False for a caller who waits for one answer, and hears
   * of the failure. Default: true.
   */
  readonly isPatient?: boolean;
  /**
   * Tells for a record if the stream ends after it, ends in an error, or goes on. Called with each record, with some of
   * them twice. If the log no longer reaches back, a record of `SNAPSHOT_TURN` shows the task as it stands.
   */
  readonly endsAfter: (record: LogRecord) => boolean | Error;
}

/** The parts of an engine that a reader needs. */
type ReaderContext = Pick<EngineContext, 'feeds' | 'storage' | 'clock'> & {
  readonly limits: Pick<EngineContext['limits'], 'readerBufferBytes' | 'readerStallMs'>;
};

/** The turn of a record that stands for a snapshot. It is later than any other. */
export const SNAPSHOT_TURN = Number.MAX_SAFE_INTEGER;

/** A log that cannot be read is read again after this time, and given up after the longest outage. */
const AGAIN_MS = 1_000;
const LONGEST_OUTAGE_MS = 3_600_000;

const DONE: IteratorResult<StreamItem, undefined> = { done: true, value: undefined };

/**
 * One stream of a task: the records after a sequence number, in order, without gap or repetition (Spec §3.1.6, §3.5.2).
 * It listens from its construction on; `begin` sets its start. A fast consumer is fed from memory. When the buffer is
 * full, the reader drops records and reads the log instead.
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
  /** True if the log has records that are not in the buffer. */
  #behind = false;
  /** Highest sequence number offered so far. */
  #newest = 0;
  #ended = false;
  /** The record that the stream ends after. */
  #lastRecord: LogRecord | undefined;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  /** True once the consumer has got an item. */
  #hasShown = false;
  /** The time at which reading the log began to fail, by the monotonic clock. */
  #failingSince: number | undefined;
  #cancelStall: (() => void) | undefined;

  constructor(context: ReaderContext, options: FeedReaderOptions) {
    this.key = options.key;
    this.#context = context;
    this.#options = options;
    context.feeds.attach(this);
  }

  /** Starts after sequence number `after`. `head`, a snapshot, comes before everything else. */
  begin(after: number, head?: StreamItem): this {
    this.#head = head;
    this.#lastSeq = after;
    const early = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#take(early);
    return this;
  }

  /** Reads the log first, for a start before the newest record. */
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
    // The first snapshot may show the end of the stream already.
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

  /** An item that is awaited settles the one promise of its wait. */
  next(): Promise<IteratorResult<StreamItem, undefined>> {
    const value = this.ready();
    if (value) return Promise.resolve({ done: false, value });
    if (this.#ended || this.#behind) return this.#afterQueue();
    const { promise, resolve } = Promise.withResolvers<IteratorResult<StreamItem, undefined>>();
    const wake = () => {
      const offered = this.ready();
      resolve(offered ? { done: false, value: offered } : this.#afterQueue());
    };
    this.#wake = wake;
    return promise;
  }

  /** The failure or the end of the stream, or its next item from the log. */
  async #afterQueue(): Promise<IteratorResult<StreamItem, undefined>> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure;
    if (this.#ended) return DONE;
    // A failed stream has ended, so no caller calls `return` on it.
    if (this.#behind) await this.#catchUp().catch((error: Error) => this.#waitOrEnd(error));
    return this.next();
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

  /** Releases everything at once, also while a `next` waits. */
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
        // A snapshot has shown this record already. The stream may end with it all the same.
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

  /** Waits until the log may be readable again. A stream that has shown nothing yet can still be refused. */
  async #waitOrEnd(error: Error): Promise<void> {
    const { isPatient = true } = this.#options;
    const { clock } = this.#context;
    const now = clock.monotonic();
    this.#failingSince ??= now;
    const isPassing = error instanceof StorageError || (error instanceof A2AError && error.code === 'UNAVAILABLE');
    const isWorthIt = isPatient && this.#hasShown && isPassing && now - this.#failingSince < LONGEST_OUTAGE_MS;
    if (!isWorthIt) return this.#end(error);
    if (this.#ended) return;
    const { promise: later, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const stopTimer = clock.after(AGAIN_MS, () => this.#notify());
    await later;
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
    // The task was deleted, or deleted and created again. A log never gets shorter otherwise.
    if (page.last === 0 || page.last < after) return this.#end(new TaskNotFoundError(key.id));
    if (page.floor > after + 1 && page.last > after) return this.#reset();
    this.#behind = false;
    this.#take(page.records);
    const last = this.#lastSeq ?? 0;
    if (this.#ended || last >= Math.max(page.last, this.#newest)) return;
    // A read that brings nothing is not repeated: that would block the process.
    if (last === after && (page.last > after || page.last < offered))
      return this.#end(new StorageError(`The log of task ${key.id} has a gap after record ${after}`));
    // Records committed after the read were dropped while this reader was behind. It reads the log again.
    this.#behind = true;
  }

  /** Sends a snapshot in place of records that the log no longer has. */
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
    wake?.();
  }
}

function statusOf(taskId: string, state: TaskState): TaskEvent {
  return { statusUpdate: { taskId, contextId: '', status: { state } } };
}
