import type { Clock, OutageLog } from 'parley-a2a/storage-engine';
import { PostgresError } from './postgres-error.js';

/** Options of an outage. */
interface OutageOptions {
  readonly clock: Clock;
  readonly log: OutageLog;
  /** Sends a request without effect. Resolves if the server answers. */
  readonly probe: () => Promise<unknown>;
}

/** The delay before the next probe doubles up to the longest one. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 500;

/**
 * Detects outages of the server. After a call without an answer, one probe at a time tests the server, and all other
 * calls fail at once with the reason. So a hanging server delays only the first calls, and gets no flood of
 * connections.
 */
export class Outage {
  readonly #options: OutageOptions;
  #reason: PostgresError | undefined;
  #cancelProbe: () => void = () => {};
  #isClosed = false;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  get isAway(): boolean {
    return this.#reason !== undefined;
  }

  /** @throws PostgresError while the server is away. */
  check(): void {
    const reason = this.#reason;
    if (reason === undefined) return;
    const { message, sqlState, reason: shown } = reason;
    throw new PostgresError(message, { written: 'no', isOutage: true, told: true, sqlState, reason: shown });
  }

  /** Reports an answer. */
  recordAnswer(): void {
    this.#reason = undefined;
    this.#options.log.working();
  }

  /** Reports a failed call. Returns the error to throw. */
  recordFailure(error: PostgresError): PostgresError {
    if (!error.isOutage) return error;
    this.#options.log.failing(error.message);
    // With an SQLSTATE the server has answered, so other calls may succeed.
    if (error.sqlState === undefined && this.#reason === undefined && !this.#isClosed) {
      this.#reason = error;
      this.#probeAfter(FIRST_WAIT_MS);
    }
    const { message, written, isOutage, sqlState, cause, reason } = error;
    return new PostgresError(message, { cause, written, isOutage, sqlState, reason, told: true });
  }

  /** Ends the probes. */
  close(): void {
    this.#isClosed = true;
    this.#cancelProbe();
    this.#options.log.close();
  }

  #probeAfter(ms: number): void {
    this.#cancelProbe = this.#options.clock.after(ms, () => {
      this.#options.probe().then(
        () => this.recordAnswer(),
        () => {
          if (!this.#isClosed && this.isAway) this.#probeAfter(Math.min(ms * 2, LONGEST_WAIT_MS));
        },
      );
    });
  }
}
