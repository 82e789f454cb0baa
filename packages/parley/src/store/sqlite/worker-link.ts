import { Worker } from 'node:worker_threads';
import { StorageError } from '../../errors/storage-error.js';
import { TransientMap } from '../../runtime/transient-map.js';
import type { Logger } from '../../telemetry/logger.js';
import type { FromWorker, ToWorker, WorkerAnswer, WorkerRequest, WorkerTask } from './worker-messages.js';

interface Waiter {
  readonly resolve: (answer: WorkerAnswer) => void;
  readonly reject: (error: StorageError) => void;
}

/** The caller that waits for the start of a worker. */
interface Starting {
  readonly ready: () => void;
  readonly failed: (error: StorageError) => void;
}

/** Options of a worker. */
export interface WorkerOptions {
  /** The compiled `sqlite-worker.js`. */
  readonly worker: URL;
  readonly task: WorkerTask;
  readonly logger: Logger;
  /** Called when the worker has ended unexpectedly, before its waiting requests are rejected. */
  readonly onDeath: () => void;
  /** Called with the reason when writes start to fail, and with `undefined` when they work again. */
  readonly onHealth?: (fault: string | undefined) => void;
  /** Called for each row that the worker cannot read and skips from now on. */
  readonly onAside: (row: string, reason: string) => void;
}

/** A worker thread of this storage, which answers requests in order. While idle, it does not keep the process alive. */
export class WorkerLink {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #waiting = new TransientMap<number, Waiter>();
  readonly #options: WorkerOptions;
  #starting: Starting | undefined;
  #nextId = 0;
  #closing = false;
  #broken: StorageError | undefined;

  private constructor(worker: Worker, options: WorkerOptions, starting: Starting) {
    this.#worker = worker;
    this.#options = options;
    this.#starting = starting;
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()));
    worker.on('message', this.#onMessage);
    worker.on('error', (error: unknown) => this.#fail(`its thread has failed: ${String(error)}`));
    worker.on('exit', (code) => this.#fail(`its thread has ended with code ${code}`));
  }

  /**
   * Starts a worker; resolves when it has opened its file. A later crash is logged.
   * @throws StorageError if it fails to start.
   */
  static start(options: WorkerOptions): Promise<WorkerLink> {
    const { task } = options;
    return new Promise((resolve, reject) => {
      const worker = new Worker(options.worker, {
        workerData: task,
        name: `sqlite ${task.role}`,
        // Measured: a larger young generation only delays the collection of garbage.
        resourceLimits: { maxYoungGenerationSizeMb: 6 },
      });
      const link = new WorkerLink(worker, options, { ready: () => resolve(link), failed: reject });
    });
  }

  /** Sends a request; `again`: it may have been executed already. Rejects with StorageError if the worker has ended. */
  ask(request: WorkerRequest, again: boolean): Promise<WorkerAnswer> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    const id = this.#nextId;
    this.#nextId += 1;
    const { promise, resolve, reject } = Promise.withResolvers<WorkerAnswer>();
    if (this.#waiting.size === 0) this.#worker.ref();
    this.#waiting.set(id, { resolve, reject });
    this.#worker.postMessage([id, request, again] satisfies ToWorker);
    return promise;
  }

  /** Resolves when all earlier requests are answered and the worker has closed its file. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#broken === undefined) {
      this.#worker.ref();
      this.#worker.postMessage('close' satisfies ToWorker);
    }
    await this.#exited;
  }

  readonly #onMessage = (message: FromWorker): void => {
    switch (message[0]) {
      case 'ready':
        this.#starting?.ready();
        this.#starting = undefined;
        if (!this.#closing) this.#worker.unref();
        break;
      case 'failed':
        this.#breaks(new StorageError(message[1]));
        break;
      case 'answer': {
        const waiter = this.#waiting.get(message[1]);
        this.#waiting.delete(message[1]);
        // A closing link keeps the process alive until its thread has closed the file.
        if (this.#waiting.size === 0 && !this.#closing) this.#worker.unref();
        waiter?.resolve(message[2]);
        break;
      }
      case 'health':
        this.#options.onHealth?.(message[1]);
        break;
      case 'aside':
        this.#options.onAside(message[1], message[2]);
        break;
    }
  };

  #fail(reason: string): void {
    this.#breaks(new StorageError(`The storage has failed: ${reason}`));
  }

  #breaks(error: StorageError): void {
    if (this.#broken !== undefined) return;
    this.#broken = error;
    const starting = this.#starting;
    this.#starting = undefined;
    if (!this.#closing && starting === undefined) {
      this.#options.logger.error('a thread of the storage has died', { error });
    }
    this.#options.onDeath();
    starting?.failed(error);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
