import { type Attributes, context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { AgentExecutor, EventQueue, RequestContext } from 'parley-a2a';
import { failSpan } from './call-facts.js';
import { DRAFT, OWN } from './conventions.js';
import type { Instruments } from './instruments.js';
import { contextBelow, spanContextOf } from './trace-context.js';

/** Options of `tracedAgent`. */
export interface TracedAgentOptions {
  readonly instruments: Instruments;
  readonly name: string;
  /** Attributes of every span of the agent. */
  readonly agent: Attributes;
  /** True if the call with this `traceparent` waits for its turn. */
  readonly isAwaited: (traceparent: string) => boolean;
}

/** The methods that end a turn, with the states that they publish. */
const ENDS = {
  complete: 'TASK_STATE_COMPLETED',
  fail: 'TASK_STATE_FAILED',
  reject: 'TASK_STATE_REJECTED',
  cancel: 'TASK_STATE_CANCELED',
  inputRequired: 'TASK_STATE_INPUT_REQUIRED',
  authRequired: 'TASK_STATE_AUTH_REQUIRED',
} as const;

/**
 * The agent, each of whose turns is a span. The span is a child of the call that waits for the turn. Otherwise it
 * begins a trace of its own, with a link to the call that brought the message.
 */
export function tracedAgent(executor: AgentExecutor, options: TracedAgentOptions): AgentExecutor {
  const { instruments, name, agent, isAwaited } = options;
  const { replies, resumable, artifactEnd, extensions } = executor;
  const spanOf = (turn: RequestContext) => {
    const { message, taskId, contextId, attempt, traceparent } = turn;
    const attributes = {
      ...agent,
      [DRAFT.operation]: 'invoke_agent',
      [DRAFT.taskId]: taskId,
      [DRAFT.conversation]: contextId,
      [DRAFT.messageId]: message.messageId,
      [OWN.attempt]: attempt,
    };
    const cause = spanContextOf(traceparent);
    const isChild = traceparent !== undefined && isAwaited(traceparent);
    const links = cause === undefined || isChild ? [] : [{ context: cause }];
    const parent = contextBelow(isChild ? cause : undefined);
    return instruments.tracer.startSpan(`invoke_agent ${name}`, { kind: SpanKind.INTERNAL, attributes, links }, parent);
  };
  return {
    execute: async (turn, events) => {
      const span = spanOf(turn);
      const states = watchStates(events);
      try {
        await context.with(trace.setSpan(context.active(), span), () => executor.execute(turn, events));
        if (states.last === ENDS.fail) span.setStatus({ code: SpanStatusCode.ERROR });
      } catch (error) {
        failSpan(span, error);
        throw error;
      } finally {
        const state = states.last === undefined ? {} : { [DRAFT.taskState]: states.last };
        span.setAttributes(state).end();
      }
    },
    ...(executor.cancel && { cancel: (turn, events) => executor.cancel?.(turn, events) }),
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
    ...(artifactEnd !== undefined && { artifactEnd }),
    ...(extensions !== undefined && { extensions }),
  };
}

/** The last state that the agent published by a method of its queue. The queue belongs to one turn alone. */
function watchStates(events: EventQueue): { readonly last: string | undefined } {
  const states: { last: string | undefined } = { last: undefined };
  for (const name of Object.keys(ENDS) as (keyof typeof ENDS)[]) {
    const publish = events[name].bind(events);
    events[name] = (content, info) => {
      states.last = ENDS[name];
      return publish(content, info);
    };
  }
  return states;
}
