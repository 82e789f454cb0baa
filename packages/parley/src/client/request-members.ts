import { OptionsError } from '../errors/options-error.js';
import { meantBy } from '../model/closest-name.js';
import { isObject } from '../model/json.js';
import { kindOf } from '../model/kind-of.js';
import type { ModelTypes } from '../model/validation.js';
import type { OPERATIONS, OperationName } from '../operations/operations.js';

/** The requests that an application writes itself, without those with a message. */
type CheckedRequestName = Exclude<
  (typeof OPERATIONS)[OperationName]['request'],
  'SendMessageRequest' | 'GetExtendedAgentCardRequest'
>;

/** The members of each request. A missing or a further one does not compile. */
const MEMBERS: {
  readonly [Name in CheckedRequestName]: { readonly [Member in keyof Required<ModelTypes[Name]>]: 1 };
} = {
  GetTaskRequest: { id: 1, historyLength: 1, tenant: 1 },
  ListTasksRequest: {
    contextId: 1,
    status: 1,
    pageSize: 1,
    pageToken: 1,
    historyLength: 1,
    statusTimestampAfter: 1,
    includeArtifacts: 1,
    tenant: 1,
  },
  CancelTaskRequest: { id: 1, metadata: 1, tenant: 1 },
  SubscribeToTaskRequest: { id: 1, tenant: 1 },
  CreateTaskPushNotificationConfigRequest: { taskId: 1, url: 1, token: 1, authentication: 1, id: 1, tenant: 1 },
  GetTaskPushNotificationConfigRequest: { taskId: 1, id: 1, tenant: 1 },
  ListTaskPushNotificationConfigsRequest: { taskId: 1, pageSize: 1, pageToken: 1, tenant: 1 },
  DeleteTaskPushNotificationConfigRequest: { taskId: 1, id: 1, tenant: 1 },
};

/**
 * Checks the names of the members of a request by code without types. The agent checks the values. A whole task or
 * configuration may be given for its ids: its other members are not sent.
 * @throws OptionsError for an unknown member, or for anything but an object.
 */
export function requireMembers(name: CheckedRequestName, request: unknown): void {
  const names = Object.keys(MEMBERS[name]);
  for (const member of isObject(request) ? Object.keys(request) : [kindOf(request)]) {
    if (names.includes(member)) continue;
    const meant = meantBy(member, names);
    if (isObject(request) && meant === '' && name !== 'ListTasksRequest') continue;
    throw new OptionsError('Nothing was sent', [`give { ${names.join(', ')} }, not ${member}${meant}`]);
  }
}
