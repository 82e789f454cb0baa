import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { SimpleSpanProcessor, TracerProvider, type TracerProviderOptions } from '@opentelemetry/sdk-trace';

/**
 * Registers the SDK of a process. Each span goes to the receiver at once: a crash takes only open spans. `more`:
 * further options of the provider, such as a sampler.
 */
export function exportSpans(service: string, url: string, more: Partial<TracerProviderOptions> = {}): TracerProvider {
  const exporter = new OTLPTraceExporter({ url });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    ...more,
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return provider;
}
