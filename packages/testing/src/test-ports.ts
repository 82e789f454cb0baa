import type { StreamResponse } from 'parley-a2a';
import { callerClock, systemClock } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { StreamCollector } from './event-collector.js';
import { ManualClock, type TestClockOptions } from './manual-clock.js';

/**
 * A clock that only a test advances. Timers run only then, in their order. Work that waits for no time runs by itself.
 */
export class TestClock extends ManualClock {
  constructor(options?: TestClockOptions) {
    super(systemClock.soon, options);
  }
}

/** The options of `EventCollector`. */
export interface EventCollectorOptions {
  /** The clock of the waits. Default: real time. */
  readonly clock?: Pick<Clock, 'after'>;
}

/**
 * Reads a stream from its start to its end, and stores the events. Without a stream, pass `take` to code that calls a
 * function with each event.
 */
export class EventCollector extends StreamCollector {
  constructor(source?: AsyncIterable<StreamResponse>, { clock = callerClock }: EventCollectorOptions = {}) {
    super(source, clock);
  }
}
