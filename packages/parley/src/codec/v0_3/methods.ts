import type { OperationName } from '../../operations/operations.js';

/** The JSON-RPC methods of 0.2.5, where the extended card is no method; listing tasks is none in either. */
export const METHODS_0_2: ReadonlyMap<string, OperationName> = new Map<string, OperationName>([
  ['message/send', 'sendMessage'],
  ['message/stream', 'sendStreamingMessage'],
  ['tasks/get', 'getTask'],
  ['tasks/cancel', 'cancelTask'],
  ['tasks/resubscribe', 'subscribeToTask'],
  ['tasks/pushNotificationConfig/set', 'createTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/get', 'getTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/list', 'listTaskPushNotificationConfigs'],
  ['tasks/pushNotificationConfig/delete', 'deleteTaskPushNotificationConfig'],
]);

/** The JSON-RPC methods of 0.3; the text of the specification once spells the last one otherwise. */
export const METHODS: ReadonlyMap<string, OperationName> = new Map<string, OperationName>([
  ...METHODS_0_2,
  ['agent/getAuthenticatedExtendedCard', 'getExtendedAgentCard'],
  ['agent/authenticatedExtendedCard', 'getExtendedAgentCard'],
]);
