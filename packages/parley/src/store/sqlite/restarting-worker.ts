import { WorkerLink, type WorkerOptions } from './worker-link.js';
import type { ReadRequest, WorkerTask } from './worker-messages.js';
import type { Settled, WriteRequest } from './write-requests.js';

/** Options of each start of a thread. */
export interface RestartingWorkerOptions extends Omit<WorkerOptions, 'task' | 'onDeath'> {
  /** `again`: another thread had this task before and died. */
  readonly task: (again: boolean) => WorkerTask;
}

/**
 * A thread of the storage that starts at its first use and restarts after a crash. Unanswered requests are sent again,
 * marked as repeats, because they may have run.
 */
export class RestartingWorker {
  readonly #options: RestartingWorkerOptions;
  #link: Promise<WorkerLink> | undefined;
  #started = false;
  #closed = false;

  constructor(options: RestartingWorkerOptions) {
    this.#options = options;
  }

  /**
   * Starts the thread unless it runs.
   * @throws StorageError when it cannot do its task.
   */
  start(): Promise<WorkerLink> {
    this.#link ??= this.#run();
    return this.#link;
  }

  /** Asks the thread. Rejects with StorageError if it has died twice over this, or cannot be started again. */
  async ask(request: readonly WriteRequest[] | ReadRequest): Promise<Settled | readonly Settled[]> {
    const link = await this.start();
    try {
      return await link.ask(request, false);
    } catch (error) {
      if (this.#closed) throw error;
      return (await this.start()).ask(request, true);
    }
  }

  /** Resolves when everything asked before is answered and the thread has closed its file. */
  async close(): Promise<void> {
    this.#closed = true;
    const link = await this.#link?.catch(() => undefined);
    await link?.close();
  }

  async #run(): Promise<WorkerLink> {
    const { task, ...options } = this.#options;
    const forget = () => {
      this.#link = undefined;
    };
    try {
      const link = await WorkerLink.start({ ...options, task: task(this.#started), onDeath: forget });
      this.#started = true;
      return link;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
