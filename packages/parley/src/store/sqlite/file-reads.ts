import { StorageError } from '../../errors/storage-error.js';
import { UnreadableTaskError } from '../../errors/unreadable-task-error.js';
import { fileFault, isDamage } from './file-fault.js';
import type { ReadTables } from './read-tables.js';
import type { OpenFile } from './sqlite-file.js';
import type { ReadRequest, ReadResults } from './worker-messages.js';

/** Reads of a file: small ones on this thread, others on a separate thread. */
export class FileReads {
  readonly #file: OpenFile;

  constructor(file: OpenFile) {
    this.#file = file;
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
    const [failed, answer] = (await this.#file.reader.ask(request)) as readonly [boolean, unknown];
    if (failed) throw new StorageError(`The storage failed: ${String(answer)}`);
    return answer as ReadResults[K];
  }
}
