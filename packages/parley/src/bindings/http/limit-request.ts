import { InvalidParamsError } from '../../errors/standard-errors.js';
import type { Message } from '../../model/message.js';
import type { OperationName, OperationTypes } from '../../operations/operations.js';
import type { RequestLimits } from './binding-context.js';

/**
 * Checks the limits of a valid request. Every event repeats ids, so that a long id costs far more than its request.
 * @throws InvalidParamsError naming the first field beyond its limit.
 */
export function limitRequest(request: OperationTypes[OperationName]['request'], limits: RequestLimits): void {
  const { parts, idLength } = limits;
  const { tenant, id, taskId, contextId } = request as Readonly<Record<string, unknown>>;
  limitId('tenant', tenant, idLength);
  limitId('id', id, idLength);
  limitId('taskId', taskId, idLength);
  limitId('contextId', contextId, idLength);
  if (!('message' in request)) return;
  const { message } = request;
  limitMessage(message, idLength);
  if (message.parts.length > parts) throw tooMuch('message.parts', `must not have more than ${parts} parts`, 'parts');
}

function limitMessage(message: Message, limit: number): void {
  limitId('message.messageId', message.messageId, limit);
  limitId('message.contextId', message.contextId, limit);
  limitId('message.taskId', message.taskId, limit);
  const { referenceTaskIds } = message;
  if (referenceTaskIds === undefined) return;
  for (const [at, id] of referenceTaskIds.entries()) limitId(`message.referenceTaskIds[${at}]`, id, limit);
}

function limitId(field: string, id: unknown, limit: number): void {
  if (typeof id === 'string' && id.length > limit)
    throw tooMuch(field, `must not have more than ${limit} characters`, 'idLength');
}

function tooMuch(field: string, description: string, limit: keyof RequestLimits): InvalidParamsError {
  return new InvalidParamsError([{ field, description }], limit);
}
