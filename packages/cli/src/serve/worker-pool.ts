import cluster, { type Worker } from 'node:cluster';
import { CliError } from '../failure/cli-error.js';
import type { ListeningAgent } from './listening.js';
import { nextDelay } from './restart-delay.js';

/** Messages between the first process and its workers. */
export type FromWorker = { readonly listening: readonly ListeningAgent[] };
export type ToWorker = 'stop';

/** The variable with the number of a worker, from 0. */
export const SLOT = 'WORKER_SLOT';
/** The variable with the id of the process that a worker replaces. */
export const REPLACES = 'WORKER_REPLACES';

/** Options of a pool. */
interface WorkerPoolOptions {
  readonly count: number;
  /** Time in ms after which a stopping worker is killed. Its turns go to other replicas. */
  readonly stopMs: number;
  /** Time in ms after which a worker of a reload that does not listen is killed. The others are kept. */
  readonly startMs: number;
  /** Further variables for workers. */
  readonly env: Readonly<Record<string, string>>;
  /** Called with the progress of a reload. */
  readonly onReload: (text: string) => void;
  /** Called after each worker that ended by itself, with the delay until its restart. */
  readonly onDeath: (reason: string, inMs: number) => void;
}

/**
 * Runs this command in several processes behind one port. The first process accepts connections and distributes them to
 * the workers in turn. A worker that ends is restarted after a delay, which grows while workers end early.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  /** The slot and the start time of each worker, by its id. Its replacement gets the same slot. */
  readonly #running = new Map<number, { readonly slot: number; readonly startedAt: number }>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Workers that are not restarted when they end: a reload replaces them, or has started them. */
  readonly #leaving = new Set<Worker>();
  #reloading: Promise<void> | undefined;
  #reloadAgain = false;
  #delayMs = 0;
  #stopping: Promise<void> | undefined;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /**
   * Starts the first worker, and the others when it listens, so that only one migrates the tables. Resolves to the
   * message of the first worker, or to undefined if `close` was called before it listened.
   * @throws CliError if the first worker ends before it listens. The worker has printed the reason.
   */
  async start(): Promise<FromWorker | undefined> {
    if (this.#stopping !== undefined) return undefined;
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

  /** Stops all workers after a drain. Resolves when the last one has ended. */
  close(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Sends a signal to all workers. */
  signal(signal: NodeJS.Signals): void {
    for (const worker of workers()) worker.process.kill(signal);
  }

  /**
   * Replaces the workers one after the other. A worker is stopped when its replacement listens. If a replacement ends
   * before that, the remaining workers are kept. A call during a reload starts another one after it.
   */
  reload(): Promise<void> {
    this.#reloadAgain = this.#reloading !== undefined;
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = undefined;
      if (this.#reloadAgain && this.#stopping === undefined) void this.reload();
    });
    return this.#reloading;
  }

  async #reload(): Promise<void> {
    for (const old of workers()) {
      const slot = this.#running.get(old.id)?.slot;
      if (slot === undefined || this.#stopping !== undefined) continue;
      const next = this.#fork(slot, { [REPLACES]: String(old.process.pid) });
      // Neither of them is restarted.
      this.#leaving.add(old).add(next);
      const { startMs, onReload } = this.#options;
      const started = await new Promise<'listens' | 'ended' | 'hangs'>((resolve) => {
        const timer = setTimeout(() => {
          resolve('hangs');
          next.process.kill('SIGKILL');
        }, startMs);
        const settle = (how: 'listens' | 'ended') => {
          clearTimeout(timer);
          resolve(how);
        };
        next.once('message', () => settle('listens'));
        next.once('exit', () => settle('ended'));
      });
      if (this.#stopping !== undefined) return;
      if (started !== 'listens') {
        if (old.isDead()) this.#fork(slot);
        else this.#leaving.delete(old);
        const fault = started === 'ended' ? 'did not start' : `did not listen within ${startMs / 1000} s`;
        onReload(`worker ${next.process.pid} ${fault}: the others stay`);
        return;
      }
      this.#leaving.delete(next);
      await this.#stopWorker(old);
      onReload(`worker ${next.process.pid} has replaced worker ${old.process.pid}`);
    }
  }

  async #stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(workers().map((worker) => this.#stopWorker(worker)));
  }

  /** Resolves when a worker has ended. */
  #stopWorker(worker: Worker): Promise<void> {
    return new Promise((resolve) => {
      if (worker.isDead()) return resolve();
      const timer = setTimeout(() => worker.process.kill('SIGKILL'), this.#options.stopMs);
      worker.once('exit', () => {
        clearTimeout(timer);
        resolve();
      });
      tellStop(worker);
    });
  }

  #fork(slot: number, env: Readonly<Record<string, string>> = {}): Worker {
    const worker = cluster.fork({ ...this.#options.env, [SLOT]: String(slot), ...env });
    // Node.js drops a message to a worker without a message handler. A worker sends its own message after it has one.
    worker.on('message', () => {
      if (this.#stopping !== undefined) tellStop(worker);
    });
    this.#running.set(worker.id, { slot, startedAt: performance.now() });
    return worker;
  }

  #died(worker: Worker, reason: string): void {
    const { slot = 0, startedAt = 0 } = this.#running.get(worker.id) ?? {};
    this.#running.delete(worker.id);
    if (this.#stopping !== undefined || this.#leaving.delete(worker)) return;
    this.#delayMs = nextDelay(this.#delayMs, performance.now() - startedAt);
    this.#options.onDeath(`worker ${worker.process.pid} ended with ${reason}`, this.#delayMs);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#fork(slot);
    }, this.#delayMs);
    this.#timers.add(timer);
  }
}

function workers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

function tellStop(worker: Worker): void {
  worker.send('stop' satisfies ToWorker, () => {});
}
