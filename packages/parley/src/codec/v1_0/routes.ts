import type { WireRoute } from '../wire-codec.js';

const CONFIGS = ['tasks', '{taskId}', 'pushNotificationConfigs'];

/**
 * The HTTP+JSON routes of version 1.0, without the leading tenant segment each may have (spec §5.3, §11.3). Subscribing is a GET
 * in the protocol definition and a POST in its prose, so it is both; the POST comes first because more servers know it.
 */
export const ROUTES: readonly WireRoute[] = [
  { operation: 'sendMessage', method: 'POST', path: ['message:send'], body: 'required' },
  { operation: 'sendStreamingMessage', method: 'POST', path: ['message:stream'], body: 'required' },
  { operation: 'getTask', method: 'GET', path: ['tasks', '{id}'], body: 'none' },
  { operation: 'listTasks', method: 'GET', path: ['tasks'], body: 'none' },
  { operation: 'cancelTask', method: 'POST', path: ['tasks', '{id}:cancel'], body: 'optional' },
  { operation: 'subscribeToTask', method: 'POST', path: ['tasks', '{id}:subscribe'], body: 'optional' },
  { operation: 'subscribeToTask', method: 'GET', path: ['tasks', '{id}:subscribe'], body: 'none' },
  { operation: 'createTaskPushNotificationConfig', method: 'POST', path: CONFIGS, body: 'required' },
  { operation: 'getTaskPushNotificationConfig', method: 'GET', path: [...CONFIGS, '{id}'], body: 'none' },
  { operation: 'listTaskPushNotificationConfigs', method: 'GET', path: CONFIGS, body: 'none' },
  { operation: 'deleteTaskPushNotificationConfig', method: 'DELETE', path: [...CONFIGS, '{id}'], body: 'none' },
  { operation: 'getExtendedAgentCard', method: 'GET', path: ['extendedAgentCard'], body: 'none' },
];
