import type { StreamResponse } from '../model/stream-response.js';
import type { OperationName, OperationTypes, StreamingOperationName } from './operations.js';

/** One call of an operation, on either side. */
export interface InterceptedCall<Context, Name extends OperationName = OperationName> {
  readonly operation: Name;
  readonly request: OperationTypes[Name]['request'];
  readonly context: Context;
}

/** What a call comes to: a promise of the response, or the events of a stream. A server's events carry their number too. */
export type CallOutcome<
  Name extends OperationName = OperationName,
  Event = StreamResponse,
> = Name extends StreamingOperationName ? AsyncIterable<Event> : Promise<OperationTypes[Name]['response']>;

/**
 * Stands around every call. May look at it, change it (`next({ ...call, … })`), answer in its place, or watch what comes of it: the promise
 * or the events that `next` gives are to be given back, or others in their place. A client's context says what is sent along, a server's
 * who calls.
 */
export type Interceptor<Context, Event = StreamResponse> = (
  call: InterceptedCall<Context>,
  next: (call: InterceptedCall<Context>) => CallOutcome<OperationName, Event>,
) => CallOutcome<OperationName, Event>;

/** A call through all interceptors; the first of them is the outermost. */
export function intercepted<Context, Event>(
  interceptors: readonly Interceptor<Context, Event>[],
  last: (call: InterceptedCall<Context>) => CallOutcome<OperationName, Event>,
): (call: InterceptedCall<Context>) => CallOutcome<OperationName, Event> {
  return interceptors.reduceRight<(call: InterceptedCall<Context>) => CallOutcome<OperationName, Event>>(
    (next, interceptor) => (call) => interceptor(call, next),
    last,
  );
}
