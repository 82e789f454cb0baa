import {
  type Attributes,
  type Context,
  context,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  trace,
} from '@opentelemetry/api';
import type { AgentExecutor } from 'parley-a2a';
import type { HostEndpoint, HostExtension } from 'parley-a2a/binding-kit';
import type { ClientCallContext } from 'parley-a2a/client';
import { type AgentPlace, type AroundAgent, enterTrace, mapHandler, type TraceContext } from 'parley-a2a/kit';
import type { Interceptor, ServerCallContext } from 'parley-a2a/server';
import { methodOf, setRequestFacts } from './call-facts.js';
import { clientInterceptor } from './client-interceptor.js';
import { Content, type ContentOptions } from './content.js';
import { DRAFT } from './conventions.js';
import type { Instruments } from './instruments.js';
import { ServerSpans } from './server-spans.js';
import { Propagation } from './trace-context.js';
import { type TurnCourse, tracedAgent } from './traced-agent.js';
import { passCall, traceCall } from './traced-call.js';
import { WaitingCalls } from './waiting-calls.js';

/** The context key with which HTTP instrumentations share the span of a request with instrumentations of frameworks. */
const RPC_METADATA = Symbol.for('OpenTelemetry SDK Context Key RPC_METADATA');

/** Spans of the calls, turns, tools, agent calls and push notifications of a server. */
export class ServerTracing implements HostExtension {
  readonly callInterceptor: Interceptor<ClientCallContext>;
  readonly turnPorts: { readonly tracing: ServerSpans };
  /** The meter of the application, for the metrics of the host. */
  declare readonly meter?: Meter;
  readonly #instruments: Instruments;
  readonly #passing: Propagation;
  readonly #content: Content;
  readonly #waiting = new WaitingCalls();
  /** The running turns. */
  readonly #open = new Set<TurnCourse>();
  readonly #agents = new Map<string, Attributes>();

  constructor(instruments: Instruments, options: { readonly baggage?: readonly string[]; content?: ContentOptions }) {
    this.#instruments = instruments;
    this.#passing = new Propagation(options.baggage);
    this.#content = new Content(options.content);
    this.callInterceptor = clientInterceptor(instruments, this.#passing);
    const [passing, content, agents] = [this.#passing, this.#content, this.#agents];
    this.turnPorts = { tracing: new ServerSpans({ instruments, passing, content, agents }) };
    if (instruments.meter !== undefined) this.meter = instruments.meter;
  }

  endpoints(): readonly HostEndpoint[] {
    return [];
  }

  /** Ends the spans of turns that did not end within the grace period. */
  async close(): Promise<void> {
    for (const turn of this.#open) turn.close();
  }

  aroundAgent({ id, name: agentName, version, hasEngine }: AgentPlace): AroundAgent {
    const agent: Attributes = { [DRAFT.agentName]: agentName, [DRAFT.agentVersion]: version };
    this.#agents.set(id, agent);
    const [instruments, passing, content, open] = [this.#instruments, this.#passing, this.#content, this.#open];
    const waiting = this.#waiting;
    return {
      handler: (handler) =>
        mapHandler(handler, (operation, method) => {
          const name = methodOf({ operation });
          // Only the attributes that samplers need, because a call that is not sampled pays for each.
          const attributes = { [DRAFT.method]: name, [DRAFT.agentName]: agentName };
          return (request, given) => {
            if (!instruments.isTracing) return method(request, given);
            const { version: spoken, traceparent: parent } = given;
            const { span, isBorrowed, within, isClean } = this.#spanOf(name, attributes, given);
            const trail = passing.write(within);
            const { traceparent } = trail;
            // The application has no tracer here.
            if (traceparent === undefined) return method(request, contextWith(given, { traceparent: parent }));
            const make = () => method(request, contextWith(given, trail, span.spanContext().traceId));
            // With an engine, only a subscription makes spans after its first event, because it reads the storage.
            const readsWithin = !hasEngine || !('message' in request);
            if (!span.isRecording()) return passCall({ within, readsWithin }, make);
            span.setAttribute(DRAFT.agentVersion, version).setAttribute(DRAFT.version, spoken);
            setRequestFacts(span, { request });
            const over = isAwaitedMessage(request)
              ? waiting.add(
                  { traceparent, method: name, parent },
                  isClean ? within : trace.setSpan(passing.readBaggage(given), span),
                )
              : undefined;
            return traceCall({ operation, request, span, within, isBorrowed, readsWithin, over }, make);
          };
        }),
      executor: (executor: AgentExecutor) =>
        tracedAgent(executor, { instruments, passing, content, open, agent, waiting }),
    };
  }

  /** Returns the span of an instrumentation around the call, or a new one. */
  #spanOf(name: string, attributes: Attributes, given: TraceContext) {
    const active = context.active();
    const around = active === ROOT_CONTEXT ? undefined : serverSpanIn(active);
    if (around !== undefined) {
      // The conventions define the span names of gRPC.
      if (!('rpc.system' in around.attributes)) around.updateName(name);
      return { span: around.setAttributes(attributes), isBorrowed: true, within: active, isClean: false };
    }
    const isClean = trace.getSpan(active) === undefined;
    const parent = isClean ? this.#passing.read(given) : active;
    const span = this.#instruments.tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    return { span, isBorrowed: false, within: trace.setSpan(parent, span), isClean };
  }
}

/** True for a message whose caller waits for the end of the turn, or follows its events. */
function isAwaitedMessage(request: object): boolean {
  if (!('message' in request)) return false;
  const { configuration } = request as { readonly configuration?: { readonly returnImmediately?: boolean } };
  return configuration?.returnImmediately !== true;
}

type ServerSpan = Span & { readonly attributes: Attributes };

/** Returns the span of the request. Instrumentations of frameworks make child spans of it. */
function serverSpanIn(active: Context): ServerSpan | undefined {
  const span = trace.getSpan(active);
  if (span !== undefined && isServerSpan(span)) return span;
  const around = (active.getValue(RPC_METADATA) as { readonly span?: Span } | undefined)?.span;
  return around !== undefined && isServerSpan(around) ? around : undefined;
}

/** Spans of an SDK have their kind and their attributes as members. */
function isServerSpan(span: Span): span is ServerSpan {
  return span.isRecording() && 'kind' in span && span.kind === SpanKind.SERVER && 'attributes' in span;
}

const SIGNAL: PropertyDescriptor & ThisType<CopiedContext> = {
  get() {
    return this.original.signal;
  },
  enumerable: true,
  configurable: true,
};

/** A copy of a call context. Its signal is read on demand, because making it costs more than a span. */
class CopiedContext {
  readonly original!: ServerCallContext;

  constructor(original: ServerCallContext) {
    Object.defineProperty(this, 'original', { value: original });
    for (const name in original) {
      if (!OWN_MEMBERS.has(name)) Object.assign(this, { [name]: original[name as keyof ServerCallContext] });
    }
    Object.defineProperty(this, 'signal', SIGNAL);
  }
}

/** Members that are not copied, such as baggage entries that are not allowed. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['signal', 'traceparent', 'tracestate', 'baggage']);

/**
 * Returns the context of a call with the trace to propagate. Calls over HTTP are changed in place, others are copied.
 */
function contextWith(original: ServerCallContext, trail: TraceContext, traceId?: string): ServerCallContext {
  if (enterTrace(original, trail, traceId)) return original;
  const copy: object = new CopiedContext(original);
  return Object.assign(copy as ServerCallContext, trail);
}
