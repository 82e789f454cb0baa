/** Values that identify a series of an instrument. Passing the same object for the same values is faster. */
export type MetricAttributes = Readonly<Record<string, string>>;

/** Description of an instrument. */
export interface InstrumentOptions {
  readonly description?: string;
  /** In UCUM: `s`, `By`. Counted things are in braces, such as `{request}`. */
  readonly unit?: string;
}

/** Description of a histogram. */
export interface HistogramOptions extends InstrumentOptions {
  readonly advice?: { readonly explicitBucketBoundaries?: number[] };
}

/** A sum that only grows. */
export interface Counter {
  add(value: number, attributes?: MetricAttributes): void;
}

/** A distribution of values. */
export interface Histogram {
  record(value: number, attributes?: MetricAttributes): void;
}

/** Receives the values of a callback. */
export interface Observation {
  observe(value: number, attributes?: MetricAttributes): void;
}

/** Reports current values on demand. */
export type Observe = (observation: Observation) => void | Promise<void>;

/** An instrument whose values a callback reports. */
export interface ObservableInstrument {
  addCallback(callback: Observe): void;
  removeCallback(callback: Observe): void;
}

/**
 * The part of a `Meter` of OpenTelemetry (`@opentelemetry/api`) that the library uses. Every such meter can be passed.
 */
export interface Meter {
  createCounter(name: string, options?: InstrumentOptions): Counter;
  createHistogram(name: string, options?: HistogramOptions): Histogram;
  createObservableCounter(name: string, options?: InstrumentOptions): ObservableInstrument;
  createObservableGauge(name: string, options?: InstrumentOptions): ObservableInstrument;
}
