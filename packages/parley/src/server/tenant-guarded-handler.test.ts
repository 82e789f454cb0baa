import { describe, expect, it } from 'vitest';
import type { User } from '../auth/user.js';
import { A2AError } from '../errors/a2a-error.js';
import { isStreaming, OPERATION_NAMES, type OperationName } from '../operations/operations.js';
import { addressOf } from '../operations/request-address.js';
import type { HandlerMethod } from './map-handler.js';
import type { RequestHandler } from './request-handler.js';
import type { ServerCallContext } from './server-call-context.js';
import { type TenantRule, tenantGuardedHandler } from './tenant-guarded-handler.js';

type Request = Parameters<HandlerMethod>[0];

const TASK = 't1';
const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] };

/** A request of each operation, with a task id if the operation has one. */
const REQUESTS: Readonly<Record<OperationName, object>> = {
  sendMessage: { message: { ...message, taskId: TASK } },
  sendStreamingMessage: { message: { ...message, taskId: TASK } },
  getTask: { id: TASK },
  listTasks: {},
  cancelTask: { id: TASK },
  subscribeToTask: { id: TASK },
  createTaskPushNotificationConfig: { taskId: TASK, id: 'c1', url: 'https://hooks.example/a' },
  getTaskPushNotificationConfig: { taskId: TASK, id: 'c1' },
  listTaskPushNotificationConfigs: { taskId: TASK },
  deleteTaskPushNotificationConfig: { taskId: TASK, id: 'c1' },
  getExtendedAgentCard: {},
};
const LISTED: User = { id: 'test|ann', tenants: ['north'] };
const UNLISTED: User = { id: 'test|bob' };

/** The guard around a handler that records its operations. */
function guardedBy(rule?: TenantRule) {
  const handled: OperationName[] = [];
  const methods = OPERATION_NAMES.map((operation) => {
    const unary = async () => {
      handled.push(operation);
      return operation;
    };
    async function* stream() {
      handled.push(operation);
      yield operation;
    }
    return [operation, isStreaming(operation) ? stream : unary] as const;
  });
  const handler = tenantGuardedHandler(Object.fromEntries(methods) as unknown as RequestHandler, rule);
  const call = async (operation: OperationName, request: object, user?: User) => {
    const context = { ...(user !== undefined && { user }) } as ServerCallContext;
    const answer = (handler[operation] as HandlerMethod)(request as Request, context);
    if (!isStreaming(operation)) return answer;
    let last: unknown;
    for await (const item of answer as AsyncIterable<unknown>) last = item;
    return last;
  };
  return { handled, call };
}

/** Returns the error of a call for its caller. */
async function refusalOf(call: Promise<unknown>): Promise<object> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof A2AError)) throw new Error('The call was not refused', { cause: error });
  return { code: error.code, message: error.message, details: error.details };
}

const GRANTED: readonly (readonly [string, User | undefined, TenantRule | undefined])[] = [
  ['the list of the user', LISTED, undefined],
  ['the list of the user, whatever the rule says', LISTED, () => false],
  ['the rule, for a user without a list', UNLISTED, () => true],
  ['a rule that takes time', UNLISTED, async () => true],
  ['the rule, for an anonymous caller', undefined, (user) => user === undefined],
];

const REFUSED: readonly (readonly [string, User | undefined, TenantRule | undefined])[] = [
  ['a list without the tenant', { ...LISTED, tenants: ['south'] }, undefined],
  ['an empty list, whatever the rule says', { ...LISTED, tenants: [] }, () => true],
  ['a user without a list, if there is no rule', UNLISTED, undefined],
  ['an anonymous caller, if there is no rule', undefined, undefined],
  ['a rule that says no', UNLISTED, () => false],
  ['a rule that says no after a time', UNLISTED, async () => false],
  // Untyped code may return this.
  ['a rule that answers something true', UNLISTED, () => 'yes' as never],
];

describe.each(OPERATION_NAMES.map((operation) => [operation] as const))('the guard of tenants: %s', (operation) => {
  const request = REQUESTS[operation];
  const inTenant = (tenant: string) => ({ ...request, tenant });

  it.each([
    ['no tenant', request],
    ['an empty tenant', inTenant('')],
  ])('lets a request with %s pass without the rule', async (_, own) => {
    const { call, handled } = guardedBy(() => {
      throw new Error('The rule is not asked');
    });
    for (const user of [undefined, LISTED, UNLISTED]) expect(await call(operation, own, user)).toBe(operation);
    expect(handled).toHaveLength(3);
  });

  it.each(GRANTED)('a tenant is granted by %s', async (_, user, rule) => {
    const { call, handled } = guardedBy(rule);
    expect(await call(operation, inTenant('north'), user)).toBe(operation);
    expect(handled).toEqual([operation]);
  });

  it.each(REFUSED)('a tenant is refused, as one without tasks: %s', async (_, user, rule) => {
    const { call, handled } = guardedBy(rule);
    const refused = await refusalOf(call(operation, inTenant('north'), user));
    const isAboutTask = addressOf(request as Request).taskId === TASK;
    expect(refused).toMatchObject({ code: isAboutTask ? 'TASK_NOT_FOUND' : 'INVALID_PARAMS' });
    expect(await refusalOf(call(operation, inTenant('nowhere'), user))).toEqual(refused);
    expect(handled).toEqual([]);
  });

  it.each([
    ['rejects', () => Promise.reject(new TypeError('The directory is away'))],
    [
      'throws',
      () => {
        throw new TypeError('The directory is away');
      },
    ],
  ] as const)('a rule that %s fails the call, and nothing is handled', async (_, rule) => {
    const { call, handled } = guardedBy(rule);
    await expect(async () => call(operation, inTenant('north'), UNLISTED)).rejects.toThrow('The directory is away');
    expect(handled).toEqual([]);
  });
});
