import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { AgentExecutor, EventQueue, RequestContext } from 'parley-a2a';
import { turnTrace, type WaitingCall } from 'parley-a2a/kit';
import { failSpan } from './call-facts.js';
import type { Content } from './content.js';
import { DRAFT, OWN, STABLE } from './conventions.js';
import type { Instruments } from './instruments.js';
import { linksTo, turnName } from './server-spans.js';
import { type Propagation, traceparentOf } from './trace-context.js';
import { WatchedEvents } from './watched-events.js';

/** Options of `tracedAgent`. */
interface TracedAgentOptions {
  readonly instruments: Instruments;
  readonly passing: Propagation;
  readonly content: Content;
  /** Attributes of every span of the agent. */
  readonly agent: Attributes;
  /** The call with this `traceparent`, if its caller waits for its turn. */
  readonly waitingCall: (traceparent: string) => WaitingCall | undefined;
  /** Functions that end the turns that run. */
  readonly open: Set<() => void>;
}

/** The type of the error of a turn that the end of its server has cut off. */
const CLOSED = 'server_closed';

interface TurnSpan {
  readonly span: Span;
  readonly within: Context;
}

/**
 * The agent, each of whose turns is a span. The span is a child of the call that waits for the turn. Otherwise it
 * begins a trace of its own, with a link to the call that brought the message.
 */
export function tracedAgent(executor: AgentExecutor, options: TracedAgentOptions): AgentExecutor {
  const { instruments, passing, content, agent, waitingCall, open } = options;
  const { replies, resumable, artifactEnd, extensions } = executor;
  const attributes = { ...agent, [DRAFT.operation]: 'invoke_agent' };
  const begin = (turn: RequestContext) => {
    const traces = turnTrace(turn);
    const cause = traces?.cause ?? { traceparent: turn.traceparent };
    const call = cause.traceparent === undefined ? undefined : waitingCall(cause.traceparent);
    const links = linksTo({ ...(call === undefined && { cause }), before: traces?.before });
    const parent = call === undefined ? passing.readBaggage(cause) : passing.read(cause);
    const span = instruments.tracer.startSpan(turnName(agent), { kind: SpanKind.INTERNAL, attributes, links }, parent);
    const traceparent = traceparentOf(span.spanContext());
    if (traceparent !== undefined) traces?.begin(traceparent, turn.clock.now(), call);
    return { span, within: trace.setSpan(parent, span) };
  };
  // `cancel` of the agent gets the queue that `execute` has got.
  const watched = new WeakMap<EventQueue, EventQueue>();
  const record = async (turn: RequestContext, events: EventQueue, { span, within }: TurnSpan): Promise<void> => {
    const { message, taskId, contextId, attempt } = turn;
    span.setAttributes({
      [DRAFT.taskId]: taskId,
      [DRAFT.conversation]: contextId,
      [DRAFT.messageId]: message.messageId,
      [OWN.attempt]: attempt,
    });
    const states = new WatchedEvents(events, content.isRecorded);
    watched.set(events, states);
    const end = (): void => {
      if (!open.delete(close)) return;
      const { last, text } = states;
      if (text !== '') content.record(span, DRAFT.output, text);
      span.setAttributes(last === undefined ? {} : { [DRAFT.taskState]: last }).end();
    };
    const close = (): void => {
      span.setAttributes({ [STABLE.errorType]: CLOSED }).setStatus({ code: SpanStatusCode.ERROR });
      end();
    };
    open.add(close);
    content.record(span, DRAFT.input, turn.text);
    try {
      await context.with(within, () => executor.execute(turn, states));
      if (states.last === 'TASK_STATE_FAILED') span.setStatus({ code: SpanStatusCode.ERROR });
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      end();
    }
  };
  return {
    execute: (turn, events) => {
      const made = begin(turn);
      if (made.span.isRecording()) return record(turn, events, made);
      // A span that a sampler has dropped is the parent of others. Without an SDK there is none.
      if (!isSpanContextValid(made.span.spanContext())) return executor.execute(turn, events);
      return context.with(made.within, () => executor.execute(turn, events));
    },
    ...(executor.cancel && { cancel: (turn, events) => executor.cancel?.(turn, watched.get(events) ?? events) }),
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
    ...(artifactEnd !== undefined && { artifactEnd }),
    ...(extensions !== undefined && { extensions }),
  };
}
