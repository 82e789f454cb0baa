import { InvalidAgentResponseError } from '../errors/spec-errors.js';
import { isValid, type ModelTypeName, violationsOf } from '../model/validation.js';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../operations/operations.js';
import type { StreamItem } from '../task/stream-item.js';
import type { RequestHandler } from './request-handler.js';
import type { ServerCallContext } from './server-call-context.js';

type Method = (request: unknown, context: ServerCallContext) => unknown;

/**
 * A handler that validates the results of these operations. An invalid result becomes InvalidAgentResponse (Spec
 * §3.3.2). The faults are logged as its cause.
 */
export function validatedHandler(
  handler: RequestHandler,
  operations: readonly OperationName[] = OPERATION_NAMES,
): RequestHandler {
  const methods = OPERATION_NAMES.map((operation) => {
    const method: Method = (request, context) => (handler[operation] as Method).call(handler, request, context);
    return [operation, operations.includes(operation) ? validateRequests(operation, method) : method] as const;
  });
  return Object.fromEntries(methods) as unknown as RequestHandler;
}

function validateRequests(operation: OperationName, method: Method): Method {
  const { response, streaming } = OPERATIONS[operation];
  if (response === undefined) return method;
  if (streaming) return (request, context) => validItems(method(request, context) as AsyncIterable<StreamItem>);
  return async (request, context) => valid(response, operation, await method(request, context));
}

async function* validItems(items: AsyncIterable<StreamItem>): AsyncGenerator<StreamItem> {
  for await (const item of items) {
    valid('StreamResponse', 'a stream', item.event);
    yield item;
  }
}

function valid(type: ModelTypeName, source: string, value: unknown): unknown {
  if (isValid(type, value)) return value;
  const faults = violationsOf(type, value).map(({ field, description }) => `${field || type} ${description}`);
  const cause = new TypeError(`The result of ${source} is no ${type}: ${faults.join('; ')}`);
  throw new InvalidAgentResponseError(undefined, { cause });
}
