import type { Histogram, Meter, MetricAttributes } from './meter.js';
import { METRICS } from './metric-names.js';

/** A time of a turn, in ms. */
export interface TurnTime {
  readonly agent: string;
  /**
   * - `queueWait`: from the message to the call of the agent, if the time of the message is known
   * - `firstEvent`: from that call to the first output, or to the end of the turn
   * - `taskDuration`: from that call until this process no longer writes the turn
   */
  readonly time: 'queueWait' | 'firstEvent' | 'taskDuration';
  readonly ms: number;
  /** With `taskDuration`: the last state in lower case, or `lost`. */
  readonly outcome?: string;
}

/** Times of turns. */
export class TurnMetrics {
  readonly #histograms: { readonly [Time in TurnTime['time']]: readonly Histogram[] };
  /** One per combination of values: the same object is found without comparing its values. */
  readonly #attributes = new Map<string, MetricAttributes>();

  constructor(meters: readonly Meter[]) {
    const histograms = (metric: { readonly name: string; readonly unit: string }) =>
      meters.map((meter) => meter.createHistogram(metric.name, metric));
    const { queueWait, firstEvent, taskDuration } = METRICS;
    this.#histograms = {
      queueWait: histograms(queueWait),
      firstEvent: histograms(firstEvent),
      taskDuration: histograms(taskDuration),
    };
  }

  record({ agent, time, ms, outcome }: TurnTime): void {
    const key = outcome === undefined ? agent : `${agent}\n${outcome}`;
    let attributes = this.#attributes.get(key);
    if (attributes === undefined) {
      attributes = outcome === undefined ? { agent } : { agent, outcome };
      this.#attributes.set(key, attributes);
    }
    for (const histogram of this.#histograms[time]) histogram.record(ms / 1_000, attributes);
  }
}
