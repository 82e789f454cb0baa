import type { User } from '../auth/user.js';
import { TaskNotFoundError } from '../errors/spec-errors.js';
import { InvalidParamsError } from '../errors/standard-errors.js';
import { isStreaming, type OperationName, type OperationTypes } from '../operations/operations.js';
import { addressOf } from '../operations/request-address.js';
import type { StreamItem } from '../task/stream-item.js';
import { type HandlerMethod, mapHandler } from './map-handler.js';
import type { RequestHandler } from './request-handler.js';
import type { ServerCallContext } from './server-call-context.js';

/**
 * The tenant rule of an operator. Only `true` grants the tenant; a rule that throws or rejects fails the call.
 * `user` is absent for an anonymous caller. Called before each call that names a tenant.
 */
export type TenantRule = (user: User | undefined, tenant: string) => boolean | Promise<boolean>;

type Request = OperationTypes[OperationName]['request'];

/**
 * A handler whose callers may use only granted tenants: those of `User.tenants`, and for a user without that list those
 * of the rule. `User.needsTenantRule` requires both. Any other tenant is answered as one without tasks, so that no
 * caller can find out which tenants exist. A request without a tenant always passes.
 */
export function tenantGuardedHandler(handler: RequestHandler, rule: TenantRule = refuseAll): RequestHandler {
  return mapHandler(handler, (operation, method) => guardTenant(operation, method, rule));
}

function refuseAll(): boolean {
  return false;
}

/** Returns true, or a promise of it, if a caller may use a tenant. */
export function grantedTenant(
  user: User | undefined,
  tenant: string,
  rule: TenantRule = refuseAll,
): boolean | Promise<boolean> {
  const isListed = user?.tenants?.includes(tenant);
  return isListed === undefined || (isListed && user?.needsTenantRule === true) ? rule(user, tenant) : isListed;
}

function guardTenant(operation: OperationName, answer: HandlerMethod, rule: TenantRule): HandlerMethod {
  return (request, context) => {
    const { tenant } = request;
    if (tenant === undefined || tenant === '') return answer(request, context);
    const granted = grantedTenant(context.user, tenant, rule);
    if (granted === true) return answer(request, context);
    return isStreaming(operation)
      ? streamGranted(granted, answer, request, context)
      : answerGranted(granted, answer, request, context);
  };
}

async function answerGranted(granted: unknown, answer: HandlerMethod, request: Request, context: ServerCallContext) {
  if ((await granted) !== true) throw refusalOf(request);
  return answer(request, context);
}

async function* streamGranted(
  granted: unknown,
  answer: HandlerMethod,
  request: Request,
  context: ServerCallContext,
): AsyncGenerator<StreamItem> {
  if ((await granted) !== true) throw refusalOf(request);
  yield* answer(request, context) as AsyncIterable<StreamItem>;
}

/** Returns the error for a tenant that is not granted. A task in it is answered as a missing one. */
function refusalOf(request: Request): Error {
  const { taskId } = addressOf(request);
  if (taskId !== undefined && taskId !== '') return new TaskNotFoundError(taskId);
  return new InvalidParamsError([{ field: 'tenant', description: 'is not a tenant of the caller' }]);
}
