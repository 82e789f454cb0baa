import { pause } from './backoff.js';
import type { ClientRuntime } from './client-runtime.js';
import type { ConnectionEvent } from './connection-event.js';

/** Waits before attempts, and reports each wait to `onConnection`. */
export class AttemptPauses {
  readonly #runtime: ClientRuntime;
  /** The announced attempt that has no answer yet; 0 if there is none. */
  #attempt = 0;

  constructor(runtime: ClientRuntime) {
    this.#runtime = runtime;
  }

  /** Reports the interruption and waits. Rejects with the reason of the signal. */
  wait(
    interruption: Omit<ConnectionEvent & { readonly state: 'interrupted' }, 'state'>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    this.#attempt = interruption.attempt;
    this.#runtime.onConnection({ state: 'interrupted', ...interruption });
    return pause(this.#runtime.clock, interruption.waitMs, signal);
  }

  /** Reports that the announced attempt was answered, if there is one. */
  answered(taskId: string | undefined): void {
    const attempt = this.#attempt;
    this.#attempt = 0;
    if (attempt > 0) this.#runtime.onConnection({ state: 'restored', taskId, attempt });
  }
}
