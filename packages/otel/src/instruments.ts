import { type Attributes, type Histogram, metrics, type Tracer, trace, type UpDownCounter } from '@opentelemetry/api';
import { BUCKETS, DRAFT_REVISION, DURATIONS, IN_PROGRESS } from './conventions.js';

/** Names this package in spans and metrics. */
const SCOPE = 'parley-a2a';

/** The tracer and the instruments. Without an SDK of the application they do nothing. */
export class Instruments {
  readonly tracer: Tracer = trace.getTracer(SCOPE, DRAFT_REVISION);
  readonly durations: Readonly<Record<keyof typeof DURATIONS, Histogram>>;
  readonly inProgress: UpDownCounter;

  constructor() {
    const meter = metrics.getMeter(SCOPE, DRAFT_REVISION);
    const seconds = (name: string) =>
      meter.createHistogram(name, { unit: 's', advice: { explicitBucketBoundaries: [...BUCKETS] } });
    this.durations = {
      client: seconds(DURATIONS.client),
      server: seconds(DURATIONS.server),
      task: seconds(DURATIONS.task),
      firstEvent: seconds(DURATIONS.firstEvent),
    };
    this.inProgress = meter.createUpDownCounter(IN_PROGRESS, { unit: '{turn}' });
  }

  /** Starts to measure a time. The returned function records it in seconds. */
  begin(name: keyof typeof DURATIONS): (attributes: Attributes) => void {
    const began = performance.now();
    return (attributes) => this.durations[name].record((performance.now() - began) / 1_000, attributes);
  }
}
