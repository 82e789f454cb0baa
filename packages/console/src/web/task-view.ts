import type { Artifact, Message, Part, StreamResponse, Task, TaskState } from 'parley-a2a';

/** A task, built from its events. */
export interface TaskView {
  readonly id: string;
  readonly contextId: string | undefined;
  readonly state: TaskState;
  /** The time of the last status, as the agent gave it. */
  readonly timestamp: string | undefined;
  /** The message of the last status. */
  readonly message: Message | undefined;
  /** Messages of earlier statuses of this turn. */
  readonly notes: readonly Message[];
  readonly artifacts: readonly Artifact[];
}

/**
 * Maximum number of notes, artifacts, and parts of one artifact in a view, so that the cost of each event is bounded.
 * The record has all.
 */
const MOST_KEPT = 1_000;

const ENDED: readonly TaskState[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
];

/** True if a task in this state never changes again. */
export function isEnded(state: TaskState): boolean {
  return ENDED.includes(state);
}

/** True if a task in this state waits for its user. */
export function isWaiting(state: TaskState): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
}

/** The view of a whole task. It replaces that of earlier events. */
export function viewOf(task: Task): TaskView {
  const { id, contextId, status, artifacts = [], history = [] } = task;
  const lastOfUser = history.findLastIndex(({ role }) => role === 'ROLE_USER');
  const said = history.slice(lastOfUser + 1).filter(({ messageId }) => messageId !== status.message?.messageId);
  return {
    id,
    contextId,
    state: status.state,
    timestamp: status.timestamp,
    message: status.message,
    notes: said,
    artifacts,
  };
}

/** The view after an event. A message belongs to no task and changes nothing. */
export function afterEvent(view: TaskView | undefined, event: StreamResponse): TaskView | undefined {
  if (event.task !== undefined) return viewOf(event.task);
  if (event.statusUpdate !== undefined) {
    const { taskId, contextId, status } = event.statusUpdate;
    const before = view ?? emptyView(taskId, contextId);
    const notes = before.message === undefined ? before.notes : latest([...before.notes, before.message]);
    return { ...before, state: status.state, timestamp: status.timestamp, message: status.message, notes };
  }
  if (event.artifactUpdate !== undefined) {
    const { taskId, contextId, artifact, append = false } = event.artifactUpdate;
    const before = view ?? emptyView(taskId, contextId);
    return { ...before, artifacts: withArtifact(before.artifacts, artifact, append) };
  }
  return view;
}

function emptyView(id: string, contextId: string): TaskView {
  return {
    id,
    contextId,
    state: 'TASK_STATE_SUBMITTED',
    timestamp: undefined,
    message: undefined,
    notes: [],
    artifacts: [],
  };
}

function withArtifact(artifacts: readonly Artifact[], artifact: Artifact, append: boolean): readonly Artifact[] {
  const at = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
  const before = artifacts[at];
  if (before === undefined) return latest([...artifacts, artifact]);
  const grown = append
    ? { ...before, ...artifact, parts: latest(appendParts(before.parts, artifact.parts)) }
    : artifact;
  return artifacts.with(at, grown);
}

function latest<Item>(items: readonly Item[]): readonly Item[] {
  return items.length > MOST_KEPT ? items.slice(-MOST_KEPT) : items;
}

/** Chunks of one text become one part, so that its Markdown is read as a whole. */
function appendParts(parts: readonly Part[], added: readonly Part[]): Part[] {
  const last = parts.at(-1);
  const [first, ...rest] = added;
  if (last === undefined || first === undefined || last.text === undefined || first.text === undefined)
    return [...parts, ...added];
  if (last.mediaType !== first.mediaType || last.filename !== first.filename) return [...parts, ...added];
  return [...parts.slice(0, -1), { ...last, text: last.text + first.text }, ...rest];
}

/** The artifacts of a view that an earlier turn of the same task has not shown. */
export function newArtifacts(view: TaskView, earlier: TaskView | undefined): readonly Artifact[] {
  if (earlier === undefined) return view.artifacts;
  const sizes = new Map(earlier.artifacts.map((one) => [one.artifactId, partsSize(one.parts)]));
  return view.artifacts.filter((one) => sizes.get(one.artifactId) !== partsSize(one.parts));
}

/** The characters of texts and files, and the number of other parts. */
export function partsSize(parts: readonly Part[]): number {
  return parts.reduce(
    (sum, part) => sum + (part.text !== undefined ? part.text.length : part.raw !== undefined ? part.raw.length : 1),
    0,
  );
}

/** One line about an event, for people. */
export function eventLine(event: StreamResponse): string {
  if (event.task !== undefined) return `The task as a whole: ${stateName(event.task.status.state)}`;
  if (event.message !== undefined) return `Message: ${firstText(event.message.parts)}`;
  if (event.statusUpdate !== undefined) {
    const { state, message } = event.statusUpdate.status;
    const text = message === undefined ? '' : firstText(message.parts);
    return text === '' ? stateName(state) : `${stateName(state)}: ${text}`;
  }
  const { artifact, append, lastChunk } = event.artifactUpdate;
  const name = append === true ? '+' : `${artifact.name ?? artifact.artifactId}:`;
  return `${name} ${firstText(artifact.parts)}${lastChunk === true ? ' (complete)' : ''}`;
}

/** The kind of an event. */
export function eventKind(event: StreamResponse): 'task' | 'message' | 'status' | 'artifact' {
  if (event.task !== undefined) return 'task';
  if (event.message !== undefined) return 'message';
  return event.statusUpdate !== undefined ? 'status' : 'artifact';
}

/** The time of an event from the agent, if it has one. */
export function eventTime(event: StreamResponse): string | undefined {
  if (event.task !== undefined) return event.task.status.timestamp;
  return event.statusUpdate !== undefined ? event.statusUpdate.status.timestamp : undefined;
}

function firstText(parts: readonly Part[]): string {
  const [part] = parts;
  if (part === undefined) return '';
  if (part.text !== undefined) return part.text.slice(0, 300);
  if (part.data !== undefined) return JSON.stringify(part.data).slice(0, 300);
  return part.filename ?? part.mediaType ?? 'a file';
}

const STATE_NAMES: Readonly<Record<TaskState, string>> = {
  TASK_STATE_UNSPECIFIED: 'Unknown',
  TASK_STATE_SUBMITTED: 'Submitted',
  TASK_STATE_WORKING: 'Working',
  TASK_STATE_COMPLETED: 'Completed',
  TASK_STATE_FAILED: 'Failed',
  TASK_STATE_CANCELED: 'Canceled',
  TASK_STATE_INPUT_REQUIRED: 'Needs your answer',
  TASK_STATE_REJECTED: 'Rejected',
  TASK_STATE_AUTH_REQUIRED: 'Needs your authorization',
};

/** The states of tasks in the filter. */
export const SHOWN_STATES: readonly TaskState[] = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
];

/** The name of a state for people. */
export function stateName(state: TaskState): string {
  return STATE_NAMES[state] ?? state;
}
