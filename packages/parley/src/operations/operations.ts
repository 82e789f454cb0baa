import type { AgentCard } from '../model/agent-card.js';
import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '../model/push-notification-config.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import type { SendMessageResponse, StreamResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import type {
  CancelTaskRequest,
  GetExtendedAgentCardRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  SubscribeToTaskRequest,
} from '../model/task-requests.js';

/** Request and response of every operation (spec §3.1); streams give their response many times. */
export interface OperationTypes {
  sendMessage: { request: SendMessageRequest; response: SendMessageResponse };
  sendStreamingMessage: { request: SendMessageRequest; response: StreamResponse };
  getTask: { request: GetTaskRequest; response: Task };
  listTasks: { request: ListTasksRequest; response: ListTasksResponse };
  cancelTask: { request: CancelTaskRequest; response: Task };
  subscribeToTask: { request: SubscribeToTaskRequest; response: StreamResponse };
  createTaskPushNotificationConfig: { request: TaskPushNotificationConfig; response: TaskPushNotificationConfig };
  getTaskPushNotificationConfig: {
    request: GetTaskPushNotificationConfigRequest;
    response: TaskPushNotificationConfig;
  };
  listTaskPushNotificationConfigs: {
    request: ListTaskPushNotificationConfigsRequest;
    response: ListTaskPushNotificationConfigsResponse;
  };
  deleteTaskPushNotificationConfig: { request: DeleteTaskPushNotificationConfigRequest; response: undefined };
  getExtendedAgentCard: { request: GetExtendedAgentCardRequest; response: AgentCard };
}

/** Any operation. */
export type OperationName = keyof OperationTypes;
/** Those answered by a stream of events. */
export type StreamingOperationName = 'sendStreamingMessage' | 'subscribeToTask';
/** Those answered once. */
export type UnaryOperationName = Exclude<OperationName, StreamingOperationName>;

/** The capability of the card without which an operation is refused (spec §3.3.4). */
export type NeededCapability = 'streaming' | 'pushNotifications' | 'extendedAgentCard';

/** One row of the table from which dispatch, clients, commands and test matrices derive. */
export interface Operation<Name extends OperationName = OperationName> {
  readonly name: Name;
  /** Names of the schemas in `model/`. */
  readonly request: string;
  readonly response: string | undefined;
  readonly streaming: boolean;
  readonly capability: NeededCapability | undefined;
}

/** All operations of the protocol. A new one is a row here, its types, and a method of the handler. */
export const OPERATIONS: { readonly [Name in OperationName]: Operation<Name> } = {
  sendMessage: {
    name: 'sendMessage',
    request: 'SendMessageRequest',
    response: 'SendMessageResponse',
    streaming: false,
    capability: undefined,
  },
  sendStreamingMessage: {
    name: 'sendStreamingMessage',
    request: 'SendMessageRequest',
    response: 'StreamResponse',
    streaming: true,
    capability: 'streaming',
  },
  getTask: { name: 'getTask', request: 'GetTaskRequest', response: 'Task', streaming: false, capability: undefined },
  listTasks: {
    name: 'listTasks',
    request: 'ListTasksRequest',
    response: 'ListTasksResponse',
    streaming: false,
    capability: undefined,
  },
  cancelTask: {
    name: 'cancelTask',
    request: 'CancelTaskRequest',
    response: 'Task',
    streaming: false,
    capability: undefined,
  },
  subscribeToTask: {
    name: 'subscribeToTask',
    request: 'SubscribeToTaskRequest',
    response: 'StreamResponse',
    streaming: true,
    capability: 'streaming',
  },
  createTaskPushNotificationConfig: {
    name: 'createTaskPushNotificationConfig',
    request: 'TaskPushNotificationConfig',
    response: 'TaskPushNotificationConfig',
    streaming: false,
    capability: 'pushNotifications',
  },
  getTaskPushNotificationConfig: {
    name: 'getTaskPushNotificationConfig',
    request: 'GetTaskPushNotificationConfigRequest',
    response: 'TaskPushNotificationConfig',
    streaming: false,
    capability: 'pushNotifications',
  },
  listTaskPushNotificationConfigs: {
    name: 'listTaskPushNotificationConfigs',
    request: 'ListTaskPushNotificationConfigsRequest',
    response: 'ListTaskPushNotificationConfigsResponse',
    streaming: false,
    capability: 'pushNotifications',
  },
  deleteTaskPushNotificationConfig: {
    name: 'deleteTaskPushNotificationConfig',
    request: 'DeleteTaskPushNotificationConfigRequest',
    response: undefined,
    streaming: false,
    capability: 'pushNotifications',
  },
  getExtendedAgentCard: {
    name: 'getExtendedAgentCard',
    request: 'GetExtendedAgentCardRequest',
    response: 'AgentCard',
    streaming: false,
    capability: 'extendedAgentCard',
  },
};
