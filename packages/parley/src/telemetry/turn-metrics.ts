import type { Histogram, Meter, MetricAttributes } from './meter.js';
import { METRICS } from './metric-names.js';

/** A time of a turn, in ms. */
export interface TurnTime {
  readonly agent: string;
  /**
   * - `queueWait`: from the acceptance of the message to the call of the agent
   * - `firstEvent`: from that call to the first output, or to the end of the turn
   * - `taskDuration`: from that call until this process no longer writes the turn
   */
  readonly time: 'queueWait' | 'firstEvent' | 'taskDuration';
  readonly ms: number;
  /** With `taskDuration`: the last state in lower case, or `lost`. */
  readonly outcome?: string;
  /** With `queueWait`. */
  readonly attempt?: 'first' | 'again';
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

  record({ agent, time, ms, outcome, attempt }: TurnTime): void {
    const detail = outcome ?? attempt;
    const key = detail === undefined ? agent : `${agent}\n${detail}`;
    let attributes = this.#attributes.get(key);
    if (attributes === undefined) {
      attributes = { agent, ...(outcome !== undefined && { outcome }), ...(attempt !== undefined && { attempt }) };
      this.#attributes.set(key, attributes);
    }
    for (const histogram of this.#histograms[time]) histogram.record(ms / 1_000, attributes);
  }
}
