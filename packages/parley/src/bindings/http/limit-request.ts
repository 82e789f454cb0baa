import { InvalidParamsError, tooDeep } from '../../errors/standard-errors.js';
import { isNestedDeeper, MAX_NESTING } from '../../model/json-fault.js';
import type { OperationName, OperationTypes } from '../../operations/operations.js';
import type { RequestLimits } from './binding-context.js';

/**
 * Checks the limits of a valid request. Every event repeats ids, so that a long id costs far more than its request.
 * @throws InvalidParamsError naming the first field beyond its limit. A2AError INVALID_REQUEST for a value that is
 * nested too deeply.
 */
export function limitRequest(request: OperationTypes[OperationName]['request'], limits: RequestLimits): void {
  const { parts, idLength, jsonDepth } = limits;
  const { tenant, id, taskId, contextId } = request as Readonly<Record<string, unknown>>;
  limitId('tenant', tenant, idLength);
  limitId('id', id, idLength);
  limitId('taskId', taskId, idLength);
  limitId('contextId', contextId, idLength);
  // The validator has checked the largest allowed depth.
  if (jsonDepth < MAX_NESTING) limitDepths(request, jsonDepth);
  if (!('message' in request)) return;
  const { message } = request;
  limitId('message.messageId', message.messageId, idLength);
  limitId('message.contextId', message.contextId, idLength);
  limitId('message.taskId', message.taskId, idLength);
  if (message.parts.length > parts) throw tooMuch('message.parts', `must not have more than ${parts} parts`, 'parts');
  const { referenceTaskIds } = message;
  if (referenceTaskIds === undefined) return;
  for (const [at, other] of referenceTaskIds.entries()) limitId(`message.referenceTaskIds[${at}]`, other, idLength);
}

function limitDepths(request: OperationTypes[OperationName]['request'], levels: number): void {
  if ('metadata' in request) limitDepth('metadata', request.metadata, levels);
  if (!('message' in request)) return;
  limitDepth('message.metadata', request.message.metadata, levels);
  for (const [at, part] of request.message.parts.entries()) {
    if (part.data !== undefined) limitDepth(`message.parts[${at}].data`, part.data, levels);
    limitDepth(`message.parts[${at}].metadata`, part.metadata, levels);
  }
}

function limitDepth(field: string, value: unknown, levels: number): void {
  if (isNestedDeeper(value, levels)) throw tooDeep(levels, field);
}

function limitId(field: string, id: unknown, limit: number): void {
  if (typeof id === 'string' && id.length > limit)
    throw tooMuch(field, `must not have more than ${limit} characters`, 'idLength');
}

function tooMuch(field: string, description: string, limit: keyof RequestLimits): InvalidParamsError {
  return new InvalidParamsError([{ field, description }], limit);
}
