import { type Attributes, type Context, context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { AgentExecutor, EventQueue, RequestContext } from 'parley-a2a';
import { isSampled, type TraceContext, type TurnTrace, turnTrace } from 'parley-a2a/kit';
import { failSpan } from './call-facts.js';
import type { Content } from './content.js';
import { DRAFT, OWN, STABLE } from './conventions.js';
import type { Instruments } from './instruments.js';
import { linksTo, turnName } from './server-spans.js';
import { type Propagation, traceparentOf } from './trace-context.js';
import type { WaitingCalls } from './waiting-calls.js';
import { WatchedEvents } from './watched-events.js';

/** Options of `tracedAgent`. */
interface TracedAgentOptions {
  readonly instruments: Instruments;
  readonly passing: Propagation;
  readonly content: Content;
  /** Attributes of every span of the agent. */
  readonly agent: Attributes;
  /** The calls whose callers wait for their turns. */
  readonly waiting: WaitingCalls;
  /** The running turns. */
  readonly open: Set<TurnCourse>;
}

/** The error type of a turn that was interrupted by the end of its server. */
const CLOSED = 'server_closed';

/**
 * Wraps an agent, so that each of its turns is a span. The span is a child of the call that waits for the turn.
 * Otherwise it starts a new trace, with a link to the call that sent the message.
 */
export function tracedAgent(executor: AgentExecutor, options: TracedAgentOptions): AgentExecutor {
  const { instruments, passing, content, agent, waiting, open } = options;
  const { replies, resumable, artifactEnd, extensions } = executor;
  const name = turnName(agent);
  const begin = (turn: RequestContext, traces: TurnTrace | undefined, cause: TraceContext) => {
    const { taskId, contextId, message, attempt } = turn;
    const now = turn.clock.now();
    const acceptedAt = traces?.acceptedAt;
    const attributes = {
      ...agent,
      [DRAFT.operation]: 'invoke_agent',
      [DRAFT.taskId]: taskId,
      [DRAFT.conversation]: contextId,
      [DRAFT.messageId]: message.messageId,
      [OWN.attempt]: attempt,
      ...(acceptedAt !== undefined && { [OWN.queueWait]: Math.max(0, now - acceptedAt) / 1_000 }),
    };
    const waited = cause.traceparent === undefined ? undefined : waiting.get(cause.traceparent);
    const parent = waited?.within ?? passing.readBaggage(cause);
    const links = linksTo(waited === undefined ? cause : undefined, traces?.before);
    const span = instruments.tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes, links }, parent);
    const traceparent = traceparentOf(span.spanContext());
    if (traceparent !== undefined) traces?.begin(traceparent, now, waited?.call);
    return { span, traceparent, within: trace.setSpan(parent, span) };
  };
  // Maps the queue of `execute` to its wrapper, because `cancel` gets the same queue.
  const watched = new WeakMap<EventQueue, EventQueue>();
  return {
    execute: (turn, events) => {
      if (!instruments.isTracing) return executor.execute(turn, events);
      const traces = turnTrace(turn);
      const cause = traces?.cause ?? { traceparent: turn.traceparent };
      // A turn is sampled if its call is, in every process that runs it.
      if (cause.traceparent !== undefined && !isSampled(cause.traceparent))
        return runWithin(droppedContext(cause, passing), () => executor.execute(turn, events));
      const { span, traceparent, within } = begin(turn, traces, cause);
      // The application has no tracer here.
      if (traceparent === undefined) return executor.execute(turn, events);
      if (!span.isRecording()) return runWithin(within, () => executor.execute(turn, events));
      const texts = content.isRecorded ? new WatchedEvents(events) : undefined;
      if (texts !== undefined) watched.set(events, texts);
      content.record(span, DRAFT.input, turn.text);
      const course = new TurnCourse({ span, traces, texts, content, open });
      return course.run(() => context.with(within, () => executor.execute(turn, texts ?? events)));
    },
    ...(executor.cancel && { cancel: (turn, events) => executor.cancel?.(turn, watched.get(events) ?? events) }),
    ...(replies !== undefined && { replies }),
    ...(resumable !== undefined && { resumable }),
    ...(artifactEnd !== undefined && { artifactEnd }),
    ...(extensions !== undefined && { extensions }),
  };
}

/** Returns the context of a call that was not sampled. The turn usually starts within it. */
function droppedContext(cause: TraceContext, passing: Propagation): Context {
  const active = context.active();
  const spanId = trace.getSpanContext(active)?.spanId;
  return spanId !== undefined && cause.traceparent?.includes(spanId) === true ? active : passing.read(cause);
}

function runWithin<Result>(within: Context, run: () => Result): Result {
  return within === context.active() ? run() : context.with(within, run);
}

interface TurnCourseOptions {
  readonly span: Span;
  readonly traces: TurnTrace | undefined;
  /** The queue that collects the texts of the agent. Absent: they are not recorded. */
  readonly texts: WatchedEvents | undefined;
  readonly content: Content;
  /** Contains the course until it ends. */
  readonly open: Set<TurnCourse>;
}

/** A turn whose span is recorded. The span ends once. */
export class TurnCourse {
  readonly #options: TurnCourseOptions;

  constructor(options: TurnCourseOptions) {
    this.#options = options;
    options.open.add(this);
  }

  run<Result>(execute: () => Result): Result {
    let running: Result;
    try {
      running = execute();
    } catch (error) {
      this.#failed(error);
      throw error;
    }
    if (running === undefined) this.#returned();
    // The engine handles the rejection of the agent.
    else Promise.resolve(running).then(this.#returned, this.#failed);
    return running;
  }

  /** Ends the span of a turn that has not ended in time. */
  close(): void {
    this.#options.span.setAttribute(STABLE.errorType, CLOSED).setStatus({ code: SpanStatusCode.ERROR });
    this.#end();
  }

  readonly #returned = (): void => {
    const { span, traces } = this.#options;
    if (traces?.state === 'TASK_STATE_FAILED') span.setStatus({ code: SpanStatusCode.ERROR });
    this.#end();
  };

  readonly #failed = (error: unknown): void => {
    failSpan(this.#options.span, error);
    this.#end();
  };

  #end(): void {
    const { span, traces, texts, content, open } = this.#options;
    if (!open.delete(this)) return;
    if (texts !== undefined && texts.text !== '') content.record(span, DRAFT.output, texts.text);
    if (traces?.state !== undefined) span.setAttribute(DRAFT.taskState, traces.state);
    span.end();
  }
}
