import type { OperationName } from '../../operations/operations.js';

/** The JSON-RPC method of every operation in version 1.0 (spec §9.4); the gRPC methods are the same. */
export const METHODS: ReadonlyMap<string, OperationName> = new Map<string, OperationName>([
  ['SendMessage', 'sendMessage'],
  ['SendStreamingMessage', 'sendStreamingMessage'],
  ['GetTask', 'getTask'],
  ['ListTasks', 'listTasks'],
  ['CancelTask', 'cancelTask'],
  ['SubscribeToTask', 'subscribeToTask'],
  ['CreateTaskPushNotificationConfig', 'createTaskPushNotificationConfig'],
  ['GetTaskPushNotificationConfig', 'getTaskPushNotificationConfig'],
  ['ListTaskPushNotificationConfigs', 'listTaskPushNotificationConfigs'],
  ['DeleteTaskPushNotificationConfig', 'deleteTaskPushNotificationConfig'],
  ['GetExtendedAgentCard', 'getExtendedAgentCard'],
]);
