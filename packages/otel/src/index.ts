import { trace } from '@opentelemetry/api';
import type { LogFields, Logger } from 'parley-a2a';
import type { HostExtension } from 'parley-a2a/binding-kit';
import type { ClientCallContext } from 'parley-a2a/client';
import {
  checkOptions,
  func,
  type OptionSchemas,
  optionObject,
  positive,
  refuseArgument,
  Type,
  texts,
} from 'parley-a2a/kit';
import type { Interceptor } from 'parley-a2a/server';
import { clientInterceptor } from './client-interceptor.js';
import type { ContentOptions } from './content.js';
import { Instruments } from './instruments.js';
import { ServerTracing } from './server-tracing.js';
import { Propagation } from './trace-context.js';

export type { ContentOptions } from './content.js';
export { DRAFT_REVISION } from './conventions.js';

/** Options of `clientTracing`. */
interface ClientTracingOptions {
  /** Keys of W3C baggage that are propagated. Default: none. */
  readonly baggage?: readonly string[];
}

/** Options of `serverTracing`. */
interface ServerTracingOptions extends ClientTracingOptions {
  /** Records message content, and arguments and results of tools. Default: no span contains any. */
  readonly content?: ContentOptions;
}

const clientSchemas: OptionSchemas<ClientTracingOptions> = { baggage: Type.Optional(texts) };
const contentSchemas: OptionSchemas<ContentOptions> = { redact: func, maxLength: Type.Optional(positive) };
const serverSchemas: OptionSchemas<ServerTracingOptions> = {
  ...clientSchemas,
  content: Type.Optional(optionObject(contentSchemas)),
};

/**
 * Spans and metrics of a server, for its option `tracing`: of calls, turns, tools, calls of other agents and push
 * notifications. They are exported by the OpenTelemetry SDK that the application has registered. Without an SDK nothing
 * is recorded.
 * @throws OptionsError naming every option that is unknown or invalid.
 */
export function serverTracing(options: ServerTracingOptions = {}): HostExtension {
  checkOptions({ subject: 'serverTracing', schema: optionObject(serverSchemas), options });
  return new ServerTracing(new Instruments(), options);
}

/**
 * Spans and metrics of the calls of a client, for its option `interceptors`. Propagates the trace.
 * @throws OptionsError naming every option that is unknown or invalid.
 */
export function clientTracing(options: ClientTracingOptions = {}): Interceptor<ClientCallContext> {
  checkOptions({ subject: 'clientTracing', schema: optionObject(clientSchemas), options });
  return clientInterceptor(new Instruments(), new Propagation(options.baggage));
}

/** Returns a logger that adds the `trace_id` and `span_id` of the active span to each line. */
export function addTraceIds(logger: Logger): Logger {
  if (typeof Object(logger).info !== 'function') refuseArgument('addTraceIds', 'a logger', logger);
  const writerOf = (level: keyof Logger) => (message: string, fields?: LogFields) => {
    const active = trace.getActiveSpan()?.spanContext();
    const ids = active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
    logger[level](message, active === undefined ? fields : { ...fields, ...ids });
  };
  return { debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn'), error: writerOf('error') };
}
