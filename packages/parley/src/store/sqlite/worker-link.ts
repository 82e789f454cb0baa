import { Worker } from 'node:worker_threads';
import { StorageError } from '../../errors/storage-error.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Operation, Settled } from './operations.js';
import type { FromWorker, ReadRequest, ToWorker, WorkerTask } from './worker-messages.js';

interface Waiter {
  readonly resolve: (answer: Settled | readonly Settled[]) => void;
  readonly reject: (error: StorageError) => void;
}

/** What a worker is started with. */
export interface WorkerOptions {
  /** The compiled `sqlite-worker.js`. */
  readonly worker: URL;
  readonly task: WorkerTask;
  readonly logger: Logger;
  /** It has died: what is asked from now on is rejected. Called before what waits is. */
  readonly onDeath: () => void;
  /** The writer cannot write for this reason, or (undefined) can again. */
  readonly onHealth?: (fault: string | undefined) => void;
}

/** A worker thread of this storage: what is asked of it is answered in order. An idle one keeps no process alive. */
export class WorkerLink {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #waiting = new Map<number, Waiter>();
  readonly #options: WorkerOptions;
  #nextId = 0;
  #closing = false;
  #broken: StorageError | undefined;

  private constructor(worker: Worker, options: WorkerOptions) {
    this.#worker = worker;
    this.#options = options;
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()));
    worker.on('message', (message: FromWorker) => {
      if (message[0] === 'answer') this.#answered(message[1], message[2]);
      else if (message[0] === 'health') options.onHealth?.(message[1]);
    });
    worker.on('error', (error: unknown) => this.#fail(String(error)));
    worker.on('exit', () => this.#fail('its thread has ended'));
  }

  /**
   * Starts a worker; resolves when it has opened its file. Should it die later, the log says so.
   * @throws StorageError when it cannot.
   */
  static async start(options: WorkerOptions): Promise<WorkerLink> {
    const { task } = options;
    const worker = new Worker(options.worker, { workerData: task, name: `sqlite ${task.role}` });
    await new Promise<void>((resolve, reject) => {
      worker.once('message', ([kind, reason]: FromWorker) => {
        if (kind === 'ready') resolve();
        else reject(new StorageError(String(reason)));
      });
      worker.once('error', (error: unknown) =>
        reject(new StorageError('The thread of the storage failed', { cause: error })),
      );
    });
    const link = new WorkerLink(worker, options);
    worker.unref();
    return link;
  }

  /** Asks the worker; `again` says that another one may have done it. Rejects with StorageError if it has died. */
  ask(request: readonly Operation[] | ReadRequest, again: boolean): Promise<Settled | readonly Settled[]> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(id, { resolve, reject });
      this.#post([id, request, again]);
    });
  }

  /** Resolves when everything asked before is answered and the worker has closed its file. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#broken === undefined) {
      this.#worker.ref();
      this.#post('close');
    }
    await this.#exited;
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #answered(id: number, answer: Settled | readonly Settled[]): void {
    const waiter = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker.unref();
    waiter?.resolve(answer);
  }

  #fail(reason: string): void {
    if (this.#broken === undefined) {
      this.#broken = new StorageError(`The storage has failed: ${reason}`);
      if (!this.#closing) this.#options.logger.error('a thread of the storage has died', { error: this.#broken });
      this.#options.onDeath();
    }
    for (const { reject } of this.#waiting.values()) reject(this.#broken);
    this.#waiting.clear();
  }
}
