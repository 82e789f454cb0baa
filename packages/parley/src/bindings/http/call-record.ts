import type { ErrorCode } from '../../errors/a2a-error.js';
import type { OperationName, OperationTypes } from '../../operations/operations.js';
import type { StreamItem } from '../../task/stream-item.js';

/**
 * The facts of one call for logs and metrics. They are filled in as the call goes on, and hold no content of messages.
 */
export class CallRecord {
  readonly binding: string;
  /** Undefined until it is known. */
  operation: OperationName | undefined = undefined;
  /** The version of the codec; undefined until it is known. */
  version: string | undefined = undefined;
  code: ErrorCode | 'OK' = 'OK';
  /** The id of the agent's task space; undefined until the binding has read the request. */
  agent: string | undefined = undefined;
  tenant: string | undefined = undefined;
  taskId: string | undefined = undefined;
  contextId: string | undefined = undefined;

  constructor(binding: string) {
    this.binding = binding;
  }

  /** Records the task and the context of the answer, unless the request named them. */
  answered(response: OperationTypes[OperationName]['response'] | StreamItem['event']): void {
    if (response === undefined || !('task' in response)) return;
    this.taskId ??= response.task.id;
    this.contextId ??= response.task.contextId;
  }
}
