import { ConnectionError } from '../../errors/connection-error.js';
import type { FileRuntime } from './file-agent.js';

/** Aborts a transfer with the caller's signal, or after too long without progress. */
export class TransferWatch {
  readonly #options: WatchOptions;
  readonly #controller = new AbortController();
  #disarm = (): void => {};

  constructor(options: WatchOptions) {
    this.#options = options;
    const { signal } = options;
    if (signal?.aborted === true) this.#follow();
    else signal?.addEventListener('abort', this.#follow, { once: true });
    this.moved();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  moved(): void {
    const { idleMs, clock } = this.#options;
    this.#disarm();
    this.#disarm = clock.after(idleMs, () =>
      this.#controller.abort(new ConnectionError(`Nothing moved for ${idleMs} ms`, { sent: true })),
    );
  }

  throwIfEnded(): void {
    this.#controller.signal.throwIfAborted();
  }

  end(): void {
    this.#disarm();
    this.#options.signal?.removeEventListener('abort', this.#follow);
  }

  readonly #follow = (): void => this.#controller.abort(this.#options.signal?.reason);
}

/** Options of a watch. */
export interface WatchOptions {
  readonly signal: AbortSignal | undefined;
  readonly idleMs: number;
  readonly clock: FileRuntime['clock'];
}
