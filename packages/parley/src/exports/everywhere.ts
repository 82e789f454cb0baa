export { ERROR_NUMBERS } from '../bindings/http/error-numbers.js';
export {
  A2AError,
  type ErrorCode,
  type ErrorDetails,
  type FieldViolation,
} from '../errors/a2a-error.js';
export { AgentCardError } from '../errors/agent-card-error.js';
export { ConnectionError } from '../errors/connection-error.js';
export { OptionsError } from '../errors/options-error.js';
export { RefusedAddressError } from '../errors/refused-address-error.js';
export {
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  ExtensionSupportRequiredError,
  InvalidAgentResponseError,
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '../errors/spec-errors.js';
export {
  InternalError,
  InvalidParamsError,
  PermissionDeniedError,
  UnauthenticatedError,
} from '../errors/standard-errors.js';
export { StorageError } from '../errors/storage-error.js';
export type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
} from '../model/agent-card.js';
export type { Artifact } from '../model/artifact.js';
export type { JsonObject, JsonValue } from '../model/json.js';
export type { Message } from '../model/message.js';
export type { DataPart, Part, RawPart, TextPart, UrlPart } from '../model/part.js';
export type {
  AuthenticationInfo,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '../model/push-notification-config.js';
export { ROLES, type Role } from '../model/role.js';
export type { OAuthFlows, SecurityRequirement, SecurityScheme } from '../model/security-scheme.js';
export type { SendMessageConfiguration, SendMessageRequest } from '../model/send-message-request.js';
export type {
  AskResult,
  SendMessageResponse,
  StreamResponse,
  TaskArtifactUpdateEvent,
  TaskEvent,
  TaskStatusUpdateEvent,
} from '../model/stream-response.js';
export type { Task, TaskStatus } from '../model/task.js';
export type {
  CancelTaskRequest,
  GetExtendedAgentCardRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  SubscribeToTaskRequest,
} from '../model/task-requests.js';
export { isInterrupted, isTerminal, TASK_STATES, type TaskState } from '../model/task-state.js';
export { type LogFields, type Logger, silentLogger } from '../telemetry/logger.js';
export { printableLine, printableText } from '../telemetry/printable-text.js';
export { LOG_LEVELS, type LogLevel } from '../telemetry/text-logger.js';
export { Client, type ConnectOptions, connect, fetchAgentCard, joinParts, TaskStream, textOf } from './client.js';
export { canCheckAddresses, type GuardedFetchOptions, guardedFetch } from './guarded-fetch.js';
export {
  type AgentExecutor,
  type AgentHandler,
  type AgentHandlerOptions,
  type AgentOptions,
  type Authentication,
  type Authenticator,
  agent,
  createAgentHandler,
  type EventQueue,
  type RequestContext,
  type RequestHandler,
  type ServerCallContext,
  type User,
} from './server.js';
