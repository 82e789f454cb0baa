import { type Attributes, type Context, context, type Meter, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { AgentExecutor } from 'parley-a2a';
import type { HostEndpoint, HostExtension } from 'parley-a2a/binding-kit';
import type { ClientCallContext } from 'parley-a2a/client';
import { type AgentPlace, type AroundAgent, mapHandler, type TraceContext, type WaitingCall } from 'parley-a2a/kit';
import type { Interceptor } from 'parley-a2a/server';
import { contextWith } from './call-context.js';
import { methodOf, requestFacts } from './call-facts.js';
import { clientInterceptor } from './client-interceptor.js';
import { Content, type ContentOptions } from './content.js';
import { DRAFT } from './conventions.js';
import type { Instruments } from './instruments.js';
import { nameTrace, ServerSpans } from './server-spans.js';
import { Propagation } from './trace-context.js';
import { tracedAgent } from './traced-agent.js';
import { traceCall } from './traced-call.js';

/** The key under which instrumentations of HTTP keep the span of a request, for those of frameworks. */
const RPC_METADATA = Symbol.for('OpenTelemetry SDK Context Key RPC_METADATA');

/** Spans of the calls, turns, tools, agent calls and push notifications of a server. */
export class ServerTracing implements HostExtension {
  readonly callInterceptor: Interceptor<ClientCallContext>;
  readonly turnPorts: { readonly tracing: ServerSpans };
  readonly #instruments: Instruments;
  readonly #passing: Propagation;
  readonly #content: Content;
  /** Each call whose caller waits for the turn, by its `traceparent`. */
  readonly #waiting = new Map<string, WaitingCall>();
  /** Ends each turn that runs. */
  readonly #open = new Set<() => void>();
  readonly #agents = new Map<string, Attributes>();

  constructor(instruments: Instruments, options: { readonly baggage?: readonly string[]; content?: ContentOptions }) {
    this.#instruments = instruments;
    this.#passing = new Propagation(options.baggage);
    this.#content = new Content(options.content);
    this.callInterceptor = clientInterceptor(instruments, this.#passing);
    const [passing, content, agents] = [this.#passing, this.#content, this.#agents];
    this.turnPorts = { tracing: new ServerSpans({ tracer: instruments.tracer, passing, content, agents }) };
  }

  /** The meter of the host, for its metrics. */
  get meter(): Meter {
    return this.#instruments.meter;
  }

  endpoints(): readonly HostEndpoint[] {
    return [];
  }

  /** Ends the spans of turns that did not end within the grace. */
  async close(): Promise<void> {
    for (const end of this.#open) end();
  }

  aroundAgent({ id, name, version }: AgentPlace): AroundAgent {
    const agent: Attributes = { [DRAFT.agentName]: name, [DRAFT.agentVersion]: version };
    this.#agents.set(id, agent);
    const [instruments, passing, content, open] = [this.#instruments, this.#passing, this.#content, this.#open];
    return {
      handler: (handler) =>
        mapHandler(handler, (operation, method) => {
          const name = methodOf({ operation });
          const common = { [DRAFT.method]: name, ...agent };
          return (request, given) => {
            const { version: spoken, traceparent: parent } = given;
            const { span, isBorrowed, within } = this.#spanOf(name, { ...common, [DRAFT.version]: spoken }, given);
            const trail = passing.write(within);
            const { traceparent } = trail;
            // No SDK of the application makes spans.
            if (traceparent === undefined) return method(request, contextWith(given, trail));
            nameTrace(span);
            if (span.isRecording()) span.setAttributes(requestFacts({ request }));
            const waits = isAwaited(request);
            if (waits) {
              const call = { traceparent, method: name, since: Date.now(), ...(parent !== undefined && { parent }) };
              this.#waiting.set(traceparent, call);
            }
            const over = () => void (waits && this.#waiting.delete(traceparent));
            const call = { operation, request, span, within, isBorrowed, version: spoken, instruments, over };
            return traceCall({ ...call, kind: 'server' }, () => method(request, contextWith(given, trail)));
          };
        }),
      executor: (executor: AgentExecutor) =>
        tracedAgent(executor, {
          ...{ instruments, passing, content, open, agent },
          waitingCall: (traceparent) => this.#waiting.get(traceparent),
        }),
    };
  }

  /** The span of an instrumentation around the call, or a new one. */
  #spanOf(name: string, attributes: Attributes, given: TraceContext) {
    const active = context.active();
    const around = serverSpanIn(active);
    if (around !== undefined) {
      // The conventions keep the names of spans of gRPC.
      if (!('rpc.system' in around.attributes)) around.updateName(name);
      return { span: around.setAttributes(attributes), isBorrowed: true, within: active };
    }
    const parent = trace.getSpan(active) === undefined ? this.#passing.read(given) : active;
    const span = this.#instruments.tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    return { span, isBorrowed: false, within: trace.setSpan(parent, span) };
  }
}

/** True for a message whose caller waits for the end of the turn, or follows its events. */
function isAwaited(request: object): boolean {
  if (!('message' in request)) return false;
  const { configuration } = request as { readonly configuration?: { readonly returnImmediately?: boolean } };
  return configuration?.returnImmediately !== true;
}

type ServerSpan = Span & { readonly attributes: Attributes };

/** The span of the request. Instrumentations of frameworks make other spans below it. */
function serverSpanIn(active: Context): ServerSpan | undefined {
  const metadata = active.getValue(RPC_METADATA) as { readonly span?: Span } | undefined;
  return [trace.getSpan(active), metadata?.span].find((span) => span !== undefined && isServerSpan(span)) as
    | ServerSpan
    | undefined;
}

/** Spans of an SDK tell their kind and their attributes. */
function isServerSpan(span: Span): boolean {
  return span.isRecording() && 'kind' in span && span.kind === SpanKind.SERVER && 'attributes' in span;
}
