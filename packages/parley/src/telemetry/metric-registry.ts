import type {
  Counter,
  Histogram,
  HistogramOptions,
  InstrumentOptions,
  Meter,
  MetricAttributes,
  ObservableInstrument,
  Observation,
  Observe,
} from './meter.js';
import type { HistogramPoint, MetricFamily, MetricPoint } from './metric-family.js';

/** The default boundaries of OpenTelemetry. */
const BOUNDARIES = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000];

interface Instrument {
  collect(): MetricFamily | Promise<MetricFamily>;
}

/** A meter that keeps the values of its instruments until the process ends. */
export class MetricRegistry implements Meter {
  readonly #instruments: Instrument[] = [];

  createCounter(name: string, options: InstrumentOptions = {}): Counter {
    return this.#add(new KeptCounter(headOf(name, options)));
  }

  createHistogram(name: string, options: HistogramOptions = {}): Histogram {
    const boundaries = options.advice?.explicitBucketBoundaries ?? BOUNDARIES;
    return this.#add(new KeptHistogram(headOf(name, options), boundaries));
  }

  createObservableCounter(name: string, options: InstrumentOptions = {}): ObservableInstrument {
    return this.#add(new Observed(headOf(name, options), 'counter'));
  }

  createObservableGauge(name: string, options: InstrumentOptions = {}): ObservableInstrument {
    return this.#add(new Observed(headOf(name, options), 'gauge'));
  }

  /** All current values, in the order in which the instruments were created. */
  collect(): Promise<readonly MetricFamily[]> {
    return Promise.all(this.#instruments.map((instrument) => instrument.collect()));
  }

  #add<I extends Instrument>(instrument: I): I {
    this.#instruments.push(instrument);
    return instrument;
  }
}

interface Head {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
}

function headOf(name: string, { description = '', unit = '' }: InstrumentOptions): Head {
  return { name, description, unit };
}

class KeptCounter implements Counter, Instrument {
  readonly #head: Head;
  readonly #series = new MetricSeries(() => ({ value: 0 }));

  constructor(head: Head) {
    this.#head = head;
  }

  add(value: number, attributes?: MetricAttributes): void {
    this.#series.of(attributes).value += value;
  }

  collect(): MetricFamily {
    const points = this.#series.entries.map(([attributes, { value }]): MetricPoint => ({ attributes, value }));
    return { ...this.#head, kind: 'counter', points };
  }
}

interface Distribution {
  count: number;
  sum: number;
  readonly buckets: number[];
}

class KeptHistogram implements Histogram, Instrument {
  readonly #head: Head;
  readonly #boundaries: readonly number[];
  readonly #series: MetricSeries<Distribution>;

  constructor(head: Head, boundaries: readonly number[]) {
    this.#head = head;
    this.#boundaries = boundaries;
    this.#series = new MetricSeries(() => ({
      count: 0,
      sum: 0,
      buckets: new Array<number>(boundaries.length + 1).fill(0),
    }));
  }

  record(value: number, attributes?: MetricAttributes): void {
    const distribution = this.#series.of(attributes);
    distribution.count++;
    distribution.sum += value;
    const boundaries = this.#boundaries;
    let at = 0;
    while (at < boundaries.length && value > (boundaries[at] as number)) at++;
    distribution.buckets[at] = (distribution.buckets[at] ?? 0) + 1;
  }

  collect(): MetricFamily {
    const points = this.#series.entries.map(
      ([attributes, { count, sum, buckets }]): HistogramPoint => ({ attributes, count, sum, buckets: [...buckets] }),
    );
    return { ...this.#head, kind: 'histogram', boundaries: this.#boundaries, points };
  }
}

class Observed implements ObservableInstrument, Instrument {
  readonly #head: Head;
  readonly #kind: 'counter' | 'gauge';
  readonly #callbacks = new Set<Observe>();

  constructor(head: Head, kind: 'counter' | 'gauge') {
    this.#head = head;
    this.#kind = kind;
  }

  addCallback(callback: Observe): void {
    this.#callbacks.add(callback);
  }

  removeCallback(callback: Observe): void {
    this.#callbacks.delete(callback);
  }

  async collect(): Promise<MetricFamily> {
    const points: MetricPoint[] = [];
    const observation: Observation = {
      observe: (value, attributes = {}) => void points.push({ attributes, value }),
    };
    await Promise.all([...this.#callbacks].map((callback) => callback(observation)));
    return { ...this.#head, kind: this.#kind, points };
  }
}

const NONE: MetricAttributes = Object.freeze({});

/** The values of an instrument, for each set of attributes. */
class MetricSeries<T> {
  readonly #make: () => T;
  #lastAttributes: MetricAttributes | undefined;
  #lastSeries: T | undefined;
  readonly #known = new WeakMap<MetricAttributes, T>();
  readonly #byValue = new Map<string, readonly [MetricAttributes, T]>();

  constructor(make: () => T) {
    this.#make = make;
  }

  /** Returns the series of these attributes. The same object is found without comparing its values. */
  of(attributes: MetricAttributes = NONE): T {
    // Consecutive calls often have the same attributes.
    if (attributes === this.#lastAttributes && this.#lastSeries !== undefined) return this.#lastSeries;
    const series = this.#known.get(attributes) ?? this.#find(attributes);
    this.#lastAttributes = attributes;
    this.#lastSeries = series;
    return series;
  }

  get entries(): readonly (readonly [MetricAttributes, T])[] {
    return [...this.#byValue.values()];
  }

  #find(attributes: MetricAttributes): T {
    const key = JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
    const [, series] = this.#byValue.get(key) ?? this.#add(key, { ...attributes });
    this.#known.set(attributes, series);
    return series;
  }

  #add(key: string, attributes: MetricAttributes): readonly [MetricAttributes, T] {
    const entry = [attributes, this.#make()] as const;
    this.#byValue.set(key, entry);
    return entry;
  }
}
