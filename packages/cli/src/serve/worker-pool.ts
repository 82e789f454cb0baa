import cluster, { type Worker } from 'node:cluster';
import { CliError } from '../failure/cli-error.js';
import type { ListeningAgent } from './listening.js';
import { nextDelay } from './restart-delay.js';

/** Messages between the first process and its workers. */
export type FromWorker = { readonly listening: readonly ListeningAgent[] };
export type ToWorker = 'stop';

/** The variable with the number of a worker, from 0. */
export const SLOT = 'WORKER_SLOT';

/** Options of a pool. */
export interface WorkerPoolOptions {
  readonly count: number;
  /** A worker that was told to stop is killed after this time. Its turns go to other replicas. */
  readonly stopMs: number;
  /** Hears of each worker that ends by itself, and when the next one starts in its place. */
  readonly onDeath: (reason: string, inMs: number) => void;
}

/**
 * Runs this command in several processes behind one port. The first process accepts connections and gives them to the
 * workers in turn. A worker that ends is replaced after a pause, which grows while workers end soon.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  /** The slot and the start of each worker, by its id. A worker that is replaced leaves its slot to the next one. */
  readonly #running = new Map<number, { readonly slot: number; readonly startedAt: number }>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #delayMs = 0;
  #stopping: Promise<void> | undefined;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /**
   * Starts the first worker, and the others when it listens, so that one migrates the tables. Resolves to the message
   * of the first worker, or to undefined if `close` was called before it listened.
   * @throws CliError if the first worker ends before it listens. It has told the reason.
   */
  async start(): Promise<FromWorker | undefined> {
    const first = this.#fork(0);
    const message = await new Promise<FromWorker | undefined>((resolve, reject) => {
      first.once('message', resolve);
      first.once('exit', (code) => {
        if (this.#stopping !== undefined) resolve(undefined);
        else reject(new CliError('A2ACLI_ERR_INTERNAL', `the first worker ended with ${code}`));
      });
    });
    if (this.#stopping !== undefined) return undefined;
    cluster.on('exit', (worker, code, signal) => this.#died(worker, signal ?? `code ${code}`));
    for (let slot = 1; slot < this.#options.count; slot++) this.#fork(slot);
    return message;
  }

  /** Tells all workers to drain, and resolves when the last one has ended. */
  close(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise<void>((resolve) => {
            if (worker.isDead()) return resolve();
            const timer = setTimeout(() => worker.process.kill('SIGKILL'), this.#options.stopMs);
            worker.once('exit', () => {
              clearTimeout(timer);
              resolve();
            });
            tellStop(worker);
          }),
      ),
    );
  }

  #fork(slot: number): Worker {
    const worker = cluster.fork({ [SLOT]: String(slot) });
    // Node.js drops a message to a worker that does not listen to messages yet. A worker sends its own message after.
    worker.on('message', () => {
      if (this.#stopping !== undefined) tellStop(worker);
    });
    this.#running.set(worker.id, { slot, startedAt: performance.now() });
    return worker;
  }

  #died(worker: Worker, reason: string): void {
    const { slot = 0, startedAt = 0 } = this.#running.get(worker.id) ?? {};
    this.#running.delete(worker.id);
    if (this.#stopping !== undefined) return;
    this.#delayMs = nextDelay(this.#delayMs, performance.now() - startedAt);
    this.#options.onDeath(`worker ${worker.process.pid} ended with ${reason}`, this.#delayMs);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#fork(slot);
    }, this.#delayMs);
    this.#timers.add(timer);
  }
}

function tellStop(worker: Worker): void {
  worker.send('stop' satisfies ToWorker, () => {});
}
