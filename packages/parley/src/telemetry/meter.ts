/** Values that tell the series of an instrument apart. To give the same object for the same values saves work. */
export type MetricAttributes = Readonly<Record<string, string>>;

/** What an instrument measures. */
export interface InstrumentOptions {
  readonly description?: string;
  /** As UCUM has it: `s`, `By`; things that are counted stand in braces, `{request}`. */
  readonly unit?: string;
}

/** What a histogram measures. */
export interface HistogramOptions extends InstrumentOptions {
  readonly advice?: { readonly explicitBucketBoundaries?: number[] };
}

/** Something that only grows. */
export interface Counter {
  add(value: number, attributes?: MetricAttributes): void;
}

/** How values are distributed. */
export interface Histogram {
  record(value: number, attributes?: MetricAttributes): void;
}

/** Takes what a callback sees. */
export interface Observation {
  observe(value: number, attributes?: MetricAttributes): void;
}

/** Tells values when somebody wants to know. */
export type Observe = (observation: Observation) => void | Promise<void>;

/** An instrument that is looked at. */
export interface ObservableInstrument {
  addCallback(callback: Observe): void;
  removeCallback(callback: Observe): void;
}

/** What is used of a `Meter` of OpenTelemetry (`@opentelemetry/api`): every one of theirs is one of these. */
export interface Meter {
  createCounter(name: string, options?: InstrumentOptions): Counter;
  createHistogram(name: string, options?: HistogramOptions): Histogram;
  createObservableCounter(name: string, options?: InstrumentOptions): ObservableInstrument;
  createObservableGauge(name: string, options?: InstrumentOptions): ObservableInstrument;
}
