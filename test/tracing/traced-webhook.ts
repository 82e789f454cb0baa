import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

const TRACEPARENT = /^00-(\w{32})-(\w{16})-01$/;

/** The webhook of an application that makes spans. It refuses the first requests. */
export function tracedWebhook(refused: number): RequestListener {
  let count = 0;
  return async (request, response) => {
    const { headers } = request;
    const [, traceId = '', spanId = ''] = TRACEPARENT.exec(String(headers.traceparent)) ?? [];
    const parent = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1, isRemote: true });
    const span = trace.getTracer('webhook').startSpan('webhook', { kind: SpanKind.SERVER }, parent);
    await text(request);
    span.setAttribute('test.notification', String(headers['x-a2a-notification-id']));
    count += 1;
    if (count <= refused) span.setStatus({ code: SpanStatusCode.ERROR });
    response.writeHead(count <= refused ? 503 : 204).end();
    span.end();
  };
}
