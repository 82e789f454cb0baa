import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import type { Logger } from '../telemetry/logger.js';
import type { ConnectionEvent } from './connection-event.js';

/** The ports of a client. */
export interface ClientRuntime {
  /** Its timers keep the process alive, because a caller waits for them. */
  readonly clock: Clock;
  /** Its timers let the process end. */
  readonly idleClock: Pick<Clock, 'after'>;
  readonly ids: Pick<IdSource, 'random'>;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  /** Gets calls, retries, fallbacks and reconnections; never credentials, headers or contents. */
  readonly logger: Logger;
  /** Called if a connection is lost or restored. */
  readonly onConnection: (event: ConnectionEvent) => void;
}
