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
import type { ModelTypeName, ModelTypes } from '../model/validation.js';

/** Request and response of every operation (Spec §3.1). A stream gives its response many times. */
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

/** The response of any operation; of a stream, one event. */
export type OperationResponse = OperationTypes[OperationName]['response'];

/** The capability that the card must declare for an operation (Spec §3.3.4). */
export type NeededCapability = 'streaming' | 'pushNotifications' | 'extendedAgentCard';

/** The schemas in `model/` that describe a type. */
type SchemaOf<Type> = { [Name in ModelTypeName]: ModelTypes[Name] extends Type ? Name : never }[ModelTypeName];

/** One row of `OPERATIONS`. */
interface OperationRow<Name extends OperationName = OperationName> {
  /** The schema of the request on the wire of version 1.0. */
  readonly request: SchemaOf<OperationTypes[Name]['request']>;
  /** The schema of the response, or of one event of a stream; undefined: the response is empty. */
  readonly response: SchemaOf<OperationTypes[Name]['response']> | undefined;
  readonly streaming: boolean;
  readonly capability: NeededCapability | undefined;
  /** For descriptions of an API. */
  readonly summary: string;
}

/**
 * All operations of the protocol. Dispatch, decoding, validation, OpenAPI and test matrices derive from these rows.
 * Names on the wire stand in `codec/‹version›/operations.ts`.
 */
export const OPERATIONS = {
  sendMessage: {
    request: 'SendMessageRequest',
    response: 'SendMessageResponse',
    streaming: false,
    capability: undefined,
    summary: 'Send a message to the agent',
  },
  sendStreamingMessage: {
    request: 'SendMessageRequest',
    response: 'StreamResponse',
    streaming: true,
    capability: 'streaming',
    summary: 'Send a message and stream the events',
  },
  getTask: {
    request: 'GetTaskRequest',
    response: 'Task',
    streaming: false,
    capability: undefined,
    summary: 'Read a task',
  },
  listTasks: {
    request: 'ListTasksRequest',
    response: 'ListTasksResponse',
    streaming: false,
    capability: undefined,
    summary: 'List tasks',
  },
  cancelTask: {
    request: 'CancelTaskRequest',
    response: 'Task',
    streaming: false,
    capability: undefined,
    summary: 'Cancel a task',
  },
  subscribeToTask: {
    request: 'SubscribeToTaskRequest',
    response: 'StreamResponse',
    streaming: true,
    capability: 'streaming',
    summary: 'Stream the events of a task',
  },
  createTaskPushNotificationConfig: {
    request: 'CreateTaskPushNotificationConfigRequest',
    response: 'TaskPushNotificationConfig',
    streaming: false,
    capability: 'pushNotifications',
    summary: 'Register a webhook for a task',
  },
  getTaskPushNotificationConfig: {
    request: 'GetTaskPushNotificationConfigRequest',
    response: 'TaskPushNotificationConfig',
    streaming: false,
    capability: 'pushNotifications',
    summary: 'Read a webhook of a task',
  },
  listTaskPushNotificationConfigs: {
    request: 'ListTaskPushNotificationConfigsRequest',
    response: 'ListTaskPushNotificationConfigsResponse',
    streaming: false,
    capability: 'pushNotifications',
    summary: 'List the webhooks of a task',
  },
  deleteTaskPushNotificationConfig: {
    request: 'DeleteTaskPushNotificationConfigRequest',
    response: undefined,
    streaming: false,
    capability: 'pushNotifications',
    summary: 'Delete a webhook of a task',
  },
  getExtendedAgentCard: {
    request: 'GetExtendedAgentCardRequest',
    response: 'AgentCard',
    streaming: false,
    capability: 'extendedAgentCard',
    summary: 'Read the extended agent card',
  },
} as const satisfies { readonly [Name in OperationName]: OperationRow<Name> };

/** The names of all operations, in the order of the table. */
export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];

type OperationRows = typeof OPERATIONS;
/** The operations that are answered by a stream of events. */
export type StreamingOperationName = {
  [Name in OperationName]: OperationRows[Name]['streaming'] extends true ? Name : never;
}[OperationName];
/** The operations that are answered once. */
export type UnaryOperationName = Exclude<OperationName, StreamingOperationName>;

/** True if an operation is answered by a stream of events. */
export function isStreaming(operation: OperationName): operation is StreamingOperationName {
  return OPERATIONS[operation].streaming;
}

/** True if an operation is answered by an agent card. */
export function answersCard(operation: OperationName): boolean {
  return OPERATIONS[operation].response === 'AgentCard';
}

/** True if the request of an operation is a message to the agent. */
export function takesMessage(operation: OperationName): boolean {
  return OPERATIONS[operation].request === 'SendMessageRequest';
}

/** The operations that run a turn or a stream. Their callers have limits of their own. */
export const RUNNING_OPERATIONS: ReadonlySet<OperationName> = new Set(
  OPERATION_NAMES.filter((operation) => takesMessage(operation) || isStreaming(operation)),
);

/** Operations by the verbs that objects, such as a task, have for them. */
export const BY_VERB = {
  send: 'sendMessage',
  stream: 'sendStreamingMessage',
  get: 'getTask',
  list: 'listTasks',
  cancel: 'cancelTask',
  subscribe: 'subscribeToTask',
  describe: 'getExtendedAgentCard',
} as const satisfies Readonly<Record<string, OperationName>>;
