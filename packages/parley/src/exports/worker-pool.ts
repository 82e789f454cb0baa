import cluster, { type Worker } from 'node:cluster';
import type { CloseTimes } from '../adapters/node/agent-server.js';
import { nextDelay } from './restart-delay.js';

/** Messages between the first process and its workers. */
interface FromWorker {
  /** Facts for the application of the first process. */
  readonly listening?: unknown;
  /** The reason why it does not listen. */
  readonly failed?: { readonly message: string; readonly code?: unknown };
}
interface ToWorker {
  readonly stop: CloseTimes;
}

/** The variable with the number of a worker, from 0. */
export const SLOT = 'WORKER_SLOT';
/** The variable with the id of the process that a worker replaces. */
export const REPLACES = 'WORKER_REPLACES';

/** Time in ms, beyond the times of a close, after which a stopping worker is killed. Its turns go to other workers. */
const STOP_MS = 30_000;
/** Time in ms after which a worker of a reload that does not listen is killed. The others are kept. */
const START_MS = 30_000;
/** Runs in a worker before the program. */
const START = new URL('./worker-start.js', import.meta.url);

/** Options of a pool. */
interface WorkerPoolOptions {
  readonly count: number;
  /** The times of workers that a reload replaces. */
  readonly reload: CloseTimes;
  /** Further variables for workers. */
  readonly env: Readonly<Record<string, string>>;
  /** Called with the progress of a reload. */
  readonly onReload: (text: string) => void;
  /** Called after each worker that ended by itself, with the delay until its restart. */
  readonly onDeath: (reason: string, inMs: number) => void;
}

/**
 * Runs this program in several processes behind one port. The first process accepts connections and distributes them to
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
  #times: CloseTimes;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#times = options.reload;
    cluster.setupPrimary({ execArgv: [...process.execArgv, '--import', START.href] });
  }

  /**
   * Starts the first worker, and the others when it listens, so that one migrates the tables. Resolves to the facts of
   * the first worker, or to undefined if `close` was called before it listened.
   * @throws Error if the first worker ends before it listens, with the reason that it tells. Otherwise its output has
   * the reason.
   */
  async start(): Promise<unknown> {
    if (this.#stopping !== undefined) return undefined;
    const first = this.#fork(0);
    const facts = await new Promise<unknown>((resolve, reject) => {
      let failed: FromWorker['failed'];
      onMessage(first, (message) => {
        failed = message.failed ?? failed;
        if (message.listening !== undefined) resolve(message.listening);
      });
      first.once('exit', (code, signal) => {
        if (this.#stopping !== undefined) resolve(undefined);
        else if (failed !== undefined) reject(Object.assign(new Error(failed.message), { code: failed.code }));
        else reject(new Error(`The first worker ended with ${signal ?? code} before it listened. Its output says why`));
      });
    });
    if (this.#stopping !== undefined) return undefined;
    cluster.on('exit', (worker, code, signal) => this.#died(worker, signal ?? `code ${code}`));
    for (let slot = 1; slot < this.#options.count; slot++) this.#fork(slot);
    return facts;
  }

  /** Tells all workers to drain, and resolves when the last one has ended. */
  close(times: CloseTimes): Promise<void> {
    this.#times = times;
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
      const { onReload } = this.#options;
      const started = await new Promise<'listens' | 'ended' | 'hangs'>((resolve) => {
        const timer = setTimeout(() => {
          resolve('hangs');
          next.process.kill('SIGKILL');
        }, START_MS);
        const settle = (how: 'listens' | 'ended') => {
          clearTimeout(timer);
          resolve(how);
        };
        onListening(next, () => settle('listens'));
        next.once('exit', () => settle('ended'));
      });
      if (this.#stopping !== undefined) return;
      if (started !== 'listens') {
        if (old.isDead()) this.#fork(slot);
        else this.#leaving.delete(old);
        const fault = started === 'ended' ? 'did not start' : `did not listen within ${START_MS / 1000} s`;
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
      const { graceMs, drainMs } = this.#times;
      const timer = setTimeout(() => worker.process.kill('SIGKILL'), drainMs + 2 * graceMs + STOP_MS);
      worker.once('exit', () => {
        clearTimeout(timer);
        resolve();
      });
      this.#tellStop(worker);
    });
  }

  #fork(slot: number, env: Readonly<Record<string, string>> = {}): Worker {
    const worker = cluster.fork({ ...this.#options.env, [SLOT]: String(slot), ...env });
    closeUntaken(worker);
    // Node.js drops a message to a worker that does not listen to messages yet. A worker sends its own message after.
    onListening(worker, () => {
      if (this.#stopping !== undefined) this.#tellStop(worker);
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

  #tellStop(worker: Worker): void {
    worker.send({ stop: this.#times } satisfies ToWorker, () => {});
  }
}

function workers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

/** Messages of Node.js itself: a connection for a worker, and its answer. */
interface ToNodeWorker {
  readonly act?: string;
  readonly seq?: number;
}
interface FromNodeWorker {
  readonly ack?: number;
}

/**
 * Closes connections that a worker has not taken when it ends. Node.js waits for its answer without end, and so would
 * the caller. No other worker gets them: the worker may have read them, and its answer may be lost.
 */
function closeUntaken({ process: child }: Worker): void {
  const untaken = new Set<number>();
  const send = child.send.bind(child) as (message: ToNodeWorker, ...more: readonly unknown[]) => boolean;
  child.send = (message: ToNodeWorker, ...more: readonly unknown[]) => {
    if (message.act === 'newconn' && message.seq !== undefined) untaken.add(message.seq);
    return send(message, ...more);
  };
  child.on('internalMessage', ({ ack }: FromNodeWorker) => ack !== undefined && untaken.delete(ack));
  child.once('exit', () => {
    // Node.js tells the end of the channel only after that answer, and sends connections to the worker until then.
    if (child.connected) child.emit('disconnect');
  });
  // All answers of the worker have been read. Node.js closes its side of a connection that is taken.
  child.once('close', () => {
    for (const ack of untaken) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: true });
  });
}

function onListening(worker: Worker, call: () => void): void {
  onMessage(worker, ({ listening }) => {
    if (listening !== undefined) call();
  });
}

function onMessage(worker: Worker, call: (message: FromWorker) => void): void {
  worker.on('message', (message: FromWorker | null) => call(message ?? {}));
}

/** In a worker: tells the first process why it does not listen. */
export async function tellFailure(error: unknown): Promise<void> {
  const { message, code } = Object(error) as { readonly message?: string; readonly code?: unknown };
  const failed = { message: message ?? String(error), ...(typeof code === 'string' && { code }) };
  await new Promise((resolve) => process.send?.({ failed } satisfies FromWorker, resolve));
}

/** In a worker: tells the first process that it listens. Resolves when this worker has to stop. */
export function workUntilStop(facts: unknown): Promise<CloseTimes> {
  // The first process answers this message again if it has stopped the worker before.
  const stopped = new Promise<CloseTimes>((resolve) => {
    process.on('message', (message: Partial<ToWorker> | null) => {
      if (message?.stop !== undefined) resolve(message.stop);
    });
  });
  process.send?.({ listening: facts } satisfies FromWorker);
  return stopped;
}
