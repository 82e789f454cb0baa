import {
  type Attributes,
  createNoopMeter,
  type Histogram,
  type Meter,
  metrics,
  type ProxyTracerProvider,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { METRICS } from 'parley-a2a/kit';
import { DRAFT_REVISION } from './conventions.js';

/** The name of this package in spans and metrics. */
const SCOPE = 'parley-a2a';

/** The tracer and the meter. Without an SDK of the application they record nothing. */
export class Instruments {
  readonly tracer: Tracer = trace.getTracer(SCOPE, DRAFT_REVISION);
  /** Absent if no meter is registered yet: metrics cannot be enabled later. */
  readonly meter: Meter | undefined;
  #isTracing = false;
  #clientDurations: Histogram | undefined;

  constructor() {
    const meter = metrics.getMeter(SCOPE, DRAFT_REVISION);
    if (meter !== createNoopMeter()) this.meter = meter;
  }

  /** True once the application has registered an SDK with a tracer, which it may do at any time. */
  get isTracing(): boolean {
    this.#isTracing ||= hasTracers();
    return this.#isTracing;
  }

  /** Starts to measure a call of a client. The returned function records its duration in seconds. */
  beginClientCall(): ((attributes: Attributes) => void) | undefined {
    if (this.meter === undefined) return undefined;
    this.#clientDurations ??= this.meter.createHistogram(METRICS.clientDuration.name, METRICS.clientDuration);
    const durations = this.#clientDurations;
    const began = performance.now();
    return (attributes) => durations.record((performance.now() - began) / 1_000, attributes);
  }
}

/** Without an SDK, the provider of the API has no delegate. */
function hasTracers(): boolean {
  const provider: Partial<ProxyTracerProvider> = trace.getTracerProvider();
  return provider.getDelegateTracer === undefined || provider.getDelegateTracer(SCOPE, DRAFT_REVISION) !== undefined;
}
