import { randomUUID } from 'node:crypto';
import { type Artifact, type Message, type Part, Role, TaskState, type TaskStatusUpdateEvent } from '@a2a-js/sdk';
import { AgentEvent, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server';

/** SUBMITTED and WORKING. */
export function begin(context: RequestContext, bus: ExecutionEventBus): void {
  const { taskId, contextId, userMessage } = context;
  bus.publish(
    AgentEvent.task({
      id: taskId,
      contextId,
      status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() },
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    }),
  );
  bus.publish(AgentEvent.statusUpdate(status(context, TaskState.TASK_STATE_WORKING)));
}

/** A chunk of an artifact, or all of it. */
export function publishChunk(
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  made: Artifact,
  append = false,
): void {
  bus.publish(
    AgentEvent.artifactUpdate({ taskId, contextId, artifact: made, append, lastChunk: false, metadata: undefined }),
  );
}

/** A status update. */
export function status({ taskId, contextId }: RequestContext, state: TaskState): TaskStatusUpdateEvent {
  return {
    taskId,
    contextId,
    status: { state, message: undefined, timestamp: new Date().toISOString() },
    metadata: undefined,
  };
}

/** A new artifact without parts. */
export function artifact(name: string): Artifact {
  return { artifactId: randomUUID(), name, description: '', parts: [], metadata: undefined, extensions: [] };
}

/** A part of text. */
export function part(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
}

/** A message of the agent. */
export function reply(text: string, contextId: string): Message {
  return {
    messageId: randomUUID(),
    contextId,
    taskId: '',
    role: Role.ROLE_AGENT,
    parts: [part(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** The text of a message. */
export function textOf({ parts }: Message): string {
  return parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n');
}
