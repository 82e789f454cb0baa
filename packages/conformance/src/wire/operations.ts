import type { Json } from './json.js';

/** The operations of the protocol, by the names of 1.0. */
export type OperationName =
  | 'SendMessage'
  | 'SendStreamingMessage'
  | 'GetTask'
  | 'ListTasks'
  | 'CancelTask'
  | 'SubscribeToTask'
  | 'CreateTaskPushNotificationConfig'
  | 'GetTaskPushNotificationConfig'
  | 'ListTaskPushNotificationConfigs'
  | 'DeleteTaskPushNotificationConfig'
  | 'GetExtendedAgentCard';

/** A verb and a path with variables in braces. */
export type Route = readonly [verb: 'GET' | 'POST' | 'DELETE', path: string];

/** The routes of HTTP+JSON in 1.0 (Spec §11.3). */
export const ROUTES_1_0: { readonly [Name in OperationName]: Route } = {
  SendMessage: ['POST', '/message:send'],
  SendStreamingMessage: ['POST', '/message:stream'],
  GetTask: ['GET', '/tasks/{id}'],
  ListTasks: ['GET', '/tasks'],
  CancelTask: ['POST', '/tasks/{id}:cancel'],
  SubscribeToTask: ['POST', '/tasks/{id}:subscribe'],
  CreateTaskPushNotificationConfig: ['POST', '/tasks/{taskId}/pushNotificationConfigs'],
  GetTaskPushNotificationConfig: ['GET', '/tasks/{taskId}/pushNotificationConfigs/{id}'],
  ListTaskPushNotificationConfigs: ['GET', '/tasks/{taskId}/pushNotificationConfigs'],
  DeleteTaskPushNotificationConfig: ['DELETE', '/tasks/{taskId}/pushNotificationConfigs/{id}'],
  GetExtendedAgentCard: ['GET', '/extendedAgentCard'],
};

/** The operations of 0.3 that the checks call: method, route, and the name of the task's id in both. */
export const OPERATIONS_0_3: { readonly [Name in OperationName]?: readonly [method: string, route: Route] } = {
  SendMessage: ['message/send', ['POST', '/v1/message:send']],
  SendStreamingMessage: ['message/stream', ['POST', '/v1/message:stream']],
  GetTask: ['tasks/get', ['GET', '/v1/tasks/{id}']],
  CancelTask: ['tasks/cancel', ['POST', '/v1/tasks/{id}:cancel']],
  SubscribeToTask: ['tasks/resubscribe', ['POST', '/v1/tasks/{id}:subscribe']],
  ListTaskPushNotificationConfigs: [
    'tasks/pushNotificationConfig/list',
    ['GET', '/v1/tasks/{id}/pushNotificationConfigs'],
  ],
  GetExtendedAgentCard: ['agent/getAuthenticatedExtendedCard', ['GET', '/v1/card']],
};

/** The path, query and body of a request. */
export interface RoutedRequest {
  readonly verb: Route[0];
  /** Begins with `/`, query included. */
  readonly path: string;
  readonly body: string | undefined;
}

/** Distributes the parameters of a call over path, query and body (Spec §11.3). */
export function routedRequest([verb, template]: Route, params: Json): RoutedRequest {
  const rest: Record<string, unknown> = { ...params };
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name] ?? '');
    delete rest[name];
    return encodeURIComponent(value);
  });
  const { tenant } = rest;
  const isInPath = typeof tenant === 'string' && tenant !== '' && !tenant.includes('/');
  if (isInPath) delete rest.tenant;
  const path = isInPath ? `/${encodeURIComponent(tenant)}${filled}` : filled;
  if (verb === 'POST') return { verb, path, body: JSON.stringify(rest) };
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) given.append(name, String(value));
  const query = given.toString();
  return { verb, path: query === '' ? path : `${path}?${query}`, body: undefined };
}
