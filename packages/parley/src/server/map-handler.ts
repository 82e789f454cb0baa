import { OPERATION_NAMES, type OperationName, type OperationTypes } from '../operations/operations.js';
import type { RequestHandler } from './request-handler.js';
import type { ServerCallContext } from './server-call-context.js';

/** The method of a handler for any operation. It returns a promise, or the items of a stream. */
export type HandlerMethod = (request: OperationTypes[OperationName]['request'], context: ServerCallContext) => unknown;

/** Returns a handler with other methods. `map` returns the given method to leave it unchanged. */
export function mapHandler(
  handler: RequestHandler,
  map: (operation: OperationName, method: HandlerMethod) => HandlerMethod,
): RequestHandler {
  const methods = OPERATION_NAMES.map((operation) => {
    const method = (handler[operation] as HandlerMethod).bind(handler);
    return [operation, map(operation, method)] as const;
  });
  return Object.fromEntries(methods) as unknown as RequestHandler;
}
