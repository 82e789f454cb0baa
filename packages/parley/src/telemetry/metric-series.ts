import type { MetricAttributes } from './meter.js';

const NONE: MetricAttributes = Object.freeze({});

/** The values of an instrument, for each set of attributes. */
export class MetricSeries<T> {
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
