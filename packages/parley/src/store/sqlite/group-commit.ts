import { StorageError } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { OpenFile } from './sqlite-file.js';
import { bytesOf, type Queued, WriteQueue } from './write-queue.js';
import type { Settled, WriteRequest, WriteResults } from './write-requests.js';

interface Entry extends Queued {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects requests while the previous batch is being written, so that waiting requests share a commit. The bytes of a
 * batch are limited.
 */
export class GroupCommit {
  readonly #writer: OpenFile['writer'];
  readonly #clock: Clock;
  readonly #queue = new WriteQueue<Entry>();
  /** True while a batch is being written, and before the first one is sent. */
  #isBusy = false;
  #onIdle: (() => void)[] = [];
  readonly #onWritten: ((requests: readonly WriteRequest[]) => void) | undefined;
  readonly #watchers = new Set<(requests: number) => void>();

  /** `onWritten` is called after each batch, even one that failed, before its callers get their results. */
  constructor(
    writer: OpenFile['writer'],
    {
      clock,
      onWritten,
    }: { readonly clock: Clock; readonly onWritten?: ((requests: readonly WriteRequest[]) => void) | undefined },
  ) {
    this.#writer = writer;
    this.#clock = clock;
    this.#onWritten = onWritten;
  }

  /**
   * Resolves when the request is durable. Rejects with StorageError if it fails; a failure does not affect others of
   * the batch.
   */
  do<O extends WriteRequest>(request: O): Promise<WriteResults[O[0]]> {
    const { promise, resolve, reject } = Promise.withResolvers<WriteResults[O[0]]>();
    this.#queue.add({ request, bytes: bytesOf(request), resolve: resolve as Entry['resolve'], reject });
    if (!this.#isBusy) this.#clock.soon(this.#send);
    this.#isBusy = true;
    return promise;
  }

  /** Calls the watcher with the number of requests of each batch. The returned function removes the watcher. */
  watch(watcher: (requests: number) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Resolves when no request is in progress. */
  async idle(): Promise<void> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  readonly #send = async (): Promise<void> => {
    const batch = this.#queue.take();
    if (batch.length === 0) {
      this.#isBusy = false;
      const onIdle = this.#onIdle;
      this.#onIdle = [];
      for (const resolve of onIdle) resolve();
      return;
    }
    for (const watcher of this.#watchers) watcher(batch.length);
    const requests: WriteRequest[] = [];
    for (const { request } of batch) requests.push(request);
    let answer: readonly Settled[] = [];
    let failure: unknown;
    try {
      answer = (await this.#writer.ask(requests)) as readonly Settled[];
    } catch (error) {
      failure = error;
    }
    // Sent first, so that the writer works while this thread reads the results.
    void this.#send();
    this.#onWritten?.(requests);
    for (const [at, { resolve, reject }] of batch.entries()) {
      const settled = answer[at];
      if (settled?.[0] === false) resolve(settled[1]);
      else reject(failure ?? failureOf(settled));
    }
  };
}

/** Returns the error of a request that the writer could not write, or did not answer. */
function failureOf(settled: Settled | undefined): StorageError {
  return new StorageError(`The storage failed: ${settled?.[1] ?? 'no answer'}`, { told: settled?.[2] ?? false });
}
