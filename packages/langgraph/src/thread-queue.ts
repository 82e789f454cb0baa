/** Serializes the turns of a thread in this process. Concurrent turns would mix their checkpoints. */
export class ThreadQueue {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs the work after the earlier work of its thread. Does nothing if the signal aborts before. */
  async run(thread: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(thread);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    // The next turn must also wait for the running one, even if this turn stops waiting.
    const last = Promise.all([before, over]).then(() => {
      if (this.#last.get(thread) === last) this.#last.delete(thread);
    });
    this.#last.set(thread, last);
    try {
      if (before !== undefined) await firstOf(before, signal);
      if (!signal.aborted) await work();
    } finally {
      end();
    }
  }
}

/** Resolves when the promise does, or when the signal aborts. */
async function firstOf(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  await Promise.race([promise, aborted]);
  signal.removeEventListener('abort', stop);
}
