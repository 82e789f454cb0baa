import { type Attributes, type Context, context, type Span } from '@opentelemetry/api';
import { type AnyCall, answerFacts, errorType, failSpan, methodOf } from './call-facts.js';
import { DRAFT, OWN, STABLE } from './conventions.js';
import type { Instruments } from './instruments.js';

/** A call that runs within a span. */
interface TracedCall extends AnyCall {
  readonly span: Span;
  /** The context of the span. */
  readonly within: Context;
  /** The span of an instrumentation of HTTP or gRPC, which ends it. */
  readonly isBorrowed?: boolean;
  readonly kind: 'client' | 'server';
  /** The version of the protocol, if it is known. */
  readonly version?: string;
  readonly instruments: Instruments;
  /** Called once the call is over. */
  readonly over?: () => void;
}

/** Makes a call within its span, and records its outcome. A stream is one span, with the count of its events. */
export function traceCall<Outcome>(call: TracedCall, make: () => Outcome): Outcome {
  const { within } = call;
  if (call.kind === 'server' && !call.span.isRecording()) return passDropped(call, make);
  const course = new CallCourse(call);
  let outcome: Outcome;
  try {
    outcome = context.with(within, make);
  } catch (error) {
    course.failed(error);
    throw error;
  }
  if (isIterable(outcome)) return watchStream(outcome, course) as Outcome;
  return Promise.resolve(outcome).then(
    (answer) => {
      course.answered(answer);
      return answer;
    },
    (error: unknown) => {
      course.failed(error);
      throw error;
    },
  ) as Outcome;
}

/** Makes a call whose span a sampler has dropped. Nothing is recorded, and spans below it are dropped as well. */
function passDropped<Outcome>(call: TracedCall, make: () => Outcome): Outcome {
  const outcome = context.with(call.within, make);
  if (isIterable(outcome)) return watchStream(outcome, new CallCourse(call)) as Outcome;
  const over = () => call.over?.();
  Promise.resolve(outcome).then(over, over);
  return outcome;
}

function isIterable(outcome: unknown): outcome is AsyncIterable<unknown> {
  return typeof outcome === 'object' && outcome !== null && Symbol.asyncIterator in outcome;
}

/** The same stream. Its course ends once: with its last event, an error, or a reader that leaves. */
function watchStream<Item>(source: AsyncIterable<Item>, course: CallCourse): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const items = source[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const result = await course.run(() => items.next());
            if (result.done === true) course.ended();
            else course.item(result.value);
            return result;
          } catch (error) {
            course.failed(error);
            throw error;
          }
        },
        async return(value?: unknown) {
          course.ended();
          return (await items.return?.(value)) ?? { done: true, value };
        },
      };
    },
  };
}

class CallCourse {
  readonly #call: TracedCall;
  readonly #recordDuration: ((attributes: Attributes) => void) | undefined;
  #events = 0;
  #isOver = false;

  constructor(call: TracedCall) {
    const { instruments, kind } = call;
    this.#call = call;
    // The server itself measures its calls.
    if (kind === 'client') this.#recordDuration = instruments.beginClientCall();
  }

  /** Runs a read of a stream, so that what it starts belongs to the span. */
  run<Result>(read: () => Result): Result {
    return context.with(this.#call.within, read);
  }

  item(item: unknown): void {
    this.#events += 1;
    // Items of a server have their event within, those of a client are the events.
    const event = typeof item === 'object' && item !== null && 'event' in item ? item.event : item;
    this.#call.span.setAttributes(answerFacts(event));
  }

  ended(): void {
    this.#finish({ [OWN.events]: this.#events });
  }

  answered(answer: unknown): void {
    this.#finish(answerFacts(answer));
  }

  failed(error: unknown): void {
    this.#finish(this.#events > 0 ? { [OWN.events]: this.#events } : {}, error);
  }

  get #labels(): Attributes {
    const { version } = this.#call;
    return { [DRAFT.method]: methodOf(this.#call), ...(version !== undefined && { [DRAFT.version]: version }) };
  }

  #finish(facts: Attributes, error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { span, isBorrowed, over } = this.#call;
    span.setAttributes(facts);
    if (error !== undefined) failSpan(span, error);
    this.#recordDuration?.({ ...this.#labels, ...(error !== undefined && { [STABLE.errorType]: errorType(error) }) });
    if (isBorrowed !== true) span.end();
    over?.();
  }
}
