import type { ErrorCode } from '../../errors/a2a-error.js';
import type { OperationName, OperationTypes } from '../../operations/operations.js';
import { addressOf } from '../../operations/request-address.js';
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
  taskId: string | undefined = undefined;

  constructor(binding: string) {
    this.binding = binding;
  }

  /** Records the task that the request names. */
  asked(request: OperationTypes[OperationName]['request']): void {
    this.taskId = addressOf(request).taskId;
  }

  /** Records the task of the answer, unless the request named one. */
  answered(response: OperationTypes[OperationName]['response'] | StreamItem['event']): void {
    if (response !== undefined && 'task' in response) this.taskId ??= response.task.id;
  }
}
