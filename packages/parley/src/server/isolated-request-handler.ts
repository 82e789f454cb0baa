import type { AgentCard } from '../model/agent-card.js';
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
import { DefaultRequestHandler } from './default-request-handler.js';
import { handed, handedStream, takenOver } from './isolation.js';
import type { ServerCallContext } from './server-call-context.js';

/**
 * The engine for code outside of it, which may change what it gives and gets: nothing that is stored changes, and
 * nothing others see.
 */
export class IsolatedRequestHandler extends DefaultRequestHandler {
  override sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<SendMessageResponse> {
    return super.sendMessage(takenOver(request), context).then(handed);
  }

  override sendStreamingMessage(request: SendMessageRequest, context: ServerCallContext): AsyncIterable<StreamItem> {
    return handedStream(super.sendStreamingMessage(takenOver(request), context));
  }

  override getTask(request: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    return super.getTask(request, context).then(handed);
  }

  override listTasks(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    return super.listTasks(request, context).then(handed);
  }

  override cancelTask(request: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    return super.cancelTask(takenOver(request), context).then(handed);
  }

  override subscribeToTask(request: SubscribeToTaskRequest, context: ServerCallContext): AsyncIterable<StreamItem> {
    return handedStream(super.subscribeToTask(request, context));
  }

  override getExtendedAgentCard(request: GetExtendedAgentCardRequest, context: ServerCallContext): Promise<AgentCard> {
    return super.getExtendedAgentCard(request, context).then(handed);
  }
}
