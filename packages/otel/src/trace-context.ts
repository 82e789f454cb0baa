import {
  type Baggage,
  type Context,
  createTraceState,
  INVALID_TRACEID,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import type { TraceContext } from 'parley-a2a/kit';

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/;
/** The minimum length of `tracestate` that every participant must propagate (W3C Trace Context §3.3.1.5). */
const STATE_LENGTH = 512;
/** Limits of the baggage: length of its header, number of entries, and length of values. */
const BAGGAGE_LENGTH = 8_192;
const BAGGAGE_ENTRIES = 32;
const VALUE_LENGTH = 256;

/** Reads and writes W3C trace contexts. Only allowed baggage entries pass, in both directions. */
export class Propagation {
  readonly #allowed: ReadonlySet<string>;

  /** `allowed`: keys of baggage entries. */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = new Set(allowed);
  }

  /** Returns the context of a call: `base` with the remote span, and with the baggage unless it already has some. */
  read(given: TraceContext, base = ROOT_CONTEXT): Context {
    const parent = spanContextOf(given);
    const within = parent === undefined ? base : trace.setSpanContext(base, parent);
    if (given.baggage === undefined || propagation.getBaggage(base) !== undefined) return within;
    return this.#withBaggage(within, given.baggage);
  }

  /** Returns the baggage of a call, without its span. */
  readBaggage({ baggage }: TraceContext): Context {
    return this.#withBaggage(ROOT_CONTEXT, baggage);
  }

  /** Returns the headers that propagate a context. Empty if it has no valid span. */
  write(within: Context): { traceparent?: string; tracestate?: string; baggage?: string } {
    const span = trace.getSpanContext(within);
    const traceparent = span && traceparentOf(span);
    if (span === undefined || traceparent === undefined) return {};
    const written: { traceparent: string; tracestate?: string; baggage?: string } = { traceparent };
    const tracestate = span.traceState?.serialize() ?? '';
    if (tracestate !== '' && tracestate.length <= STATE_LENGTH) written.tracestate = tracestate;
    if (this.#allowed.size === 0) return written;
    const entries = this.#allowedEntries(propagation.getBaggage(within));
    const baggage = entries.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join(',');
    if (baggage !== '') written.baggage = baggage;
    return written;
  }

  #withBaggage(within: Context, header: string | undefined): Context {
    if (this.#allowed.size === 0 || header === undefined || header.length > BAGGAGE_LENGTH) return within;
    const pairs = header.split(',').map((member) => pairOf(member));
    const read = propagation.createBaggage(Object.fromEntries(pairs.map(([key, value]) => [key, { value }])));
    const passed = this.#allowedEntries(read);
    if (passed.length === 0) return within;
    const entries = Object.fromEntries(passed.map(([key, value]) => [key, { value }]));
    return propagation.setBaggage(within, propagation.createBaggage(entries));
  }

  #allowedEntries(baggage: Baggage | undefined): readonly (readonly [string, string])[] {
    const entries = baggage?.getAllEntries() ?? [];
    return entries
      .filter(([key, { value }]) => this.#allowed.has(key) && value.length <= VALUE_LENGTH)
      .slice(0, BAGGAGE_ENTRIES)
      .map(([key, { value }]) => [key, value]);
  }
}

/** Returns the key and the value of a member of the header, without its properties. */
function pairOf(member: string): readonly [string, string] {
  const [pair = ''] = member.split(';');
  const at = pair.indexOf('=');
  if (at < 0) return ['', ''];
  const value = pair.slice(at + 1).trim();
  try {
    return [pair.slice(0, at).trim(), decodeURIComponent(value)];
  } catch {
    return [pair.slice(0, at).trim(), value];
  }
}

/** Returns the span in a trace context; undefined if there is none. */
export function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? [];
  const state =
    tracestate !== undefined && tracestate.length <= STATE_LENGTH ? createTraceState(tracestate) : undefined;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  const found = { traceId, spanId, traceFlags, isRemote: true, ...(state && { traceState: state }) };
  return isSpanContextValid(found) ? found : undefined;
}

/** Returns the `traceparent` of a span; undefined for that of a tracer without an SDK. */
export function traceparentOf(span: SpanContext): string | undefined {
  // Those of other spans have been checked when they were read.
  if (span.traceId === INVALID_TRACEID) return undefined;
  return `00-${span.traceId}-${span.spanId}-0${span.traceFlags & 1}`;
}
