import type { Histogram, Meter, MetricAttributes } from './meter.js';
import { METRICS } from './metric-names.js';

/** Times of turns. */
export class TurnMetrics {
  readonly #waits: readonly Histogram[];
  readonly #firstEvents: readonly Histogram[];
  readonly #durations: readonly Histogram[];
  /** One per combination: the same object is recognized without comparing its values. */
  readonly #attributes = new Map<string, MetricAttributes>();

  constructor(meters: readonly Meter[]) {
    const histograms = (metric: { readonly name: string; readonly unit: string }) =>
      meters.map((meter) => meter.createHistogram(metric.name, metric));
    this.#waits = histograms(METRICS.queueWait);
    this.#firstEvents = histograms(METRICS.firstEvent);
    this.#durations = histograms(METRICS.taskDuration);
  }

  began(agent: string, waitedMs: number | undefined): void {
    if (waitedMs === undefined) return;
    record(this.#waits, waitedMs, this.#of({ agent }));
  }

  answered(agent: string, afterMs: number): void {
    record(this.#firstEvents, afterMs, this.#of({ agent }));
  }

  ended(agent: string, { outcome, ms }: { readonly outcome: string; readonly ms: number }): void {
    record(this.#durations, ms, this.#of({ agent, outcome }));
  }

  #of(attributes: MetricAttributes): MetricAttributes {
    const key = `${attributes.agent}\n${attributes.outcome}`;
    const known = this.#attributes.get(key);
    if (known !== undefined) return known;
    this.#attributes.set(key, attributes);
    return attributes;
  }
}

function record(histograms: readonly Histogram[], ms: number, attributes: MetricAttributes): void {
  for (const histogram of histograms) histogram.record(ms / 1_000, attributes);
}
