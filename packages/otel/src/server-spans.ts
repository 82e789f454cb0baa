import { type Attributes, context, type Link, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  isSampled,
  type LostAttempt,
  type TraceContext,
  type TracedDelivery,
  type TracedResult,
  type TracedTool,
  type Tracing,
} from 'parley-a2a/kit';
import { failSpan, toolErrorType } from './call-facts.js';
import type { Content } from './content.js';
import { DRAFT, OWN, STABLE } from './conventions.js';
import type { Instruments } from './instruments.js';
import { type Propagation, spanContextOf, traceparentOf } from './trace-context.js';

/** Options of `ServerSpans`. */
interface ServerSpansOptions {
  readonly instruments: Instruments;
  readonly passing: Propagation;
  readonly content: Content;
  /** The attributes of each agent, by the id of its task space. */
  readonly agents: ReadonlyMap<string, Attributes>;
}

/** The error type of spans that were lost with their process. */
const LOST = 'process_lost';

/** Makes the spans of a server other than those of calls and turns. */
export class ServerSpans implements Tracing {
  readonly #options: ServerSpansOptions;

  constructor(options: ServerSpansOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#options.instruments.isTracing;
  }

  active(): TraceContext {
    return this.#options.passing.write(context.active());
  }

  lost({ agent, taskId, contextId, messageId, attempt, cause, trace: stored, since, fate }: LostAttempt) {
    const { passing, agents } = this.#options;
    const { tracer } = this.#options.instruments;
    const { call, traceparent, before } = stored ?? {};
    // The call was not sampled, and neither was its turn.
    if (stored === undefined && cause.traceparent !== undefined && !isSampled(cause.traceparent)) return undefined;
    const facts = { ...agents.get(agent), [DRAFT.taskId]: taskId, [DRAFT.conversation]: contextId };
    let parent = ROOT_CONTEXT;
    if (call !== undefined) {
      const attributes = { ...facts, [DRAFT.method]: call.method, ...lostFacts(call.traceparent) };
      const options = { kind: SpanKind.SERVER, attributes, startTime: call.since };
      const ended = tracer.startSpan(call.method, options, passing.read({ traceparent: call.parent }));
      ended.setStatus({ code: SpanStatusCode.ERROR }).end();
      parent = trace.setSpan(ROOT_CONTEXT, ended);
    }
    const attributes = {
      ...facts,
      [DRAFT.operation]: 'invoke_agent',
      [DRAFT.messageId]: messageId,
      [OWN.attempt]: attempt,
      [OWN.fate]: fate,
      ...lostFacts(traceparent),
    };
    const options = {
      kind: SpanKind.INTERNAL,
      attributes,
      startTime: since,
      links: linksTo(call === undefined ? cause : undefined, before),
    };
    const span = tracer.startSpan(turnName(facts), options, parent);
    span.setStatus({ code: SpanStatusCode.ERROR }).end();
    return traceparentOf(span.spanContext());
  }

  async delivery<Result extends TracedResult>(
    { taskId, contextId, configId, seq, attempt, url, cause, before }: TracedDelivery,
    send: (headers: Readonly<Record<string, string>>) => Promise<Result>,
  ): Promise<Result> {
    const { instruments, passing } = this.#options;
    const attributes = {
      [DRAFT.taskId]: taskId,
      ...(contextId !== undefined && { [DRAFT.conversation]: contextId }),
      [OWN.pushConfig]: configId,
      [OWN.pushEvent]: seq,
      [OWN.pushAttempt]: attempt,
      [STABLE.httpMethod]: 'POST',
      ...addressFacts(url),
    };
    const links = linksTo({ traceparent: cause }, before);
    const options = { kind: SpanKind.CLIENT, attributes, links };
    const span = instruments.tracer.startSpan('send push_notification', options, ROOT_CONTEXT);
    const within = trace.setSpan(ROOT_CONTEXT, span);
    try {
      const result = await context.with(within, () => send(passing.write(within)));
      const failure = failureOf(result);
      if (result.kind === 'answer') span.setAttribute(STABLE.httpStatus, result.status);
      if (failure !== undefined) span.setAttribute(STABLE.errorType, failure).setStatus({ code: SpanStatusCode.ERROR });
      return result;
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  tool<Result>({ name, callId, taskId, input }: TracedTool, run: () => Result): Result {
    const { instruments, content } = this.#options;
    const attributes = {
      [DRAFT.operation]: 'execute_tool',
      [DRAFT.toolName]: name,
      [DRAFT.toolCallId]: callId,
      [DRAFT.toolType]: 'function',
      ...(taskId !== undefined && { [DRAFT.taskId]: taskId }),
    };
    const span = instruments.tracer.startSpan(`execute_tool ${name}`, { kind: SpanKind.INTERNAL, attributes });
    content.recordJson(span, DRAFT.toolInput, input);
    const endSpan = (result: unknown) => {
      if (content.isRecorded && typeof result === 'object' && result !== null && 'value' in result)
        content.recordJson(span, DRAFT.toolOutput, result.value);
      span.end();
    };
    const failed = (error: unknown) => {
      const type = toolErrorType(error);
      if (type !== undefined) span.setAttribute(STABLE.errorType, type).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
    try {
      const result = context.with(trace.setSpan(context.active(), span), run);
      if (result instanceof Promise) result.then(endSpan, failed);
      else endSpan(result);
      return result;
    } catch (error) {
      failed(error);
      throw error;
    }
  }
}

/** Returns the span name of a turn. */
export function turnName(agent: Attributes): string {
  return `invoke_agent ${agent[DRAFT.agentName] ?? ''}`;
}

/** Returns links to the call or the event that caused a span, and to the span before it. */
export function linksTo(cause: TraceContext | undefined, before: string | undefined): Link[] {
  const causes = cause === undefined ? [] : linkTo('cause', cause);
  return before === undefined ? causes : [...causes, ...linkTo('before', { traceparent: before })];
}

function linkTo(kind: string, given: TraceContext): Link[] {
  const context = spanContextOf(given);
  return context === undefined ? [] : [{ context, attributes: { [OWN.link]: kind } }];
}

function lostFacts(traceparent: string | undefined): Attributes {
  const span = spanContextOf({ traceparent });
  return {
    [STABLE.errorType]: LOST,
    ...(span && { [OWN.lostSpan]: span.spanId, [OWN.lostTrace]: span.traceId }),
  };
}

/** Returns the host of a webhook. The rest of its url may contain a secret. */
function addressFacts(url: string): Attributes {
  const parsed = URL.parse(url);
  if (parsed === null) return {};
  const port = parsed.port === '' ? (parsed.protocol === 'https:' ? 443 : 80) : Number(parsed.port);
  return { [STABLE.address]: parsed.hostname, [STABLE.port]: port };
}

function failureOf(result: TracedResult): string | undefined {
  if (result.kind === 'failure') return result.reason;
  return result.status >= 200 && result.status < 300 ? undefined : String(result.status);
}
