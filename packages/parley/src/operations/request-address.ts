import type { OperationName, OperationTypes } from './operations.js';

/** The task and the context of a request; undefined if the request does not name them. */
export interface RequestAddress {
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
}

/** The task and the context of a request. */
export function addressOf(request: OperationTypes[OperationName]['request']): RequestAddress {
  if ('message' in request) return { taskId: request.message.taskId, contextId: request.message.contextId };
  if ('taskId' in request) return { taskId: request.taskId, contextId: undefined };
  const contextId = 'contextId' in request ? request.contextId : undefined;
  return { taskId: 'id' in request ? request.id : undefined, contextId };
}
