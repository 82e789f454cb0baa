import { type Clock, StorageError } from 'parley-a2a/storage-engine';
import { PostgresError } from './postgres-error.js';

/** A call that can share a statement with others. */
interface Entry<Call, Result> {
  readonly call: Call;
  readonly bytes: number;
  readonly resolve: (result: Result | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Options of a group of calls. */
interface GroupCommitOptions<Call, Result> {
  readonly clock: Clock;
  /** Runs calls in one statement. The result has an entry for each call that succeeded. */
  readonly run: (calls: readonly Call[]) => Promise<ReadonlyMap<number, Result>>;
  /** The order of the calls in a statement. */
  readonly order: (one: Call, other: Call) => number;
  /** Returns the approximate bytes of a call in the statement. */
  readonly bytesOf: (call: Call) => number;
  readonly onCommit: (calls: number) => void;
}

/** Maximum number of statements in progress. Meanwhile, the next batch is collected. */
const AT_ONCE = 2;
const BATCH_CALLS = 256;
const BATCH_BYTES = 1_048_576;

/**
 * Collects calls while earlier statements run, so that all waiting calls share a statement and a commit. If a statement
 * fails, its calls run one by one, so that an invalid call does not affect others.
 */
export class GroupCommit<Call, Result> {
  readonly #options: GroupCommitOptions<Call, Result>;
  #waiting: Entry<Call, Result>[] = [];
  #running = 0;
  #isScheduled = false;

  constructor(options: GroupCommitOptions<Call, Result>) {
    this.#options = options;
  }

  /** Resolves to the result once it is durable, or to `undefined` if the statement refused the call. */
  do(call: Call): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, bytes: this.#options.bytesOf(call), resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#running >= AT_ONCE || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    this.#options.clock.soon(() => {
      this.#isScheduled = false;
      void this.#send(this.#take());
    });
  }

  #take(): readonly Entry<Call, Result>[] {
    let bytes = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      bytes += entry.bytes;
      if (count > 0 && (bytes > BATCH_BYTES || count >= BATCH_CALLS)) break;
      count += 1;
    }
    const batch = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return batch.sort((one, other) => this.#options.order(one.call, other.call));
  }

  async #send(batch: readonly Entry<Call, Result>[]): Promise<void> {
    this.#running += 1;
    this.#schedule();
    try {
      await this.#run(batch);
    } finally {
      this.#running -= 1;
      this.#schedule();
    }
  }

  async #run(batch: readonly Entry<Call, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map(({ call }) => call));
      this.#options.onCommit(batch.length);
      for (const [n, { resolve }] of batch.entries()) resolve(results.get(n));
    } catch (error) {
      if (batch.length > 1 && isRefused(error)) {
        for (const entry of batch) await this.#run([entry]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}

/** True if the server refused the statement and wrote nothing. During an outage, single calls would fail too. */
function isRefused(error: unknown): boolean {
  return !(error instanceof StorageError) || (error instanceof PostgresError && !error.isOutage);
}
