import type { Part } from '../model/part.js';
import type { StreamResponse } from '../model/stream-response.js';
import type { TaskState } from '../model/task-state.js';
import { shortened } from './bounded-text.js';

const TEXT_LENGTH = 2_000;

const STATE_WORDS: Readonly<Record<TaskState, string>> = {
  TASK_STATE_UNSPECIFIED: 'The state of the task is unknown',
  TASK_STATE_SUBMITTED: 'The agent has the task',
  TASK_STATE_WORKING: 'The agent works',
  TASK_STATE_COMPLETED: 'The task is completed',
  TASK_STATE_FAILED: 'The task failed',
  TASK_STATE_CANCELED: 'The task is canceled',
  TASK_STATE_INPUT_REQUIRED: 'The agent asks for input',
  TASK_STATE_REJECTED: 'The agent rejected the task',
  TASK_STATE_AUTH_REQUIRED: 'The agent waits until access is granted',
};

/** The text of a progress notification for an event; undefined if the event is the answer itself. */
export function progressText(event: StreamResponse): string | undefined {
  if ('message' in event) return undefined;
  if ('task' in event) return stateText(event.task.status.state, event.task.status.message?.parts);
  if ('statusUpdate' in event) {
    const { status } = event.statusUpdate;
    return stateText(status.state, status.message?.parts);
  }
  const { name, artifactId, parts } = event.artifactUpdate.artifact;
  return shortened(textIn(parts) || `Artifact ${name ?? artifactId}`, TEXT_LENGTH);
}

/** The text of a status: its message, or words for the state. */
export function stateText(state: TaskState, parts: readonly Part[] | undefined): string {
  return shortened(textIn(parts ?? []) || STATE_WORDS[state], TEXT_LENGTH);
}

function textIn(parts: readonly Part[]): string {
  const texts = parts.map((part) => ('text' in part ? part.text : ''));
  return texts.filter((text) => text !== '').join('\n');
}
