import { StorageError } from '../../errors/storage-error.js';
import { UnreadableTaskError } from '../../errors/unreadable-task-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { TaskQuery } from '../task-storage.js';
import { fileFault, isDamage } from './file-fault.js';
import type { ReadTables } from './read-tables.js';
import type { OpenFile } from './sqlite-file.js';
import type { RowPage } from './task-texts.js';
import type { ReadRequest, ReadResults } from './worker-messages.js';
import type { Settled } from './write-requests.js';

/** A call that waits for a page of a list. */
interface PageCall {
  readonly query: TaskQuery;
  readonly resolve: (settled: Settled) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of pages in one message: the first one waits for the last one. */
const PAGES_AT_ONCE = 8;
/** Maximum number of messages in progress. Meanwhile, calls for pages are collected. */
const MESSAGES_AT_ONCE = 2;

/** Reads of a file: small ones on this thread, others on a separate thread. */
export class FileReads {
  readonly #file: OpenFile;
  readonly #clock: Clock;
  /** Calls for pages that no message contains yet. */
  readonly #calls: PageCall[] = [];
  #messages = 0;
  #isScheduled = false;

  constructor(file: OpenFile, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
  }

  /**
   * Reads on this thread.
   * @throws StorageError
   */
  here<R>(read: (tables: ReadTables) => R): R {
    try {
      return read(this.#file.tables);
    } catch (error) {
      if (error instanceof UnreadableTaskError) throw error;
      throw new StorageError(`The storage failed: ${fileFault(this.#file.path, error).text}`, { cause: error });
    }
  }

  /**
   * Reads data of one task on this thread.
   * @throws UnreadableTaskError, StorageError
   */
  ofTask<R>(taskId: string, read: (tables: ReadTables) => R): R {
    return this.here((tables) => {
      try {
        return read(tables);
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#file.setAside.add(taskId, fileFault(this.#file.path, error).text);
        throw new UnreadableTaskError(taskId, error);
      }
    });
  }

  /**
   * Reads on the separate thread.
   * @throws StorageError
   */
  async apart<K extends keyof ReadResults>(
    _kind: K,
    request: ReadRequest & { readonly read: K },
  ): Promise<ReadResults[K]> {
    return resultOf((await this.#file.reader.ask(request)) as Settled);
  }

  /**
   * Reads a page of a list on the separate thread. Calls that wait share a message.
   * @throws StorageError
   */
  async page(query: TaskQuery): Promise<RowPage> {
    const settled = await new Promise<Settled>((resolve, reject) => {
      this.#calls.push({ query, resolve, reject });
      this.#askSoon();
    });
    return resultOf(settled);
  }

  /** Sends all calls that wait, before the file is closed. */
  flush(): void {
    while (this.#calls.length > 0) void this.#ask();
  }

  #askSoon(): void {
    if (this.#isScheduled || this.#messages >= MESSAGES_AT_ONCE || this.#calls.length === 0) return;
    this.#isScheduled = true;
    this.#clock.soon(() => {
      this.#isScheduled = false;
      void this.#ask();
    });
  }

  async #ask(): Promise<void> {
    const calls = this.#calls.splice(0, PAGES_AT_ONCE);
    // A flush may have sent them.
    if (calls.length === 0) return;
    this.#messages += 1;
    this.#askSoon();
    try {
      const answers = (await this.#file.reader.ask({ pages: calls.map(({ query }) => query) })) as readonly Settled[];
      for (const [at, { resolve }] of calls.entries()) resolve(answers[at] as Settled);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    } finally {
      this.#messages -= 1;
      this.#askSoon();
    }
  }
}

/** @throws StorageError for a failed read. */
function resultOf<R>([failed, result]: Settled): R {
  if (failed) throw new StorageError(`The storage failed: ${result}`);
  return result as R;
}
