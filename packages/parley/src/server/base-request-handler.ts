import { PushNotificationNotSupportedError, UnsupportedOperationError } from '../errors/spec-errors.js';
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
import type { RequestHandler } from './request-handler.js';
import type { ServerCallContext } from './server-call-context.js';

/**
 * A base class for request handlers. A subclass must implement only sendMessage, getTask and cancelTask. Streaming
 * returns the unary answer as its only event. Every other operation fails as not supported.
 */
export abstract class BaseRequestHandler implements RequestHandler {
  abstract sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<SendMessageResponse>;
  abstract getTask(request: GetTaskRequest, context: ServerCallContext): Promise<Task>;
  abstract cancelTask(request: CancelTaskRequest, context: ServerCallContext): Promise<Task>;

  async *sendStreamingMessage(request: SendMessageRequest, context: ServerCallContext): AsyncIterable<StreamItem> {
    yield { event: await this.sendMessage(request, context) };
  }

  async listTasks(_request: ListTasksRequest, _context: ServerCallContext): Promise<ListTasksResponse> {
    throw new UnsupportedOperationError();
  }

  subscribeToTask(_request: SubscribeToTaskRequest, _context: ServerCallContext): AsyncIterable<StreamItem> {
    throw new UnsupportedOperationError();
  }

  async createTaskPushNotificationConfig(
    _request: TaskPushNotificationConfig,
    _context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    throw new PushNotificationNotSupportedError();
  }

  async getTaskPushNotificationConfig(
    _request: GetTaskPushNotificationConfigRequest,
    _context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    throw new PushNotificationNotSupportedError();
  }

  async listTaskPushNotificationConfigs(
    _request: ListTaskPushNotificationConfigsRequest,
    _context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    throw new PushNotificationNotSupportedError();
  }

  async deleteTaskPushNotificationConfig(
    _request: DeleteTaskPushNotificationConfigRequest,
    _context: ServerCallContext,
  ): Promise<undefined> {
    throw new PushNotificationNotSupportedError();
  }

  async getExtendedAgentCard(_request: GetExtendedAgentCardRequest, _context: ServerCallContext): Promise<AgentCard> {
    throw new UnsupportedOperationError();
  }
}
