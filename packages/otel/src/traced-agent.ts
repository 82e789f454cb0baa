import {
  type Attributes,
  context,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { AgentExecutor, EventQueue, RequestContext } from 'parley-a2a';
import { failSpan } from './call-facts.js';
import { DRAFT, OWN } from './conventions.js';
import type { Instruments } from './instruments.js';
import { contextBelow, spanContextOf } from './trace-context.js';
import { WatchedEvents } from './watched-events.js';

/** Options of `tracedAgent`. */
export interface TracedAgentOptions {
  readonly instruments: Instruments;
  readonly name: string;
  /** Attributes of every span of the agent. */
  readonly agent: Attributes;
  /** True if the call with this `traceparent` waits for its turn. */
  readonly isAwaited: (traceparent: string) => boolean;
}

/**
 * The agent, each of whose turns is a span. The span is a child of the call that waits for the turn. Otherwise it
 * begins a trace of its own, with a link to the call that brought the message.
 */
export function tracedAgent(executor: AgentExecutor, options: TracedAgentOptions): AgentExecutor {
  const { instruments, name, agent, isAwaited } = options;
  const { replies, resumable, artifactEnd, extensions } = executor;
  const attributes = { ...agent, [DRAFT.operation]: 'invoke_agent' };
  const spanOf = ({ traceparent }: RequestContext) => {
    const cause = spanContextOf(traceparent);
    const isChild = traceparent !== undefined && isAwaited(traceparent);
    const links = cause === undefined || isChild ? [] : [{ context: cause }];
    const parent = contextBelow(isChild ? cause : undefined);
    return instruments.tracer.startSpan(`invoke_agent ${name}`, { kind: SpanKind.INTERNAL, attributes, links }, parent);
  };
  // `cancel` of the agent gets the queue that `execute` has got.
  const watched = new WeakMap<EventQueue, EventQueue>();
  const record = async (span: Span, turn: RequestContext, events: EventQueue): Promise<void> => {
    const { message, taskId, contextId, attempt } = turn;
    span.setAttributes({
      [DRAFT.taskId]: taskId,
      [DRAFT.conversation]: contextId,
      [DRAFT.messageId]: message.messageId,
      [OWN.attempt]: attempt,
    });
    const states = new WatchedEvents(events);
    watched.set(events, states);
    try {
      await context.with(trace.setSpan(context.active(), span), () => executor.execute(turn, states));
      if (states.last === 'TASK_STATE_FAILED') span.setStatus({ code: SpanStatusCode.ERROR });
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      const state = states.last === undefined ? {} : { [DRAFT.taskState]: states.last };
      span.setAttributes(state).end();
    }
  };
  return {
    execute: (turn, events) => {
      const span = spanOf(turn);
      if (span.isRecording()) return record(span, turn, events);
      // A span that a sampler has dropped is the parent of others. Without an SDK there is none.
      if (!isSpanContextValid(span.spanContext())) return executor.execute(turn, events);
      return context.with(trace.setSpan(context.active(), span), () => executor.execute(turn, events));
    },
    ...(executor.cancel && { cancel: (turn, events) => executor.cancel?.(turn, watched.get(events) ?? events) }),
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
    ...(artifactEnd !== undefined && { artifactEnd }),
    ...(extensions !== undefined && { extensions }),
  };
}
