import type { AgentExtension } from '../model/agent-card.js';
import { canonicalJson } from '../model/canonical-json.js';
import { cloneJson } from '../model/clone-json.js';
import { isObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Part } from '../model/part.js';
import type { StreamResponse } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import { isTerminal } from '../model/task-state.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { controlPart, OwnPart } from '../server/own-part.js';
import {
  type AskedQuestion,
  TOOL_CALL_STATES,
  TOOL_FAILURES,
  type ToolCall,
  type ToolCallState,
  ToolError,
  type ToolEvent,
  type ToolFailure,
  type ToolFailureReason,
  type ToolQuestion,
} from './tool.js';

/** The extension that marks the artifact with the calls of a task, and the questions for approvals. */
export const TOOLS_EXTENSION = 'urn:parley-a2a:extension:tools:v1';

/** The entry of a card that declares the calls and the questions for approvals. */
export const TOOLS_CARD_EXTENSION: AgentExtension = {
  uri: TOOLS_EXTENSION,
  description: 'Records calls of tools in the artifact tool-calls, and asks for approvals of calls.',
};

/** The artifact whose data parts record the calls of a task. */
export const TOOLS_ARTIFACT = { artifactId: 'tool-calls', name: 'Tool calls', extensions: [TOOLS_EXTENSION] } as const;

/** A call as its task records it. */
export interface RecordedCall extends ToolCall {
  /** Number of the run that made the call. A message that answers no approval begins a new run. */
  readonly run: number;
  /** The messages of the run: the one that began it, then the one that decided this call. */
  readonly messageIds: readonly string[];
  /** The questions of the tool so far, with their answers. */
  readonly asked?: readonly AskedQuestion[];
}

/**
 * A change of a call: the members that change. The first change of a call has its arguments and its run. The first call
 * of a run has the id of the message that began it.
 */
export type CallChange = Partial<RecordedCall> & Pick<RecordedCall, 'id' | 'tool' | 'state'>;

/** The states that may follow a state. A finished call never changes. */
const NEXT: Readonly<Record<ToolCallState | 'none', readonly ToolCallState[]>> = {
  // A short run of an idempotent tool is recorded only at its end. The AI SDK reports no start of a run, and asks for
  // an approval after it has reported the call.
  none: ['requested', 'running', 'succeeded', 'failed'],
  requested: ['requested', 'approved', 'running', 'succeeded', 'failed', 'refused', 'canceled'],
  // A run that asks a question waits again.
  approved: ['requested', 'running', 'succeeded', 'failed', 'refused', 'canceled'],
  running: ['requested', 'running', 'succeeded', 'failed', 'canceled'],
  succeeded: [],
  failed: [],
  refused: [],
  canceled: [],
};

/** A call of a run that knows its message. */
export type OwnCall = CallChange & Pick<RecordedCall, 'run'>;

/** The call after a change; undefined if the change is not possible. */
export function nextCall(call: RecordedCall | undefined, change: CallChange): RecordedCall | undefined {
  if (call !== undefined) return changedCall(call, change);
  const first = firstCall(change);
  return first?.messageIds === undefined ? undefined : (first as RecordedCall);
}

/** The call after its first change; undefined if the change cannot be the first one. */
export function firstCall(change: CallChange): OwnCall | undefined {
  return NEXT.none.includes(change.state) && change.run !== undefined ? (change as OwnCall) : undefined;
}

/** A known call after a change; undefined if the change is not possible. */
export function changedCall<Call extends OwnCall>(call: Call, change: CallChange): Call | undefined {
  if (!NEXT[call.state].includes(change.state)) return undefined;
  // A running call returns to `requested` only for a question.
  const isBegun = call.state !== 'requested' || call.expiresAt !== undefined;
  if (change.state === 'requested' && isBegun && openQuestion(change) === undefined) return undefined;
  return call.tool === change.tool ? { ...call, ...change } : undefined;
}

/** True if the call is in a final state. */
export function isFinished({ state }: Pick<ToolCall, 'state'>): boolean {
  return NEXT[state].length === 0;
}

/** The final change of a call whose task has ended. A call that was only waiting for its approval has not run. */
export function canceledChange({ id, tool, state, expiresAt, asked }: CallChange): CallChange {
  const hasNotRun = state === 'requested' && expiresAt !== undefined && asked === undefined;
  const message = hasNotRun
    ? `The task ended before ${tool} ran.`
    : `The task ended before the call of ${tool} did. Its effect is not known.`;
  return { id, tool, state: 'canceled', failure: { reason: 'aborted', message } };
}

/** True if a call has this tool and these arguments. */
export function isSameCall({ tool, input }: ToolCall, name: string, other: JsonValue | undefined): boolean {
  if (tool !== name) return false;
  // Arguments that are no JSON, or too large, were not recorded, so they cannot be compared.
  return input === undefined || (other !== undefined && isSameJson(input, other));
}

/** True if two values are the same JSON. */
export function isSameJson(one: JsonValue, other: JsonValue): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/**
 * The result of a finished call.
 * @throws ToolError if it has none.
 */
export function outcomeOf({ output = null, failure, state, tool }: ToolCall): JsonValue {
  if (state === 'succeeded') return output;
  throw new ToolError(failure?.message ?? `${tool} failed.`, failure?.reason ?? 'threw');
}

/** The question of a call that has no answer yet. */
export function openQuestion({ state, asked }: Pick<CallChange, 'state' | 'asked'>): ToolQuestion | undefined {
  const last = state === 'requested' ? asked?.at(-1) : undefined;
  return last === undefined || last.answer !== undefined ? undefined : last.question;
}

/** The data part of a change. */
export function recordPart(change: CallChange, metadata?: JsonObject): Part {
  return controlPart({ data: dataOf(change), ...(metadata && { metadata }) });
}

/** As `recordPart`, for a change whose arguments and result are checked copies that no other code shares. */
export function ownRecordPart(change: CallChange): Part {
  const { id, tool, asked, failure } = change;
  // These values come from the agent, its tool or a message.
  const isChecked = asked === undefined && failure === undefined && typeof id === 'string' && id.isWellFormed();
  return isChecked && tool.isWellFormed() ? new OwnPart(dataOf(change)) : recordPart(change);
}

function dataOf(change: CallChange): JsonValue {
  return { toolCall: change as unknown as JsonValue };
}

/** The calls that the artifact of a task records, in order. Parts of another form are left out. */
export function recordedCalls(task: Pick<Task, 'artifacts'> | undefined): Map<string, RecordedCall> {
  const calls = new Map<string, RecordedCall>();
  const begunBy = new Map<number, readonly string[]>();
  const artifact = task?.artifacts?.find(({ artifactId }) => artifactId === TOOLS_ARTIFACT.artifactId);
  for (const part of artifact?.parts ?? []) {
    const change = changeIn(part);
    if (change === undefined) continue;
    const messageIds = change.messageIds ?? begunBy.get(change.run ?? 0);
    const known = calls.get(change.id);
    const call = nextCall(known, known === undefined && messageIds ? { ...change, messageIds } : change);
    if (call === undefined) continue;
    if (!begunBy.has(call.run)) begunBy.set(call.run, call.messageIds);
    calls.set(call.id, call);
  }
  return calls;
}

/**
 * The calls of tools that a task records, in order, each in its last state. If no turn ran when the task ended, the end
 * of its open calls was not recorded: they are `canceled`, too.
 */
export function toolCalls(task: Pick<Task, 'artifacts'> & Partial<Pick<Task, 'status'>>): readonly ToolCall[] {
  if (Object(task) !== task) refuseArgument('toolCalls', 'a task, such as answer.task', task);
  const isOver = task.status !== undefined && isTerminal(task.status.state);
  return Array.from(recordedCalls(task).values(), (call) =>
    publicCall(isOver && !isFinished(call) ? { ...call, ...canceledChange(call) } : call),
  );
}

/**
 * The changes of calls in an event of a stream. For a task: the last state of each call. `input` is in the first change
 * of a call only.
 */
export function toolEventsOf(event: StreamResponse): readonly ToolEvent[] {
  if (Object(event) !== event) refuseArgument('toolEventsOf', 'an event of a stream', event);
  if (event.task !== undefined) {
    const { id, contextId } = event.task;
    const address = { taskId: id, ...(contextId !== undefined && { contextId }) };
    return toolCalls(event.task).map((call) => ({ ...address, call }));
  }
  if (event.artifactUpdate === undefined) return [];
  const { taskId, contextId, artifact } = event.artifactUpdate;
  if (artifact.artifactId !== TOOLS_ARTIFACT.artifactId) return [];
  return artifact.parts.flatMap((part) => {
    const change = changeIn(part);
    return change ? [{ taskId, contextId, call: publicCall(change) }] : [];
  });
}

/** A call without the members that only the agent needs. */
function publicCall({ run: _, messageIds: __, asked, ...call }: CallChange): ToolCall {
  const question = openQuestion({ state: call.state, ...(asked && { asked }) });
  return question === undefined ? call : { ...call, question };
}

/** A copy of a public call, so that changes of it do not change the record. */
export function toldCall(call: CallChange): ToolCall {
  return cloneJson(publicCall(call));
}

function changeIn(part: Part): CallChange | undefined {
  if (part.data === undefined || !isObject(part.data) || !isObject(part.data.toolCall)) return undefined;
  const { id, tool, state, input, output, failure, expiresAt, run, messageIds, asked } = part.data.toolCall;
  if (typeof id !== 'string' || typeof tool !== 'string' || !isState(state)) return undefined;
  return {
    id,
    tool,
    state,
    ...(input !== undefined && { input: input as JsonValue }),
    ...(output !== undefined && { output: output as JsonValue }),
    ...(isFailure(failure) && { failure }),
    ...(typeof expiresAt === 'string' && { expiresAt }),
    ...(typeof run === 'number' && { run }),
    ...(isTexts(messageIds) && { messageIds }),
    ...(isAsked(asked) && { asked }),
  };
}

function isState(value: unknown): value is ToolCallState {
  return TOOL_CALL_STATES.includes(value as ToolCallState);
}

function isFailure(value: unknown): value is ToolFailure {
  return (
    isObject(value) && TOOL_FAILURES.includes(value.reason as ToolFailureReason) && typeof value.message === 'string'
  );
}

function isAsked(value: unknown): value is readonly AskedQuestion[] {
  return (
    Array.isArray(value) &&
    value.every((one) => isObject(one) && isObject(one.question) && typeof one.question.message === 'string')
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
