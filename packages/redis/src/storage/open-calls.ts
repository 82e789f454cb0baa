import { StorageLifetime } from 'parley-a2a/storage-engine';

/** The calls in progress of an open storage. Its close waits for them. */
export class OpenCalls {
  readonly #lifetime = new StorageLifetime();
  #running = 0;
  #whenIdle: (() => void) | undefined;

  /** @throws StorageError if the storage is closed. */
  async run<R>(call: () => Promise<R>): Promise<R> {
    this.#lifetime.check();
    this.#running += 1;
    try {
      return await call();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#whenIdle?.();
    }
  }

  /** Refuses all later calls. Resolves when no call is in progress. */
  async end(): Promise<void> {
    this.#lifetime.end();
    if (this.#running === 0) return;
    const idle = Promise.withResolvers<void>();
    this.#whenIdle = idle.resolve;
    await idle.promise;
  }
}
