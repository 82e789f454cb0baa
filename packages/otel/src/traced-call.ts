import { type Attributes, type Context, context, type Span, trace } from '@opentelemetry/api';
import { type AnyCall, answerFacts, errorType, failSpan, methodOf } from './call-facts.js';
import { DRAFT, OWN, STABLE } from './conventions.js';
import type { Instruments } from './instruments.js';
import { tracedStream } from './traced-stream.js';

/** A call that runs within a span. */
export interface TracedCall extends AnyCall {
  readonly span: Span;
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
  const within = trace.setSpan(context.active(), call.span);
  const course = new CallCourse(call, within);
  let outcome: Outcome;
  try {
    outcome = context.with(within, make);
  } catch (error) {
    course.failed(error);
    throw error;
  }
  if (isIterable(outcome)) return tracedStream(outcome, course) as Outcome;
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

function isIterable(outcome: unknown): outcome is AsyncIterable<unknown> {
  return typeof outcome === 'object' && outcome !== null && Symbol.asyncIterator in outcome;
}

class CallCourse {
  readonly #call: TracedCall;
  readonly #within: Context;
  readonly #recordDuration: (attributes: Attributes) => void;
  #recordFirst: ((attributes: Attributes) => void) | undefined;
  #events = 0;

  constructor(call: TracedCall, within: Context) {
    const { instruments, kind } = call;
    this.#call = call;
    this.#within = within;
    this.#recordDuration = instruments.begin(kind);
    if (kind === 'server') this.#recordFirst = instruments.begin('firstEvent');
  }

  readonly run = <Result>(read: () => Result): Result => context.with(this.#within, read);

  readonly item = (item: unknown): void => {
    this.#recordFirst?.(this.#labels);
    this.#recordFirst = undefined;
    this.#events += 1;
    // Items of a server have their event within, those of a client are the events.
    const event = typeof item === 'object' && item !== null && 'event' in item ? item.event : item;
    this.#call.span.setAttributes(answerFacts(event));
  };

  readonly ended = (): void => {
    this.#call.span.setAttribute(OWN.events, this.#events);
    this.#finish({});
  };

  readonly failed = (error: unknown): void => {
    if (this.#events > 0) this.#call.span.setAttribute(OWN.events, this.#events);
    failSpan(this.#call.span, error);
    this.#finish({ [STABLE.errorType]: errorType(error) });
  };

  answered(answer: unknown): void {
    this.#call.span.setAttributes(answerFacts(answer));
    this.#finish({});
  }

  get #labels(): Attributes {
    const { version } = this.#call;
    return { [DRAFT.method]: methodOf(this.#call), ...(version !== undefined && { [DRAFT.version]: version }) };
  }

  #finish(more: Attributes): void {
    const { span, isBorrowed, over } = this.#call;
    this.#recordDuration({ ...this.#labels, ...more });
    if (isBorrowed !== true) span.end();
    over?.();
  }
}
