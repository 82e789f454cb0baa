import { context, SpanKind, trace } from '@opentelemetry/api';
import type { LogFields, Logger } from 'parley-a2a';
import type { HostExtension } from 'parley-a2a/binding-kit';
import type { ClientCallContext } from 'parley-a2a/client';
import type { Interceptor } from 'parley-a2a/server';
import { methodOf, requestFacts } from './call-facts.js';
import { DRAFT } from './conventions.js';
import { Instruments } from './instruments.js';
import { ServerTracing } from './server-tracing.js';
import { traceparentOf } from './trace-context.js';
import { traceCall } from './traced-call.js';

export { DRAFT_REVISION } from './conventions.js';

/**
 * Spans and metrics of the calls and turns of a server, for its option `tracing`. They go to the SDK of OpenTelemetry
 * that the application has registered. Without one nothing is recorded.
 */
export function serverTracing(): HostExtension {
  return new ServerTracing(new Instruments());
}

/** Spans and metrics of the calls of a client, for its option `interceptors`. Passes the trace on by `traceparent`. */
export function clientTracing(): Interceptor<ClientCallContext> {
  const instruments = new Instruments();
  return (call, next) => {
    const name = methodOf(call);
    const attributes = { [DRAFT.method]: name, ...requestFacts(call) };
    const span = instruments.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context.active());
    const traceparent = traceparentOf(span.spanContext());
    const { headers } = call.context;
    const passed =
      traceparent === undefined
        ? call
        : { ...call, context: { ...call.context, headers: { ...headers, traceparent } } };
    return traceCall({ ...call, span, kind: 'client', instruments }, () => next(passed));
  };
}

/** A logger whose lines have the `trace_id` and `span_id` of the span that is active. */
export function addTraceIds(logger: Logger): Logger {
  const writerOf = (level: keyof Logger) => (message: string, fields?: LogFields) => {
    const active = trace.getActiveSpan()?.spanContext();
    const ids = active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
    logger[level](message, active === undefined ? fields : { ...fields, ...ids });
  };
  return { debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn'), error: writerOf('error') };
}
