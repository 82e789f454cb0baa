import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../telemetry/logger.js';

/** Options of an outage log. */
interface OutageLogOptions {
  /** The name of the failing resource for the log, such as a path. */
  readonly subject: string;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Duration without a failure after which an outage is over, because some writes may succeed during it. */
const QUIET_MS = 1_000;

/** Logs an outage of a storage once at its start and once at its end. */
export class OutageLog {
  readonly #options: OutageLogOptions;
  #since: number | undefined;
  #cancelEnd: (() => void) | undefined;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  /** Reports a failure outside of any call. */
  failing(reason: string): void {
    const { logger, clock, subject } = this.#options;
    this.#cancelEnd?.();
    this.#cancelEnd = undefined;
    if (this.#since !== undefined) return;
    this.#since = clock.monotonic();
    const message = 'the storage cannot write: new messages are refused, running turns wait until it can';
    logger.error(`${message}; ${reason}`, { subject });
  }

  /** Reports a successful write. */
  working(): void {
    const { logger, clock, subject } = this.#options;
    const since = this.#since;
    if (since === undefined || this.#cancelEnd !== undefined) return;
    this.#cancelEnd = clock.after(QUIET_MS, () => {
      this.#cancelEnd = undefined;
      this.#since = undefined;
      logger.warn('the storage can write again', { subject, afterMs: Math.round(clock.monotonic() - since) });
    });
  }

  /** Ends all logging. */
  close(): void {
    this.#cancelEnd?.();
  }
}
