import type { ErrorCode } from '../../errors/a2a-error.js';
import type { OperationName, OperationTypes } from '../../operations/operations.js';
import { addressOf } from '../../operations/request-address.js';
import type { StreamItem } from '../../task/stream-item.js';

/** What a call was and what became of it, for logs and figures: filled in as far as the call gets, free of what it says. */
export class CallRecord {
  readonly binding: string;
  /** Absent until it is known. */
  operation: OperationName | undefined = undefined;
  /** That of the codec that speaks for the call; absent until it is known. */
  version: string | undefined = undefined;
  code: ErrorCode | 'OK' = 'OK';
  taskId: string | undefined = undefined;

  constructor(binding: string) {
    this.binding = binding;
  }

  /** The call is about a task that its request names. */
  asked(request: OperationTypes[OperationName]['request']): void {
    this.taskId = addressOf(request).taskId;
  }

  /** The call is about the task that its answer shows, unless it named one. */
  answered(response: OperationTypes[OperationName]['response'] | StreamItem['event']): void {
    if (response !== undefined && 'task' in response) this.taskId ??= response.task.id;
  }
}
