import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { ERROR_NUMBERS, type ErrorCode, type StreamResponse, type Task } from 'parley-a2a';
import type { InterceptedCall } from 'parley-a2a/server';
import { DRAFT, STABLE } from './conventions.js';

/** A call of any operation. */
export type AnyCall = Pick<InterceptedCall<unknown>, 'operation' | 'request'>;

/** Returns the wire name of an operation (Spec §5.3). */
export function methodOf({ operation }: Pick<AnyCall, 'operation'>): string {
  return operation.charAt(0).toUpperCase() + operation.slice(1);
}

/** Records the ids in a request; never its content. */
export function setRequestFacts(span: Span, { request }: Pick<AnyCall, 'request'>): void {
  if (request.tenant) span.setAttribute(DRAFT.tenant, request.tenant);
  if ('message' in request) {
    const { messageId, taskId, contextId, referenceTaskIds } = request.message;
    span.setAttribute(DRAFT.messageId, messageId);
    if (taskId !== undefined) span.setAttribute(DRAFT.taskId, taskId);
    if (contextId !== undefined) span.setAttribute(DRAFT.conversation, contextId);
    if (referenceTaskIds?.length) span.setAttribute(DRAFT.references, [...referenceTaskIds]);
  } else if ('taskId' in request && typeof request.taskId === 'string') {
    span.setAttribute(DRAFT.taskId, request.taskId);
  } else if ('id' in request && typeof request.id === 'string') {
    span.setAttribute(DRAFT.taskId, request.id);
  }
}

/** Records the task id, state and context id of an answer or an event. */
export function setAnswerFacts(span: Span, answer: unknown): void {
  if (typeof answer !== 'object' || answer === null) return;
  const { task, message, statusUpdate } = answer as Partial<StreamResponse>;
  let contextId: string | undefined;
  if (message !== undefined) contextId = message.contextId;
  else if (statusUpdate !== undefined) {
    contextId = statusUpdate.contextId;
    span.setAttribute(DRAFT.taskId, statusUpdate.taskId).setAttribute(DRAFT.taskState, statusUpdate.status.state);
  } else {
    const shown = task ?? ('status' in answer && 'id' in answer ? (answer as Task) : undefined);
    if (shown === undefined) return;
    contextId = shown.contextId;
    span.setAttribute(DRAFT.taskId, shown.id).setAttribute(DRAFT.taskState, shown.status.state);
  }
  if (contextId !== undefined) span.setAttribute(DRAFT.conversation, contextId);
}

/** Returns the type of an error: the number of the specification as text (Spec §5.4), or the name of the error. */
export function errorType(error: unknown): string {
  // Checked by members, because the error class may be from another copy of the library: `parley serve` bundles this
  // package.
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === 'string' && Object.hasOwn(ERROR_NUMBERS, code)) return String(ERROR_NUMBERS[code as ErrorCode]);
  return error instanceof Error ? String(name) : typeof error;
}

/** Returns the error type of a tool: its reason. Undefined for a question, which is no error. */
export function toolErrorType(error: unknown): string | undefined {
  if (!(error instanceof Error)) return errorType(error);
  if (error.name === 'AnswerNeededError') return undefined;
  const isToolError = error.name === 'ToolError' && 'reason' in error;
  return isToolError ? String(error.reason) : errorType(error);
}

/** Ends a span as an error. Excludes the text of the error, which may contain words of a message. */
export function failSpan(span: Span, error: unknown): void {
  span.setAttribute(STABLE.errorType, errorType(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
}
