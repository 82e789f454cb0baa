import type { Task } from '../../model/task.js';
import { isTerminal } from '../../model/task-state.js';
import type { InterceptedCall } from '../../operations/interceptor.js';
import type { ServerInterceptor } from '../../server/intercepted-handler.js';
import type { ServerCallContext } from '../../server/server-call-context.js';

/**
 * Shows the last message of a finished task in its history too: clients of base servers read answers there. Streams
 * stay as they are, because their last event carries the message.
 */
export const finalMessageInHistory: ServerInterceptor = (call, next) => {
  const outcome = next(call);
  if (Symbol.asyncIterator in outcome) return outcome;
  const historyLength = historyLengthOf(call);
  const told = outcome.then((response) => {
    if (response === undefined) return response;
    if ('task' in response && response.task !== undefined) return { task: trimHistory(response.task, historyLength) };
    return 'status' in response ? trimHistory(response, historyLength) : response;
  });
  return told as ReturnType<ServerInterceptor>;
};

function historyLengthOf({ request }: InterceptedCall<ServerCallContext>): number | undefined {
  if ('configuration' in request) return request.configuration?.historyLength;
  return 'historyLength' in request ? request.historyLength : undefined;
}

function trimHistory(task: Task, historyLength: number | undefined): Task {
  const { state, message } = task.status;
  if (message === undefined || !isTerminal(state) || historyLength === 0) return task;
  const { history = [] } = task;
  if (history.some(({ messageId, role }) => messageId === message.messageId && role === message.role)) return task;
  return { ...task, history: [...history, message].slice(-(historyLength ?? 0)) };
}
