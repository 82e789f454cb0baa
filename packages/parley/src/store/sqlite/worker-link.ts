import { Worker } from 'node:worker_threads';
import { StorageError } from '../../errors/storage-error.js';
import type { Operation, Settled } from './operations.js';
import type { FromWorker, ReadRequest, ToWorker, WorkerTask } from './worker-messages.js';

interface Waiter {
  readonly resolve: (answer: Settled | readonly Settled[]) => void;
  readonly reject: (error: StorageError) => void;
}

/** A worker thread of this storage: what is asked of it is answered in order. An idle one keeps no process alive. */
export class WorkerLink {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #waiting = new Map<number, Waiter>();
  #nextId = 0;
  #broken: StorageError | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()));
    worker.on('message', (message: FromWorker) => {
      if (message[0] === 'answer') this.#answered(message[1], message[2]);
    });
    worker.on('error', (error: unknown) => this.#fail(String(error)));
    worker.on('exit', () => this.#fail('its thread has ended'));
  }

  /**
   * Starts a worker; resolves when it has opened its file.
   * @throws StorageError when it cannot.
   */
  static async start(url: URL, task: WorkerTask): Promise<WorkerLink> {
    const worker = new Worker(url, { workerData: task, name: `sqlite ${task.role}` });
    await new Promise<void>((resolve, reject) => {
      worker.once('message', ([kind, reason]: FromWorker) => {
        if (kind === 'ready') resolve();
        else reject(new StorageError(String(reason)));
      });
      worker.once('error', (error: unknown) =>
        reject(new StorageError('The thread of the storage failed', { cause: error })),
      );
    });
    const link = new WorkerLink(worker);
    worker.unref();
    return link;
  }

  /** Asks the worker. Rejects with StorageError if it has died. */
  ask(request: readonly Operation[] | ReadRequest): Promise<Settled | readonly Settled[]> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(id, { resolve, reject });
      this.#post([id, request]);
    });
  }

  /** Resolves when everything asked before is answered and the worker has closed its file. */
  async close(): Promise<void> {
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
    this.#broken ??= new StorageError(`The storage has failed: ${reason}`);
    for (const { reject } of this.#waiting.values()) reject(this.#broken);
    this.#waiting.clear();
  }
}
