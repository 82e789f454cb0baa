import type { TextStreamPart, ToolSet } from 'ai';
import type { JsonObject } from 'parley-a2a';
import {
  askedCallIds,
  type CallChange,
  DEFAULT_TOOL_LIMITS,
  decidedCalls,
  isObject,
  jsonFault,
  nextCall,
  type RecordedCall,
  recordedCalls,
  refusalOf,
  waitingCalls,
} from 'parley-a2a/kit';
import type { RequestContext } from 'parley-a2a/server';
import type { ToolApproval } from 'parley-a2a/tools';

/** A request of the AI SDK for an approval. */
export type ApprovalRequestPart = Extract<TextStreamPart<ToolSet>, { readonly type: 'tool-approval-request' }>;

/** The part of the context with the waiting calls, and the message that answers. */
export type AnsweredContext = Pick<RequestContext, 'message' | 'task' | 'history' | 'clock'>;

/** The calls of a task at the start of a turn, with the answers of its message. */
interface AnsweredCalls {
  /** All calls of the task, after the changes. */
  readonly calls: ReadonlyMap<string, RecordedCall>;
  /** The changes by the message, to record. */
  readonly changes: readonly CallChange[];
  /**
   * `answer`: the turn continues the run of the last calls. `stray`: the message answers none of the waiting calls.
   * `other`: the message begins a new run.
   */
  readonly kind: 'answer' | 'stray' | 'other';
  /** The number of the run of this turn. */
  readonly run: number;
}

const answered = new WeakMap<AnsweredContext, AnsweredCalls>();

/**
 * The answers of a message to calls of the AI SDK. A turn calls this once, because its messages and its records must
 * agree.
 */
export function answeredCalls(context: AnsweredContext): AnsweredCalls {
  const known = answered.get(context) ?? decide(context);
  answered.set(context, known);
  return known;
}

/** The calls of a task whose turn is resumed by another attempt. It belongs to the last run. */
export function resumedCalls({ task }: AnsweredContext): Omit<AnsweredCalls, 'kind'> {
  const calls = recordedCalls(task);
  return { calls, changes: [], run: Math.max(1, ...[...calls.values()].map(({ run }) => run)) };
}

function decide({ message, task, history, clock }: AnsweredContext): AnsweredCalls {
  const calls = recordedCalls(task);
  const last = Math.max(0, ...[...calls.values()].map(({ run }) => run));
  const ofLast = [...calls.values()].filter(({ run }) => run === last);
  const undecided = { waiting: waitingCalls(ofLast), asked: askedCallIds(history.at(-1)), now: clock.now() };
  const { changes, kind } = decidedCalls(message, undecided);
  // A new prompt ends the run. Calls that were approved while others still waited do not run any more.
  const left = kind === 'other' ? ofLast.filter(({ state }) => state === 'approved') : [];
  const all = [...changes, ...left.map(supersededChange)];
  for (const change of all) {
    const call = nextCall(calls.get(change.id), change);
    if (call !== undefined) calls.set(call.id, call);
  }
  return { calls, changes: all, kind, run: kind === 'other' ? last + 1 : last };
}

function supersededChange({ id, tool }: RecordedCall): CallChange {
  return { id, tool, state: 'refused', failure: refusalOf(undefined) };
}

/** The member in the metadata of a record with the request of the AI SDK. */
const REQUEST = 'approvalRequest';

/** The request of the AI SDK as metadata for the record of its call. A signature binds its id and the arguments. */
export function requestMetadata({ approvalId, signature, toolCall }: ApprovalRequestPart): JsonObject {
  const { providerExecuted } = toolCall;
  return {
    [REQUEST]: {
      approvalId,
      ...(signature !== undefined && { signature }),
      ...(providerExecuted === true && { providerExecuted }),
    },
  };
}

/** The request that a record has in its metadata. */
export function requestIn(metadata: JsonObject | undefined): SavedRequest | undefined {
  const request = metadata?.[REQUEST];
  if (!isObject(request) || typeof request.approvalId !== 'string') return undefined;
  const { approvalId, signature, providerExecuted } = request;
  return {
    approvalId,
    ...(typeof signature === 'string' && { signature }),
    ...(providerExecuted === true && { providerExecuted }),
  };
}

/** A stored request of the AI SDK. */
export interface SavedRequest {
  readonly approvalId: string;
  readonly signature?: string;
  readonly providerExecuted?: boolean;
}

/** The question for a call of the AI SDK, or the reason why it cannot be asked. */
export function approvalOf(
  { toolCall, reason }: ApprovalRequestPart,
  now: number,
): { readonly approval: ToolApproval } | { readonly fault: string } {
  const { toolCallId: callId, toolName: tool, input } = toolCall;
  const { inputBytes, approvalMs } = DEFAULT_TOOL_LIMITS;
  // The owner approves exact arguments, so they are shown completely or not at all.
  if (jsonFault(input) !== undefined)
    return { fault: `The arguments of ${tool} are no JSON that a person can approve.` };
  if (new TextEncoder().encode(JSON.stringify(input)).length > inputBytes) {
    return { fault: `The arguments of ${tool} have more than ${inputBytes} bytes, too many for an approval.` };
  }
  const expiresAt = new Date(now + approvalMs).toISOString();
  return {
    approval: {
      callId,
      tool,
      input: input as ToolApproval['input'],
      expiresAt,
      ...(reason !== undefined && { reason }),
    },
  };
}
