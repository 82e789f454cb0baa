import { StorageError } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import { OperationQueue } from './operation-queue.js';
import type { Operation, OperationResults, Settled } from './operations.js';
import type { RestartingWorker } from './restarting-worker.js';

interface Entry {
  readonly operation: Operation;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects operations while the batch before them is being written, so that a commit serves all that wait for one. A
 * batch is bounded in bytes.
 */
export class GroupCommit {
  readonly #writer: RestartingWorker;
  readonly #clock: Clock;
  readonly #queue = new OperationQueue<Entry>();
  #scheduled = false;
  #inFlight = false;
  #onIdle: (() => void)[] = [];
  readonly #watchers = new Set<(operations: number) => void>();

  constructor(writer: RestartingWorker, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  /** Resolves when the operation is durable. Rejects with StorageError when it failed; the others of its batch are done. */
  do<O extends Operation>(operation: O): Promise<OperationResults[O[0]]> {
    return new Promise((resolve, reject) => {
      this.#queue.add({ operation, resolve: resolve as Entry['resolve'], reject });
      if (this.#inFlight || this.#scheduled) return;
      this.#scheduled = true;
      this.#clock.soon(() => {
        this.#scheduled = false;
        this.#send();
      });
    });
  }

  /** Tells how many operations each batch has, until the function is called that is returned. */
  watch(watcher: (operations: number) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    if (this.#inFlight || this.#scheduled) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #send(): void {
    if (this.#queue.isEmpty) {
      this.#inFlight = false;
      const onIdle = this.#onIdle;
      this.#onIdle = [];
      for (const resolve of onIdle) resolve();
      return;
    }
    const batch = this.#queue.take();
    this.#inFlight = true;
    for (const watcher of this.#watchers) watcher(batch.length);
    this.#writer.ask(batch.map(({ operation }) => operation)).then(
      (answer) => {
        // The writer goes on with what has gathered before anybody here looks at what it has done.
        this.#send();
        settle(batch, answer as readonly Settled[]);
      },
      (error: unknown) => {
        this.#send();
        for (const { reject } of batch) reject(error);
      },
    );
  }
}

function settle(batch: readonly Entry[], answer: readonly Settled[]): void {
  for (const [at, { resolve, reject }] of batch.entries()) {
    const settled = answer[at];
    if (settled?.[0] === false) resolve(settled[1]);
    else
      reject(new StorageError(`The storage failed: ${settled?.[1] ?? 'no answer'}`, { told: settled?.[2] ?? false }));
  }
}
