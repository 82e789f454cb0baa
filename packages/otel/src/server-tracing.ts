import { type Attributes, context, type Meter, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { AgentExecutor } from 'parley-a2a';
import type { HostEndpoint, HostExtension } from 'parley-a2a/binding-kit';
import { type AgentPlace, type AroundAgent, mapHandler } from 'parley-a2a/kit';
import { withTraceparent } from './call-context.js';
import { methodOf, requestFacts } from './call-facts.js';
import { DRAFT } from './conventions.js';
import type { Instruments } from './instruments.js';
import { contextBelow, spanContextOf, traceparentOf } from './trace-context.js';
import { tracedAgent } from './traced-agent.js';
import { traceCall } from './traced-call.js';

/** Spans of the calls and turns of a server. */
export class ServerTracing implements HostExtension {
  readonly #instruments: Instruments;
  /** The `traceparent` of each call whose caller waits for the turn. */
  readonly #waiting = new Set<string>();

  constructor(instruments: Instruments) {
    this.#instruments = instruments;
  }

  get meter(): Meter {
    return this.#instruments.meter;
  }

  endpoints(): readonly HostEndpoint[] {
    return [];
  }

  aroundAgent({ name, version }: AgentPlace): AroundAgent {
    const agent: Attributes = { [DRAFT.agentName]: name, [DRAFT.agentVersion]: version };
    const instruments = this.#instruments;
    return {
      handler: (handler) =>
        mapHandler(handler, (operation, method) => {
          const name = methodOf({ operation });
          const common = { [DRAFT.method]: name, ...agent };
          return (request, callContext) => {
            const { version: spoken, traceparent: cause } = callContext;
            const { span, isBorrowed } = this.#spanOf(name, { ...common, [DRAFT.version]: spoken }, cause);
            const traceparent = traceparentOf(span.spanContext());
            // No SDK of the application makes spans.
            if (traceparent === undefined) return method(request, callContext);
            if (span.isRecording()) span.setAttributes(requestFacts({ request }));
            const waits = isAwaited(request);
            if (waits) this.#waiting.add(traceparent);
            const over = () => void (waits && this.#waiting.delete(traceparent));
            const call = {
              operation,
              request,
              span,
              isBorrowed,
              kind: 'server',
              version: spoken,
              instruments,
              over,
            } as const;
            return traceCall(call, () => method(request, withTraceparent(callContext, traceparent)));
          };
        }),
      executor: (executor: AgentExecutor) =>
        tracedAgent(executor, { instruments, agent, name, isAwaited: (caller) => this.#waiting.has(caller) }),
    };
  }

  /** The span of an instrumentation around the call, or a new one. */
  #spanOf(name: string, attributes: Attributes, traceparent: string | undefined) {
    const around = trace.getActiveSpan();
    if (around !== undefined && isServerSpan(around)) {
      // The conventions keep the names of spans of gRPC.
      if (!('rpc.system' in around.attributes)) around.updateName(name);
      return { span: around.setAttributes(attributes), isBorrowed: true };
    }
    const parent = around === undefined ? contextBelow(spanContextOf(traceparent)) : context.active();
    const span = this.#instruments.tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    return { span, isBorrowed: false };
  }
}

/** True for a message whose caller waits for the end of the turn, or follows its events. */
function isAwaited(request: object): boolean {
  if (!('message' in request)) return false;
  const { configuration } = request as { readonly configuration?: { readonly returnImmediately?: boolean } };
  return configuration?.returnImmediately !== true;
}

/** Spans of an SDK tell their kind and their attributes. */
function isServerSpan(span: Span): span is Span & { readonly attributes: Attributes } {
  return span.isRecording() && 'kind' in span && span.kind === SpanKind.SERVER && 'attributes' in span;
}
