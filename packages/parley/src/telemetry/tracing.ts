/** A W3C trace context, as the headers of a call have it. */
export interface TraceContext {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

/** The id of the trace that a `traceparent` names; undefined if it names none. */
export function traceIdIn(traceparent: string | undefined): string | undefined {
  return TRACEPARENT.exec(traceparent ?? '')?.[1];
}

/** True if the trace of a `traceparent` is recorded (W3C Trace Context §3.2.2.5.1). */
export function isSampled(traceparent: string | undefined): traceparent is string {
  return traceparent !== undefined && (Number.parseInt(traceparent.slice(FLAGS_AT), 16) & 1) === 1;
}

const FLAGS_AT = '00-'.length + 32 + '-'.length + 16 + '-'.length;

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

/** The call whose caller waits for a turn. Its span ends with the process of the turn. */
export interface WaitingCall {
  readonly traceparent: string;
  /** The name of its operation on the wire. */
  readonly method: string;
  /** The trace context that the call came with. */
  readonly parent?: string;
  /** ms since the epoch. */
  readonly since: number;
}

/** The trace of an attempt of a turn, as it stands in the metadata of its task. */
export interface AttemptTrace {
  readonly traceparent: string;
  readonly turn: number;
  readonly attempt: number;
  /** Attempts before it that ended in an orderly hand-over. */
  readonly handOvers: number;
  /** ms since the epoch. */
  readonly since: number;
  /** The `traceparent` of the attempt or turn before. Absent: there is none. */
  readonly before?: string;
  readonly call?: WaitingCall;
}

/** An attempt of a turn whose process died, so that nothing has ended its span. */
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
  /** The time at which it was known to run, in ms since the epoch. */
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
  /** The `traceparent` of the turn that has published the event. */
  readonly cause: string | undefined;
  /** The `traceparent` of the failed attempt before. */
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

/** Makes spans beside those of calls. `serverTracing()` of `parley-a2a-otel` is one. */
export interface Tracing {
  /** False as long as the application has registered no SDK. Then nothing is asked of it. */
  readonly isOn: boolean;
  /** Ends the spans of an attempt in the place of its process. Returns the `traceparent` of the turn. */
  lost(attempt: LostAttempt): string | undefined;
  /** Makes an attempt to deliver within its span. `send` gets the headers that pass the trace on. */
  delivery<Result extends TracedResult>(
    delivery: TracedDelivery,
    send: (headers: Readonly<Record<string, string>>) => Promise<Result>,
  ): Promise<Result>;
  /** Runs a tool within its span. */
  tool<Result>(call: TracedTool, run: () => Result): Result;
  /** The trace context of the span that is active. */
  active(): TraceContext;
}

/** The member of contexts of turns and tools that has the tracing of the server. */
export const TRACING: unique symbol = Symbol.for('parley-a2a.tracing');

/** The tracing of the server, by the context of a turn or of a tool. */
export function tracingOf(context: object): Tracing | undefined {
  return (context as { readonly [TRACING]?: Tracing | undefined })[TRACING];
}
