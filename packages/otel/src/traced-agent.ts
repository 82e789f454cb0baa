import { type Attributes, context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { AgentExecutor, EventQueue, RequestContext } from 'parley-a2a';
import { turnTrace, type WaitingCall } from 'parley-a2a/kit';
import { errorType, failSpan } from './call-facts.js';
import type { Content } from './content.js';
import { DRAFT, OWN, STABLE } from './conventions.js';
import type { Instruments } from './instruments.js';
import { linksTo, turnName } from './server-spans.js';
import { type Propagation, traceparentOf } from './trace-context.js';

/** Options of `tracedAgent`. */
export interface TracedAgentOptions {
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

/** The methods that end a turn, with the states that they publish. */
const ENDS = {
  complete: 'TASK_STATE_COMPLETED',
  fail: 'TASK_STATE_FAILED',
  reject: 'TASK_STATE_REJECTED',
  cancel: 'TASK_STATE_CANCELED',
  inputRequired: 'TASK_STATE_INPUT_REQUIRED',
  authRequired: 'TASK_STATE_AUTH_REQUIRED',
} as const;

/** The type of the error of a turn that the end of its server has cut off. */
const CLOSED = 'server_closed';

/**
 * The agent, each of whose turns is a span. The span is a child of the call that waits for the turn. Otherwise it
 * begins a trace of its own, with a link to the call that brought the message.
 */
export function tracedAgent(executor: AgentExecutor, options: TracedAgentOptions): AgentExecutor {
  const { instruments, passing, content, agent, waitingCall, open } = options;
  const { replies, resumable, artifactEnd, extensions } = executor;
  const begin = (turn: RequestContext) => {
    const { message, taskId, contextId, attempt } = turn;
    const attributes = {
      ...agent,
      [DRAFT.operation]: 'invoke_agent',
      [DRAFT.taskId]: taskId,
      [DRAFT.conversation]: contextId,
      [DRAFT.messageId]: message.messageId,
      [OWN.attempt]: attempt,
    };
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
  return {
    execute: async (turn, events) => {
      const { span, within } = begin(turn);
      const recordDuration = instruments.begin('task');
      instruments.inProgress.add(1, agent);
      const states = watchStates(events, content.isRecorded);
      let fault: Attributes = {};
      const end = (): void => {
        if (!open.delete(close)) return;
        const state = states.last === undefined ? {} : { [DRAFT.taskState]: states.last };
        if (states.text !== '') content.record(span, DRAFT.output, states.text);
        span.setAttributes(state).end();
        instruments.inProgress.add(-1, agent);
        recordDuration({ ...agent, ...state, ...fault });
      };
      const close = (): void => {
        fault = { [STABLE.errorType]: CLOSED };
        span.setAttributes(fault).setStatus({ code: SpanStatusCode.ERROR });
        end();
      };
      open.add(close);
      content.record(span, DRAFT.input, turn.text);
      try {
        await context.with(within, () => executor.execute(turn, events));
        if (states.last === ENDS.fail) span.setStatus({ code: SpanStatusCode.ERROR });
      } catch (error) {
        fault = { [STABLE.errorType]: errorType(error) };
        failSpan(span, error);
        throw error;
      } finally {
        end();
      }
    },
    ...(executor.cancel && { cancel: (turn, events) => executor.cancel?.(turn, events) }),
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
    ...(artifactEnd !== undefined && { artifactEnd }),
    ...(extensions !== undefined && { extensions }),
  };
}

/** The last state that the agent published, and its texts if they are asked for. The queue belongs to one turn. */
function watchStates(
  events: EventQueue,
  hasTexts: boolean,
): { readonly last: string | undefined; readonly text: string } {
  const states: { last: string | undefined; text: string } = { last: undefined, text: '' };
  const note = (content: unknown) => {
    if (hasTexts && typeof content === 'string') states.text += states.text === '' ? content : `\n${content}`;
  };
  for (const name of Object.keys(ENDS) as (keyof typeof ENDS)[]) {
    const publish = events[name].bind(events);
    events[name] = (content, info) => {
      states.last = ENDS[name];
      note(content);
      return publish(content, info);
    };
  }
  if (!hasTexts) return states;
  const [artifact, append] = [events.artifact.bind(events), events.append.bind(events)];
  events.artifact = (content, info) => {
    note(content);
    return artifact(content, info);
  };
  events.append = (artifactId, content, info) => {
    note(content);
    return append(artifactId, content, info);
  };
  return states;
}
