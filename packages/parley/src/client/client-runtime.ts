import type { Clock } from '../runtime/clock.js';
import type { EqualTimers } from '../runtime/equal-timers.js';
import type { IdSource } from '../runtime/id-source.js';
import type { Logger } from '../telemetry/logger.js';
import type { ConnectionEvent } from './connection-event.js';

/** What clients need of the machine they run on. */
export interface ClientRuntime {
  /** Pending timers keep the process alive: somebody waits for them. */
  readonly clock: Clock;
  /** How long agents may take to close a stream that is over, before its connection is given up. They keep no process alive. */
  readonly closing: EqualTimers;
  readonly ids: Pick<IdSource, 'random'>;
  /** A number from 0 to 1, different each time. */
  readonly random: () => number;
  /** Hears of calls, retries, fallbacks and resumptions; never of credentials, headers or contents. */
  readonly logger: Logger;
  /** Hears of connections that are lost and restored. */
  readonly onConnection: (event: ConnectionEvent) => void;
}
