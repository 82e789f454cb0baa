import type { AgentCard } from '../model/agent-card.js';
import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '../model/push-notification-config.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import type { SendMessageResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import type {
  CancelTaskRequest,
  GetExtendedAgentCardRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  SubscribeToTaskRequest,
} from '../model/task-requests.js';
import type { StreamItem } from '../task/stream-item.js';
import type { ServerCallContext } from './server-call-context.js';

/**
 * The operations of the protocol (Spec §3.1) of an agent server, independent of any binding. Requests are valid;
 * version, required extensions and capabilities are already checked. Implement it, extend `BaseRequestHandler`, or wrap
 * another handler. Throw `A2AError` for errors that the caller should get. Any other error becomes an internal error. A
 * stream that throws before its first event is answered like a failed call.
 */
export interface RequestHandler {
  sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<SendMessageResponse>;
  sendStreamingMessage(request: SendMessageRequest, context: ServerCallContext): AsyncIterable<StreamItem>;
  getTask(request: GetTaskRequest, context: ServerCallContext): Promise<Task>;
  listTasks(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse>;
  cancelTask(request: CancelTaskRequest, context: ServerCallContext): Promise<Task>;
  subscribeToTask(request: SubscribeToTaskRequest, context: ServerCallContext): AsyncIterable<StreamItem>;
  createTaskPushNotificationConfig(
    request: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig>;
  getTaskPushNotificationConfig(
    request: GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig>;
  listTaskPushNotificationConfigs(
    request: ListTaskPushNotificationConfigsRequest,
    context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse>;
  deleteTaskPushNotificationConfig(
    request: DeleteTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<undefined>;
  getExtendedAgentCard(request: GetExtendedAgentCardRequest, context: ServerCallContext): Promise<AgentCard>;
}
