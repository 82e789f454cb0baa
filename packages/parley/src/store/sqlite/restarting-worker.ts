import { WorkerLink, type WorkerOptions } from './worker-link.js';
import type { WorkerAnswer, WorkerRequest, WorkerTask } from './worker-messages.js';

/** Options for each start of a thread. */
interface RestartingWorkerOptions extends Omit<WorkerOptions, 'task' | 'onDeath'> {
  /** Returns the task of the next thread. */
  readonly task: () => WorkerTask;
}

/**
 * A storage thread that starts at its first use and restarts after a crash. Unanswered requests are sent again, marked
 * as repeats, because they may have been executed.
 */
export class RestartingWorker {
  readonly #options: RestartingWorkerOptions;
  #link: Promise<WorkerLink> | undefined;
  #closed = false;

  constructor(options: RestartingWorkerOptions) {
    this.#options = options;
  }

  /**
   * Starts the thread unless it runs.
   * @throws StorageError if it fails to start.
   */
  start(): Promise<WorkerLink> {
    this.#link ??= this.#run();
    return this.#link;
  }

  /** Sends a request. Rejects with StorageError if the thread crashes twice during it, or cannot be restarted. */
  async ask(request: WorkerRequest): Promise<WorkerAnswer> {
    const link = await (this.#link ?? this.start());
    try {
      return await link.ask(request, false);
    } catch (error) {
      if (this.#closed) throw error;
      return (await this.start()).ask(request, true);
    }
  }

  /** Resolves when all earlier requests are answered and the thread has closed its file. */
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
      return await WorkerLink.start({ ...options, task: task(), onDeath: forget });
    } catch (error) {
      forget();
      throw error;
    }
  }
}
