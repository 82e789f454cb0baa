import { type CallOutcome, type InterceptedCall, type Interceptor, interceptCall } from '../operations/interceptor.js';
import { OPERATION_NAMES, type OperationName } from '../operations/operations.js';
import type { IdSource } from '../runtime/id-source.js';
import type { StreamItem } from '../task/stream-item.js';
import type { RequestHandler } from './request-handler.js';
import type { ServerCallContext } from './server-call-context.js';

/**
 * An interceptor of the calls of a server. A stream item may have the JSON of its event. An interceptor that replaces
 * the event must leave out the JSON.
 */
export type ServerInterceptor = Interceptor<ServerCallContext, StreamItem>;

/** Adds the ids of a new task to the call context, for later interceptors and the handler. */
export function newTaskIds(ids: IdSource): ServerInterceptor {
  return (call, next) => {
    const message = 'message' in call.request ? call.request.message : undefined;
    if (message === undefined || message.taskId) return next(call);
    const newTask = { taskId: ids.ordered(), contextId: message.contextId || ids.ordered() };
    return next({ ...call, context: { ...call.context, newTask } });
  };
}

/** A handler with interceptors around each operation; the first interceptor is the outermost. */
export function interceptedHandler(
  handler: RequestHandler,
  interceptors: readonly ServerInterceptor[],
): RequestHandler {
  const run = interceptCall(interceptors, ({ operation, request, context }: InterceptedCall<ServerCallContext>) => {
    const answer = handler[operation] as (request: unknown, context: ServerCallContext) => unknown;
    return answer.call(handler, request, context) as CallOutcome<OperationName, StreamItem>;
  });
  const operations = OPERATION_NAMES.map((operation) => [
    operation,
    (request: InterceptedCall<ServerCallContext>['request'], context: ServerCallContext) =>
      run({ operation, request, context }),
  ]);
  return Object.fromEntries(operations) as RequestHandler;
}
