import { A2AError } from '../../errors/a2a-error.js';
import { failureLevel, StorageError } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { retryMs } from './turn-writer.js';

/** The dependencies of `TurnPatience`. */
interface TurnPatienceOptions {
  readonly taskId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Repeats storage calls for the agent of a turn during an outage, like the commits of its events. A call may be
 * executed twice, because the answer to the first one may be lost.
 */
export class TurnPatience {
  readonly #options: TurnPatienceOptions;
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;

  constructor(options: TurnPatienceOptions) {
    this.#options = options;
  }

  /** Returns the answer to a call. Repeats the call during an outage, until the agent must stop. */
  async ask<T>(call: () => Promise<T>, isOutage: (error: unknown) => boolean = isStorageOutage): Promise<T> {
    const { taskId, clock, logger } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        if (this.#isOver || !isOutage(error)) throw error;
        const waitMs = retryMs(attempt);
        logger[failureLevel(error)]('a call for an agent failed, trying again', { taskId, attempt, waitMs, error });
        let stopTimer = () => {};
        const pause = new Promise<void>((resolve) => {
          stopTimer = clock.after(waitMs, resolve);
        });
        await Promise.race([pause, this.#over.promise]);
        stopTimer();
        if (this.#isOver) throw error;
      }
    }
  }

  /** Called when the agent must stop: failed calls are not repeated from then on. */
  end(): void {
    this.#isOver = true;
    this.#over.resolve();
  }
}

/** True if the storage fails, or does not answer in time. */
function isStorageOutage(error: unknown): boolean {
  return error instanceof StorageError || (error instanceof A2AError && error.code === 'UNAVAILABLE');
}
