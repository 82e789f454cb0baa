/**
 * Work that several callers wait for. The first one starts it. Each caller can stop waiting by its own signal. The work
 * is aborted when no caller waits any more.
 */
export class SharedWork<T> {
  readonly #work: (signal: AbortSignal) => Promise<T>;
  #running: { readonly result: Promise<T>; readonly abandon: AbortController; waiting: number } | undefined;

  /** `signal` is aborted when no caller waits any more. */
  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Waits for the running work, or starts it. */
  async join(signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    this.#running ??= this.#begin();
    const running = this.#running;
    running.waiting += 1;
    try {
      return await ownWait(running.result, signal);
    } finally {
      running.waiting -= 1;
      if (running.waiting === 0 && this.#running === running) {
        this.#running = undefined;
        running.abandon.abort();
      }
    }
  }

  #begin() {
    const abandon = new AbortController();
    const running = { result: this.#work(abandon.signal), abandon, waiting: 0 };
    const end = () => {
      if (this.#running === running) this.#running = undefined;
    };
    running.result.then(end, end);
    return running;
  }
}

/** Waits for shared work. The signal ends this wait with its reason, and not the work. */
export async function ownWait<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  signal.throwIfAborted();
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
