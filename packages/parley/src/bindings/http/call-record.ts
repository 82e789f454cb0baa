import type { ErrorCode } from '../../errors/a2a-error.js';
import type { OperationName, OperationResponse } from '../../operations/operations.js';
import type { StreamItem } from '../../task/stream-item.js';

/**
 * The facts of one call for logs and metrics. They are filled in as the call goes on, and hold no content of messages.
 */
export interface CallRecord {
  readonly binding: string;
  /** Undefined until it is known. */
  operation: OperationName | undefined;
  /** The version of the codec; undefined until it is known. */
  version: string | undefined;
  code: ErrorCode | 'OK';
  /** The id of the agent's task space; undefined until the binding has read the request. */
  agent: string | undefined;
  tenant: string | undefined;
  taskId: string | undefined;
  contextId: string | undefined;
}

/** The record of a call of which only the binding is known. */
export function beginRecord(binding: string): CallRecord {
  return {
    binding,
    operation: undefined,
    version: undefined,
    code: 'OK',
    agent: undefined,
    tenant: undefined,
    taskId: undefined,
    contextId: undefined,
  };
}

/** Records the task and the context of the answer, unless the request named them. */
export function recordAnswer(record: CallRecord, response: OperationResponse | StreamItem['event']): void {
  if (response === undefined || !('task' in response) || response.task === undefined) return;
  record.taskId ??= response.task.id;
  record.contextId ??= response.task.contextId;
}
