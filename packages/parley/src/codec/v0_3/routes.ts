import type { WireRoute } from '../wire-codec.js';

const TASKS = ['v1', 'tasks'];
const CONFIGS = [...TASKS, '{id}', 'pushNotificationConfigs'];
const CONFIG = [...CONFIGS, '{pushNotificationConfigId}'];

/** The place of the extended card in 0.2.5: over JSON-RPC, beside the url of the interface. */
export const EXTENDED_CARD_0_2: WireRoute = {
  operation: 'getExtendedAgentCard',
  method: 'GET',
  path: ['agent', 'authenticatedExtendedCard'],
  body: 'none',
};

/**
 * The HTTP+JSON routes of 0.3: below `/v1`, which no tenant can be called therefore. Path variables are named as the parameters of
 * the JSON-RPC methods. The extended card has the place that 0.2.5 gave it, too.
 */
export const ROUTES: readonly WireRoute[] = [
  { operation: 'sendMessage', method: 'POST', path: ['v1', 'message:send'], body: 'required' },
  { operation: 'sendStreamingMessage', method: 'POST', path: ['v1', 'message:stream'], body: 'required' },
  { operation: 'getTask', method: 'GET', path: [...TASKS, '{id}'], body: 'none' },
  { operation: 'cancelTask', method: 'POST', path: [...TASKS, '{id}:cancel'], body: 'optional' },
  { operation: 'subscribeToTask', method: 'POST', path: [...TASKS, '{id}:subscribe'], body: 'optional' },
  { operation: 'subscribeToTask', method: 'GET', path: [...TASKS, '{id}:subscribe'], body: 'none' },
  {
    operation: 'createTaskPushNotificationConfig',
    method: 'POST',
    path: [...TASKS, '{taskId}', 'pushNotificationConfigs'],
    body: 'required',
  },
  { operation: 'getTaskPushNotificationConfig', method: 'GET', path: CONFIG, body: 'none' },
  { operation: 'listTaskPushNotificationConfigs', method: 'GET', path: CONFIGS, body: 'none' },
  { operation: 'deleteTaskPushNotificationConfig', method: 'DELETE', path: CONFIG, body: 'none' },
  { operation: 'getExtendedAgentCard', method: 'GET', path: ['v1', 'card'], body: 'none' },
  EXTENDED_CARD_0_2,
];
