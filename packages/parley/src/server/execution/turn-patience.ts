import { A2AError } from '../../errors/a2a-error.js';
import { failureLevel, StorageError } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { retryMs } from './turn-writer.js';

/** The sources of a patience. */
interface TurnPatienceOptions {
  readonly taskId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Makes calls to a storage for the agent of a turn, as patiently as its events are committed. Such a call may run
 * twice: the answer to the first one may be lost.
 */
export class TurnPatience {
  readonly #options: TurnPatienceOptions;
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;

  constructor(options: TurnPatienceOptions) {
    this.#options = options;
  }

  /** The answer to a call. While it fails because of the storage, it is made again, until the agent has to stop. */
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

  /** The agent has to stop: calls that fail are not made again. */
  end(): void {
    this.#isOver = true;
    this.#over.resolve();
  }
}

/** True if the storage fails, or does not answer in time. */
function isStorageOutage(error: unknown): boolean {
  return error instanceof StorageError || (error instanceof A2AError && error.code === 'UNAVAILABLE');
}
