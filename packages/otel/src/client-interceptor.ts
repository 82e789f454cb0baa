import { context, SpanKind, trace } from '@opentelemetry/api';
import type { ClientCallContext } from 'parley-a2a/client';
import type { Interceptor } from 'parley-a2a/server';
import { methodOf, setRequestFacts } from './call-facts.js';
import { DRAFT } from './conventions.js';
import type { Instruments } from './instruments.js';
import type { Propagation } from './trace-context.js';
import { traceCall } from './traced-call.js';

/**
 * Makes a span of each call, and passes it on. It is a child of the span that is active. Without one, it is a child of
 * the `traceparent` that the call was given.
 */
export function clientInterceptor(instruments: Instruments, passing: Propagation): Interceptor<ClientCallContext> {
  return (call, next) => {
    if (!instruments.isTracing && instruments.meter === undefined) return next(call);
    // Its own trace context takes the place of the one that the call was given.
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
    // A stream may connect again.
    return traceCall({ operation, request, span, within, readsWithin: true, instruments }, () => next(passed));
  };
}
