import type { Counter, Histogram, Meter, MetricAttributes } from './meter.js';
import { METRICS } from './metric-names.js';
import type { LimitName } from './reached-limit.js';
import type { ErrorFigures, RequestFigures } from './server-figures.js';

/** The call in an answered request. Unknown members are absent. */
interface AnsweredCall {
  readonly operation: string | undefined;
  readonly binding: string;
  readonly version: string | undefined;
  /** `OK`, or the code of an error. */
  readonly code: string;
}

/** An error in an answer. */
interface ToldError {
  readonly kind: keyof ErrorFigures;
  /** The HTTP status, or the number of the error. */
  readonly code: string;
  /** The name of the error, if it has one. */
  readonly reason?: string;
}

type CountedAttributes = Readonly<Record<'operation' | 'binding' | 'version' | 'code', string>>;

/** The attributes of a request, for the counter and for the histogram. */
interface Series {
  readonly counted: CountedAttributes;
  readonly timed: MetricAttributes;
}

const UNKNOWN = 'none';

/** Counts requests, their durations and errors. */
export class RequestMetrics implements RequestFigures {
  requests = 0;
  errors = 0;
  readonly errorsByCode: { readonly [Kind in keyof ErrorFigures]: Record<string, number> } = {
    http: {},
    jsonRpc: {},
    stream: {},
  };
  readonly #counters: readonly Counter[];
  readonly #errorCounters: readonly Counter[];
  readonly #limitCounters: readonly Counter[];
  readonly #durations: readonly Histogram[];
  /** One per combination of values, created once, because most requests repeat one. */
  readonly #series = new Map<string, Series>();
  #last: Series = { counted: { operation: '', binding: '', version: '', code: '' }, timed: {} };

  constructor(meters: readonly Meter[]) {
    this.#counters = meters.map((meter) => meter.createCounter(METRICS.requests.name, METRICS.requests));
    this.#errorCounters = meters.map((meter) => meter.createCounter(METRICS.errors.name, METRICS.errors));
    this.#limitCounters = meters.map((meter) => meter.createCounter(METRICS.limitsReached.name, METRICS.limitsReached));
    this.#durations = meters.map((meter) =>
      meter.createHistogram(METRICS.operationDuration.name, METRICS.operationDuration),
    );
  }

  /** Counts an answered request, and the call in it if there is one. */
  answered(call: AnsweredCall | undefined, answer: { readonly status: number; readonly seconds: number }): void {
    this.requests++;
    const { operation = UNKNOWN, binding = UNKNOWN, version = UNKNOWN, code = String(answer.status) } = call ?? {};
    const last = this.#last.counted;
    const isSame =
      last.operation === operation && last.binding === binding && last.version === version && last.code === code;
    if (!isSame) this.#last = this.#seriesOf({ operation, binding, version, code });
    const { counted, timed } = this.#last;
    for (const counter of this.#counters) counter.add(1, counted);
    for (const histogram of this.#durations) histogram.record(answer.seconds, timed);
  }

  /** Counts a request that was refused with a status before it was handled. It has no duration. */
  refused(status: number): void {
    const code = String(status);
    this.requests++;
    const attributes = { operation: UNKNOWN, binding: UNKNOWN, version: UNKNOWN, code };
    for (const counter of this.#counters) counter.add(1, attributes);
    this.told({ kind: 'http', code });
    if (status === 500) this.failed();
  }

  /** Counts an error by its code. */
  told({ kind, code, reason = UNKNOWN }: ToldError): void {
    const counts = this.errorsByCode[kind];
    counts[code] = (counts[code] ?? 0) + 1;
    for (const counter of this.#errorCounters) counter.add(1, { kind, code, reason });
  }

  /** Counts a request that a limit refused. */
  limited(limit: LimitName): void {
    for (const counter of this.#limitCounters) counter.add(1, { limit });
  }

  /** Counts a failure that the server caused. */
  failed(): void {
    this.errors++;
  }

  #seriesOf(counted: CountedAttributes): Series {
    const { operation, binding, version, code } = counted;
    const key = `${operation} ${binding} ${version} ${code}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const series = { counted, timed: { operation, binding } };
    this.#series.set(key, series);
    return series;
  }
}
