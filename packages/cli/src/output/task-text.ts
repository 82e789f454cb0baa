import {
  type Artifact,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Message,
  type Part,
  type Task,
  type TaskState,
} from 'parley-a2a';
import { traceIdOf, usageIn } from 'parley-a2a/client';
import { LABELS } from './labels.js';
import type { Output } from './output.js';
import { writeArtifactParts, writeParts } from './part-text.js';
import { withCallEnds } from './tool-text.js';

/** Returns a state without its prefix. */
export function shortState(state: TaskState): string {
  return state.replace('TASK_STATE_', '');
}

/** Returns the step in the metadata of a status, as agents on model SDKs set it: a node, a tool call, or a hand-off. */
export function stepIn({ node, tool, state, handoff }: JsonObject = {}): string | undefined {
  if (typeof node === 'string') return node;
  if (typeof tool === 'string' && typeof state === 'string') return `${tool} · ${state}`;
  if (typeof handoff !== 'object' || handoff === null || Array.isArray(handoff)) return undefined;
  const { from, to } = handoff as JsonObject;
  return typeof from === 'string' && typeof to === 'string' ? `${from} → ${to}` : undefined;
}

/** The ids and the state of a task. */
interface TaskSummary {
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly state: TaskState | undefined;
}

/** Writes the first lines of every command about a task. */
export function writeSummary(output: Output, { taskId, contextId, state }: TaskSummary): void {
  output.fieldOnce(LABELS.task, taskId);
  output.fieldOnce(LABELS.context, contextId);
  output.field(LABELS.state, state === undefined ? undefined : shortState(state));
}

/** Returns the tokens that the models of a task have used; undefined if the agent does not report them. */
function tokensText({ metadata }: Task): string | undefined {
  const usage = usageIn(metadata);
  if (usage === undefined) return undefined;
  const { inputTokens, outputTokens, cachedInputTokens, calledTokens } = usage;
  const cached = cachedInputTokens === 0 ? '' : ` (${cachedInputTokens} cached)`;
  const called = calledTokens === 0 ? '' : `, ${calledTokens} by called agents`;
  return `${inputTokens} in${cached}, ${outputTokens} out${called}`;
}

/** Prints a task with its artifacts. `resume`: the command that continues it. */
export function writeTask(output: Output, task: Task, resume?: string): void {
  writeSummary(output, { taskId: task.id, contextId: task.contextId, state: task.status.state });
  output.field(LABELS.tokens, tokensText(task));
  if (output.verbose) output.field(LABELS.time, task.status.timestamp);
  if (output.verbose && task.metadata !== undefined) output.field(LABELS.metadata, JSON.stringify(task.metadata));
  if (task.status.message !== undefined) writeParts(output, task.status.message.parts, LABELS.message);
  for (const artifact of task.artifacts ?? []) {
    writeArtifactHead(output, artifact);
    writeArtifactParts(output, artifactParts(output, artifact, task));
  }
  if (output.verbose) for (const message of task.history ?? []) writeHistory(output, message);
  output.field(LABELS.resume, resume);
}

/** Prints the trace id of a task, or its url from a template with `{traceId}`. */
export function writeTrace(output: Output, task: Task, template: string | undefined): void {
  const id = traceIdOf(task);
  if (output.verbose && id !== undefined) output.field(LABELS.trace, template?.replace('{traceId}', id) ?? id);
}

/**
 * Returns the parts of an artifact to print. After the end of its task, open tool calls count as canceled, except in
 * verbose output.
 */
export function artifactParts(output: Output, { parts }: Artifact, { status }: Task): readonly Part[] {
  return isTerminal(status.state) && !output.verbose ? withCallEnds(parts) : parts;
}

/** Writes the lines before the content of an artifact. */
export function writeArtifactHead(output: Output, { artifactId, name, description }: Omit<Artifact, 'parts'>): void {
  const named = name === undefined || name === '' ? artifactId : name;
  output.field(LABELS.artifact, output.verbose && named !== artifactId ? `${named} (${artifactId})` : named);
  if (output.verbose) output.field(LABELS.description, description);
}

/** Prints a message that is the whole answer. */
export function writeMessage(output: Output, message: Message, resume?: string): void {
  output.field(LABELS.task, message.taskId);
  output.field(LABELS.context, message.contextId);
  writeParts(output, message.parts, LABELS.message);
  output.field(LABELS.resume, resume);
}

/** The state of a task, and the command that waits for it. */
interface FollowedTask {
  readonly state: TaskState | undefined;
  readonly follow: string | undefined;
}

/** Warns if the state of a task needs attention, because the exit code does not show it. */
export function warnOfState(output: Output, { state, follow }: FollowedTask): void {
  if (state === undefined) return;
  if (state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED') output.warn(`the task is ${shortState(state)}`);
  else if (state === 'TASK_STATE_AUTH_REQUIRED')
    output.warn(`the task waits for authorization; to follow it after that: ${follow} --await-auth`);
  else if (isInterrupted(state)) output.warn('the task waits for your reply');
}

/** Prints the ids and the state of a task after its answer for a person, and the command that continues it. */
export function tellEnd(
  output: Output,
  task: FollowedTask & TaskSummary & { readonly resume: string | undefined },
): void {
  output.announce(LABELS.task, task.taskId);
  output.announce(LABELS.context, task.contextId);
  if (isTold(task.state)) warnOfState(output, task);
  else output.announce(LABELS.state, task.state === undefined ? undefined : shortState(task.state));
  output.announce(LABELS.resume, task.resume);
}

/** True if the warning for a state contains more than its name. A person has already seen a question. */
function isTold(state: TaskState | undefined): boolean {
  return state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED' || state === 'TASK_STATE_AUTH_REQUIRED';
}

function writeHistory(output: Output, message: Message): void {
  output.field(LABELS.history, `${message.role === 'ROLE_USER' ? 'user' : 'agent'} ${message.messageId}`);
  writeParts(output, message.parts, LABELS.text);
}
