import type { Clock, OutageLog } from 'parley-a2a/storage-engine';
import { PostgresError } from './postgres-error.js';

/** Options of an outage. */
interface OutageOptions {
  readonly clock: Clock;
  readonly log: OutageLog;
  /** Asks the server for nothing. Resolves if it answers. */
  readonly probe: () => Promise<unknown>;
}

/** The wait before the next probe doubles up to the longest one. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 500;

/**
 * Knows if the server is away. Once it does not answer, one probe at a time looks for it, and all other calls fail at
 * once with the reason. So a frozen server holds no call for longer than the first ones, and gets no crowd of
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

  /** An answer came. */
  working(): void {
    this.#reason = undefined;
    this.#options.log.working();
  }

  /** Takes a failure of a call in. Returns it as it is to be thrown. */
  failing(error: PostgresError): PostgresError {
    if (!error.isOutage) return error;
    this.#options.log.failing(error.message);
    // The server answers this call: others may still succeed.
    if (error.sqlState === undefined && this.#reason === undefined && !this.#isClosed) {
      this.#reason = error;
      this.#probeAfter(FIRST_WAIT_MS);
    }
    const { message, written, isOutage, sqlState, cause, reason } = error;
    return new PostgresError(message, { cause, written, isOutage, sqlState, reason, told: true });
  }

  /** No probe follows. */
  close(): void {
    this.#isClosed = true;
    this.#cancelProbe();
    this.#options.log.close();
  }

  #probeAfter(ms: number): void {
    this.#cancelProbe = this.#options.clock.after(ms, () => {
      this.#options.probe().then(
        () => this.working(),
        () => {
          if (!this.#isClosed && this.isAway) this.#probeAfter(Math.min(ms * 2, LONGEST_WAIT_MS));
        },
      );
    });
  }
}
