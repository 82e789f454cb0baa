import { StorageError } from '../../errors/storage-error.js';

/** The calls of a storage while it is open. Its close waits for those that run. */
export class OpenCalls {
  #running = 0;
  #isOver = false;
  #whenIdle: (() => void) | undefined;

  /** @throws StorageError if the storage is closed. */
  async run<R>(call: () => Promise<R>): Promise<R> {
    if (this.#isOver) throw new StorageError('The storage is closed');
    this.#running += 1;
    try {
      return await call();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#whenIdle?.();
    }
  }

  /** Refuses all calls from now on. Resolves when none runs. */
  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#running === 0) return;
    const idle = Promise.withResolvers<void>();
    this.#whenIdle = idle.resolve;
    await idle.promise;
  }
}
