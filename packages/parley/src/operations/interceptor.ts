import type { StreamResponse } from '../model/stream-response.js';
import type { OperationName, OperationTypes, StreamingOperationName } from './operations.js';

/** One call of an operation, in a client or in a server. */
export interface InterceptedCall<Context, Name extends OperationName = OperationName> {
  readonly operation: Name;
  readonly request: OperationTypes[Name]['request'];
  readonly context: Context;
}

/**
 * The outcome of a call: a promise of the response, or the events of a stream. In a server, events have their number
 * too.
 */
export type CallOutcome<
  Name extends OperationName = OperationName,
  Event = StreamResponse,
> = Name extends StreamingOperationName ? AsyncIterable<Event> : Promise<OperationTypes[Name]['response']>;

/**
 * Wraps every call. An interceptor may read the call, change it (`next({ ...call, … })`), or answer in its place. It
 * returns the promise or the events of `next`, or others in their place. The context of a client names headers and
 * options, that of a server names the caller.
 */
export type Interceptor<Context, Event = StreamResponse> = (
  call: InterceptedCall<Context>,
  next: (call: InterceptedCall<Context>) => CallOutcome<OperationName, Event>,
) => CallOutcome<OperationName, Event>;

/** Passes a call through all interceptors. The first one is the outermost. */
export function interceptCall<Context, Event>(
  interceptors: readonly Interceptor<Context, Event>[],
  last: (call: InterceptedCall<Context>) => CallOutcome<OperationName, Event>,
): (call: InterceptedCall<Context>) => CallOutcome<OperationName, Event> {
  return interceptors.reduceRight<(call: InterceptedCall<Context>) => CallOutcome<OperationName, Event>>(
    (next, interceptor) => (call) => interceptor(call, next),
    last,
  );
}
