import { type Attributes, type Context, context, type Span } from '@opentelemetry/api';
import { type AnyCall, errorType, failSpan, methodOf, setAnswerFacts } from './call-facts.js';
import { DRAFT, OWN, STABLE } from './conventions.js';
import type { Instruments } from './instruments.js';

/** A call that runs within a span. */
interface TracedCall extends AnyCall {
  readonly span: Span;
  /** The context of the span. */
  readonly within: Context;
  /** True for the span of an HTTP or gRPC instrumentation, which ends it itself. */
  readonly isBorrowed?: boolean;
  /** True if a stream may make spans after its first event. */
  readonly readsWithin: boolean;
  /** Measures the calls of a client. A server measures its calls itself. */
  readonly instruments?: Instruments;
  /** Called when the call has ended. */
  readonly over?: (() => void) | undefined;
}

/** Runs a call within its span, and records its outcome. A stream is one span, with the number of its events. */
export function traceCall<Outcome>(call: TracedCall, make: () => Outcome): Outcome {
  const course = new CallCourse(call);
  let outcome: Outcome;
  try {
    outcome = context.with(call.within, make);
  } catch (error) {
    course.failed(error);
    throw error;
  }
  if (isIterable(outcome)) return watchStream(outcome, call, course) as Outcome;
  // The caller handles the rejection of the call.
  Promise.resolve(outcome).then(course.recordAnswer, course.failed);
  return outcome;
}

/** Runs a call that was not sampled. Nothing is recorded. */
export function passCall<Outcome>(call: StreamContext, make: () => Outcome): Outcome {
  const outcome = context.with(call.within, make);
  return isIterable(outcome) ? (watchStream(outcome, call) as Outcome) : outcome;
}

function isIterable(outcome: unknown): outcome is AsyncIterable<unknown> {
  return typeof outcome === 'object' && outcome !== null && Symbol.asyncIterator in outcome;
}

type StreamContext = Pick<TracedCall, 'within' | 'readsWithin'>;

/**
 * Wraps a stream. Its span ends once: with its last event, an error, or an early return. The first read starts the
 * call, so it runs within the span.
 */
function watchStream<Item>(
  source: AsyncIterable<Item>,
  { within, readsWithin }: StreamContext,
  course?: CallCourse,
): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const items: ReadyIterator<Item> = source[Symbol.asyncIterator]();
      const read = () => items.next();
      let isWithin = true;
      return {
        next() {
          let result: Promise<IteratorResult<Item>>;
          try {
            result = isWithin ? context.with(within, read) : items.next();
          } catch (error) {
            course?.failed(error);
            throw error;
          }
          isWithin = readsWithin;
          if (course !== undefined) Promise.resolve(result).then(course.read, course.failed);
          return result;
        },
        async return(value?: unknown) {
          course?.endCall();
          return (await items.return?.(value)) ?? { done: true, value };
        },
        ...(items.ready !== undefined && {
          ready: () => {
            const item = items.ready?.();
            if (item !== undefined) course?.read({ done: false, value: item });
            return item;
          },
        }),
      };
    },
  };
}

/** An iterator with optional access to available items. */
type ReadyIterator<Item> = AsyncIterator<Item> & { ready?(): Item | undefined };

class CallCourse {
  readonly #call: TracedCall;
  readonly #recordDuration: ((attributes: Attributes) => void) | undefined;
  #events = 0;
  #first: unknown;
  #last: unknown;
  #isOver = false;

  constructor(call: TracedCall) {
    this.#call = call;
    this.#recordDuration = call.instruments?.beginClientCall();
  }

  readonly read = ({ done, value }: IteratorResult<unknown>): void => {
    if (done === true) return this.endCall();
    this.#events += 1;
    if (this.#events === 1) this.#first = value;
    else this.#last = value;
  };

  endCall(): void {
    if (this.#isOver) return;
    this.#setEvents();
    this.#finish(undefined);
  }

  readonly recordAnswer = (answer: unknown): void => this.#finish(answer);

  readonly failed = (error: unknown): void => {
    if (this.#isOver) return;
    if (this.#events > 0) this.#setEvents();
    failSpan(this.#call.span, error);
    this.#finish(undefined, error);
  };

  /** The first event contains the task id, and the last one the state. Those between may not be parsed. */
  #setEvents(): void {
    const { span } = this.#call;
    span.setAttribute(OWN.events, this.#events);
    setAnswerFacts(span, eventOf(this.#first));
    setAnswerFacts(span, eventOf(this.#last));
  }

  #finish(answer: unknown, error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { span, isBorrowed, over } = this.#call;
    setAnswerFacts(span, answer);
    this.#recordDuration?.({
      [DRAFT.method]: methodOf(this.#call),
      ...(error !== undefined && { [STABLE.errorType]: errorType(error) }),
    });
    if (isBorrowed !== true) span.end();
    over?.();
  }
}

/** Returns the event of an item: a server wraps events, a client does not. */
function eventOf(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'event' in item ? item.event : item;
}
