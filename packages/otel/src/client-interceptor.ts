import { context, SpanKind, trace } from '@opentelemetry/api';
import type { ClientCallContext } from 'parley-a2a/client';
import type { Interceptor } from 'parley-a2a/server';
import { methodOf, setRequestFacts } from './call-facts.js';
import { DRAFT } from './conventions.js';
import type { Instruments } from './instruments.js';
import type { Propagation } from './trace-context.js';
import { traceCall } from './traced-call.js';

/**
 * Makes a span for each call, and propagates it. Its parent is the active span, otherwise the `traceparent` of the
 * call.
 */
export function clientInterceptor(instruments: Instruments, passing: Propagation): Interceptor<ClientCallContext> {
  return (call, next) => {
    if (!instruments.isTracing && instruments.meter === undefined) return next(call);
    // The trace context of the span replaces that of the call.
    const { traceparent: _, tracestate: __, baggage: ___, ...headers } = call.context.headers;
    const name = methodOf(call);
    const active = context.active();
    const parent = trace.getSpan(active) === undefined ? passing.read(call.context.headers, active) : active;
    const attributes = { [DRAFT.method]: name };
    const span = instruments.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent);
    if (span.isRecording()) setRequestFacts(span, call);
    const within = trace.setSpan(parent, span);
    const trail = passing.write(within);
    const passed =
      trail.traceparent === undefined
        ? call
        : { ...call, context: { ...call.context, headers: { ...headers, ...trail } } };
    const { operation, request } = call;
    // A stream may reconnect, within the same span.
    return traceCall({ operation, request, span, within, readsWithin: true, instruments }, () => next(passed));
  };
}
