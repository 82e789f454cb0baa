import { type Attributes, type Histogram, type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';
import { METRICS } from 'parley-a2a/kit';
import { DRAFT_REVISION } from './conventions.js';

/** Names this package in spans and metrics. */
const SCOPE = 'parley-a2a';

/** The tracer and the meter. Without an SDK of the application they do nothing. */
export class Instruments {
  readonly tracer: Tracer = trace.getTracer(SCOPE, DRAFT_REVISION);
  readonly meter: Meter = metrics.getMeter(SCOPE, DRAFT_REVISION);
  #clientDurations: Histogram | undefined;

  /** Starts to measure a call of a client. The returned function records its time in seconds. */
  beginClientCall(): (attributes: Attributes) => void {
    this.#clientDurations ??= this.meter.createHistogram(METRICS.clientDuration.name, METRICS.clientDuration);
    const durations = this.#clientDurations;
    const began = performance.now();
    return (attributes) => durations.record((performance.now() - began) / 1_000, attributes);
  }
}
