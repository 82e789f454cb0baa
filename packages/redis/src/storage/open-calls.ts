import { StorageLifetime } from 'parley-a2a/storage-engine';

/** The calls of a storage while it is open. Its close waits for those that run. */
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

  /** Refuses all calls from now on. Resolves when none runs. */
  async end(): Promise<void> {
    this.#lifetime.end();
    if (this.#running === 0) return;
    const idle = Promise.withResolvers<void>();
    this.#whenIdle = idle.resolve;
    await idle.promise;
  }
}
