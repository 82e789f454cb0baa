import { type Attributes, type Context, context, type Span } from '@opentelemetry/api';
import { type AnyCall, errorType, failSpan, methodOf, setAnswerFacts } from './call-facts.js';
import { DRAFT, OWN, STABLE } from './conventions.js';
import type { Instruments } from './instruments.js';

/** A call that runs within a span. */
interface TracedCall extends AnyCall {
  readonly span: Span;
  /** The context of the span. */
  readonly within: Context;
  /** The span of an instrumentation of HTTP or gRPC, which ends it. */
  readonly isBorrowed?: boolean;
  /** True if a stream may make spans after its first event too. */
  readonly readsWithin: boolean;
  /** Measures the calls of a client. A server itself measures its calls. */
  readonly instruments?: Instruments;
  /** Called once the call is over. */
  readonly over?: (() => void) | undefined;
}

/** Makes a call within its span, and records its outcome. A stream is one span, with the count of its events. */
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
  // The caller handles the rejection of the call itself.
  Promise.resolve(outcome).then(course.answered, course.failed);
  return outcome;
}

/** Makes a call whose span a sampler has dropped. Nothing is recorded. */
export function passCall<Outcome>(call: StreamContext, make: () => Outcome): Outcome {
  const outcome = context.with(call.within, make);
  return isIterable(outcome) ? (watchStream(outcome, call) as Outcome) : outcome;
}

function isIterable(outcome: unknown): outcome is AsyncIterable<unknown> {
  return typeof outcome === 'object' && outcome !== null && Symbol.asyncIterator in outcome;
}

type StreamContext = Pick<TracedCall, 'within' | 'readsWithin'>;

/**
 * The same stream. Its course ends once: with its last event, an error, or a reader that leaves. The first read starts
 * the call, so it belongs to the span.
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
          course?.ended();
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

/** An iterator that may give items that are there already. */
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
    if (done === true) return this.ended();
    this.#events += 1;
    if (this.#events === 1) this.#first = value;
    else this.#last = value;
  };

  ended(): void {
    if (this.#isOver) return;
    this.#setEvents();
    this.#finish(undefined);
  }

  readonly answered = (answer: unknown): void => this.#finish(answer);

  readonly failed = (error: unknown): void => {
    if (this.#isOver) return;
    if (this.#events > 0) this.#setEvents();
    failSpan(this.#call.span, error);
    this.#finish(undefined, error);
  };

  /** The first event names the task, and the last one its state. Those between may be JSON still. */
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

/** Items of a server have their event within, those of a client are the events. */
function eventOf(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'event' in item ? item.event : item;
}
