import { beginAtCaller } from '../../errors/callers-stack.js';
import { InvalidAgentResponseError } from '../../errors/spec-errors.js';
import type { Artifact } from '../../model/artifact.js';
import type { JsonObject } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { StreamResponse, TaskEvent } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import type { TaskState } from '../../model/task-state.js';
import { isStreamResponse, violationsOf } from '../../model/validation.js';
import type { AgentEventInput } from './turn-state.js';

const INPUTS: Readonly<Record<TaskState, AgentEventInput>> = {
  // Agents cannot publish it: the event is invalid.
  TASK_STATE_UNSPECIFIED: 'invalid',
  TASK_STATE_SUBMITTED: 'announced',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_AUTH_REQUIRED: 'login',
  TASK_STATE_INPUT_REQUIRED: 'question',
  TASK_STATE_REJECTED: 'rejected',
  TASK_STATE_COMPLETED: 'terminal',
  TASK_STATE_FAILED: 'terminal',
  TASK_STATE_CANCELED: 'terminal',
};

/** The ids of the task of an event. */
export interface TaskAddress {
  readonly taskId: string;
  readonly contextId: string;
}

/** A message with the ids of its task. */
export type AddressedMessage = Message & TaskAddress;

/** Returns the message with the ids of its task. A message that created the task has them already. */
export function addressMessage(message: Message, { id, contextId = '', history }: Task): AddressedMessage {
  const first = history?.[0];
  if (first?.messageId === message.messageId && first.taskId === id && first.contextId === contextId) {
    return first as AddressedMessage;
  }
  return { ...message, taskId: id, contextId };
}

/**
 * Parses an event of an agent, and checks that it is about the task of the turn.
 * @throws InvalidAgentResponseError with the cause.
 */
export function readAgentEvent(event: unknown, address: TaskAddress): StreamResponse {
  if (!isStreamResponse(event)) {
    const faults = violationsOf('StreamResponse', event).map(({ field, description }) => `${field}: ${description}`);
    throw invalidEvent(faults.join('; '));
  }
  const fault = foreign(event, address);
  if (fault) throw invalidEvent(fault);
  return event;
}

function invalidEvent(fault: string): InvalidAgentResponseError {
  const cause = beginAtCaller(new TypeError(fault));
  return beginAtCaller(new InvalidAgentResponseError(undefined, { cause }));
}

/** Returns the state in an event; `undefined` for an artifact. */
export function announcedState(event: TaskEvent): TaskState | undefined {
  if (event.statusUpdate !== undefined) return event.statusUpdate.status.state;
  return event.task !== undefined ? event.task.status.state : undefined;
}

/** Returns the turn input for an event of its agent. */
export function inputOf(event: StreamResponse): AgentEventInput {
  if (event.message !== undefined) return 'message';
  const state = announcedState(event);
  return state === undefined ? 'chunk' : INPUTS[state];
}

/** Returns a status event without its time. */
export function statusEvent(
  address: TaskAddress,
  state: TaskState,
  message?: Message,
  metadata?: JsonObject,
): TaskEvent {
  const { taskId, contextId } = address;
  const status = message ? { state, message } : { state };
  return { statusUpdate: { taskId, contextId, status, ...(metadata && { metadata }) } };
}

/**
 * Returns the fault of an event for another task, or of a kind that agents may not publish. Undefined if it has none.
 */
function foreign(event: StreamResponse, address: TaskAddress): string | undefined {
  if (event.message !== undefined) {
    const { taskId = address.taskId, contextId } = event.message;
    return notByAgent(event.message) ?? otherTask(address, taskId, contextId);
  }
  if (event.task !== undefined) {
    const { id, contextId, status, artifacts } = event.task;
    return otherTask(address, id, contextId) ?? wrongState(status.state) ?? repeatedArtifact(artifacts);
  }
  if (event.artifactUpdate !== undefined)
    return otherTask(address, event.artifactUpdate.taskId, event.artifactUpdate.contextId);
  const { taskId, contextId, status } = event.statusUpdate;
  const problem = otherTask(address, taskId, contextId) ?? wrongState(status.state);
  return problem ?? (status.message && notByAgent(status.message));
}

function otherTask(address: TaskAddress, taskId: string, contextId: string | undefined): string | undefined {
  if (taskId !== address.taskId) return `task id ${taskId} is not the turn's`;
  return contextId === address.contextId ? undefined : `context id ${contextId} is not the turn's`;
}

function wrongState(state: TaskState): string | undefined {
  return state === 'TASK_STATE_UNSPECIFIED' ? 'a state must be specified' : undefined;
}

function repeatedArtifact(artifacts: readonly Artifact[] = []): string | undefined {
  const ids = new Set(artifacts.map(({ artifactId }) => artifactId));
  return ids.size === artifacts.length ? undefined : 'two artifacts have one id';
}

function notByAgent(message: Message): string | undefined {
  return message.role === 'ROLE_AGENT'
    ? undefined
    : `the role of an agent's message is ROLE_AGENT, not ${message.role}`;
}
