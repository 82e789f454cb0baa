import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../telemetry/logger.js';

/** Options of an outage log. */
interface OutageLogOptions {
  /** The failing thing, for the log, such as a path. */
  readonly subject: string;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Writes may succeed between others that fail: only after so long without a failure is it over. */
const QUIET_MS = 1_000;

/** A time during which a storage cannot write: told to the log once when it begins and once when it is over. */
export class OutageLog {
  readonly #options: OutageLogOptions;
  #since: number | undefined;
  #cancelEnd: (() => void) | undefined;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  /** A failure outside of any call. */
  failing(reason: string): void {
    const { logger, clock, subject } = this.#options;
    this.#cancelEnd?.();
    this.#cancelEnd = undefined;
    if (this.#since !== undefined) return;
    this.#since = clock.monotonic();
    const message = 'the storage cannot write: new messages are refused, running turns wait until it can';
    logger.error(`${message}; ${reason}`, { subject });
  }

  /** Something could be written. */
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

  /** Nothing more is told. */
  close(): void {
    this.#cancelEnd?.();
  }
}
