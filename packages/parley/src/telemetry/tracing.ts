/** A W3C trace context, as in the headers of a call. */
export interface TraceContext {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

/** Returns the trace id in a `traceparent`; undefined if it is absent or invalid. */
export function traceIdIn(traceparent: string | undefined): string | undefined {
  return TRACEPARENT.exec(traceparent ?? '')?.[1];
}

/** True if the trace of a `traceparent` is recorded (W3C Trace Context §3.2.2.5.1). */
export function isSampled(traceparent: string | undefined): traceparent is string {
  return traceparent !== undefined && ODD.has(traceparent.charAt(LAST_FLAG_AT));
}

const ODD: ReadonlySet<string> = new Set('13579bdf');
/** The last digit of the flags. */
const LAST_FLAG_AT = '00-'.length + 32 + '-'.length + 16 + '-'.length + 1;

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

/** The call whose caller waits for a turn. Its span is lost if the process of the turn dies. */
export interface WaitingCall {
  readonly traceparent: string;
  /** The wire name of its operation. */
  readonly method: string;
  /** The trace context of the call. */
  readonly parent?: string;
  /** ms since the epoch. */
  readonly since: number;
}

/** The trace of an attempt of a turn, in the metadata of its task. */
export interface AttemptTrace {
  readonly traceparent: string;
  readonly turn: number;
  readonly attempt: number;
  /** Number of earlier attempts that ended in an orderly hand-over. */
  readonly handOvers: number;
  /** ms since the epoch. */
  readonly since: number;
  /** The `traceparent` of the previous attempt or turn. Absent: there is none. */
  readonly before?: string;
  readonly call?: WaitingCall;
}

/** An attempt of a turn whose process died without ending its span. */
export interface LostAttempt {
  /** The id of the task space of its agent. */
  readonly agent: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly messageId: string;
  readonly attempt: number;
  /** The trace context of the message. */
  readonly cause: TraceContext;
  /** Absent if the process died before the first event of the attempt. */
  readonly trace: AttemptTrace | undefined;
  /** The last time at which it is known to have run, in ms since the epoch. */
  readonly since: number;
  /** The next step for the turn, such as `run` or `interrupted`. */
  readonly fate: string;
}

/** An attempt to deliver a push notification. */
export interface TracedDelivery {
  readonly taskId: string;
  readonly contextId: string | undefined;
  readonly configId: string;
  /** The sequence number of the event. */
  readonly seq: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly url: string;
  /** The `traceparent` of the turn that published the event. */
  readonly cause: string | undefined;
  /** The `traceparent` of the previous failed attempt. */
  readonly before: string | undefined;
}

/** The result of an attempt to deliver. */
export type TracedResult =
  | { readonly kind: 'answer'; readonly status: number }
  | { readonly kind: 'failure'; readonly reason: string };

/** A call of a tool. */
export interface TracedTool {
  readonly name: string;
  readonly callId: string;
  readonly taskId: string | undefined;
  /** The arguments of the call. */
  readonly input: unknown;
}

/** Makes spans other than those of calls. `serverTracing()` of `parley-a2a-otel` implements it. */
export interface Tracing {
  /** False until the application has registered an SDK. Then no other method is called. */
  readonly isOn: boolean;
  /** Makes a span for an attempt whose process died. Returns the `traceparent` of the turn. */
  lost(attempt: LostAttempt): string | undefined;
  /** Runs an attempt to deliver within its span. `send` gets the headers that propagate the trace. */
  delivery<Result extends TracedResult>(
    delivery: TracedDelivery,
    send: (headers: Readonly<Record<string, string>>) => Promise<Result>,
  ): Promise<Result>;
  /** Runs a tool within its span. */
  tool<Result>(call: TracedTool, run: () => Result): Result;
  /** Returns the trace context of the active span. */
  active(): TraceContext;
}

/** The member with the tracing of the server in contexts of turns and tools. */
export const TRACING: unique symbol = Symbol.for('parley-a2a.tracing');

/** Returns the tracing of the server from the context of a turn or of a tool. */
export function tracingOf(context: object): Tracing | undefined {
  return (context as { readonly [TRACING]?: Tracing | undefined })[TRACING];
}
