import { isObject, type JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { Task } from '../model/task.js';
import { refuseArgument } from '../options/refuse-argument.js';
import { controlPart } from '../server/own-part.js';
import { isNo, isReasonedNo, isYes } from './answer-reading.js';
import { TOOLS_EXTENSION } from './tool-records.js';

/** A call that waits for the owner of its task. */
export interface ToolApproval {
  readonly callId: string;
  readonly tool: string;
  /** The arguments that the tool runs with. */
  readonly input: JsonValue;
  /** An ISO time. A later approval refuses the call. */
  readonly expiresAt: string;
  /** The reason of the question, if the agent gives one. */
  readonly reason?: string;
}

/** The answer to one waiting call. */
export interface ToolDecision {
  readonly callId: string;
  readonly decision: 'approve' | 'refuse';
  /** The reason, which the agent gets. */
  readonly reason?: string;
}

/** A message that answers waiting calls, for `sendMessage` of a client. */
export interface ApprovalMessage {
  readonly taskId: string;
  readonly contextId?: string;
  readonly parts: readonly Part[];
}

const MOST_REASON = 500;
const MOST_SHOWN = 2_000;
const MOST_SHOWN_CALLS = 20;

/** The reply to a message that has decided no call. */
export const UNDECIDED = 'This answer decides no call that waits. A decision is approve or refuse.';

/** The message with which an agent asks for approvals: a text for people, and data for programs. */
export function approvalQuestion(
  approvals: readonly ToolApproval[],
  note?: string,
): Pick<Message, 'parts' | 'extensions'> {
  const calls = approvals.slice(0, MOST_SHOWN_CALLS).map(({ callId, tool, input, reason }) => {
    const why = reason === undefined ? '' : ` (${escapedText(reason, MOST_SHOWN)})`;
    return `${escapedText(callId, MOST_SHOWN)}: ${escapedText(tool, MOST_SHOWN)} ${oneLine(input)}${why}`;
  });
  const more = approvals.length - calls.length;
  if (more > 0) calls.push(`… and ${more} more calls in the data of this message`);
  const [title, answer] =
    approvals.length === 1
      ? ['This call needs your approval:', 'Answer yes or no.']
      : ['These calls need your approval:', 'Answer yes or no for all of them.'];
  const data = { toolApprovals: approvals.map((approval) => ({ ...approval })) };
  const before = note === undefined ? '' : `${note}\n\n`;
  const text = `${before}${title}\n\n${calls.join('\n')}\n\n${answer}`;
  return { parts: [{ text }, controlPart({ data })], extensions: [TOOLS_EXTENSION] };
}

/** The calls of a task that wait for an answer. Empty if the task does not wait for one. */
export function toolApprovals(task: Pick<Task, 'status'>): readonly ToolApproval[] {
  if (Object(task).status === undefined) refuseArgument('toolApprovals', 'a task, such as answer.task', task);
  const { state, message } = task.status;
  if (state !== 'TASK_STATE_INPUT_REQUIRED') return [];
  return approvalsIn(message?.parts ?? []);
}

/** The calls that a question asks about. */
export function approvalsIn(parts: readonly Part[]): readonly ToolApproval[] {
  return parts.flatMap((part) => {
    if (part.data === undefined || !isObject(part.data) || !Array.isArray(part.data.toolApprovals)) return [];
    return part.data.toolApprovals.filter(isApproval);
  });
}

/**
 * Makes the message that approves or refuses the waiting calls of a task, for `client.sendMessage`. `decision`: for all
 * of them, or one answer for each. Calls without an answer stay open.
 * @throws RangeError if no call waits, or if an answer names another call.
 */
export function answerApprovals(
  task: Pick<Task, 'id' | 'contextId' | 'status'>,
  decision: 'approve' | 'refuse' | readonly ToolDecision[],
): ApprovalMessage {
  const waiting = toolApprovals(task);
  if (waiting.length === 0) throw new RangeError(`No call of the task ${task.id} waits for an approval`);
  const decisions =
    typeof decision === 'string' ? waiting.map(({ callId }): ToolDecision => ({ callId, decision })) : decision;
  for (const { callId } of decisions) {
    if (!waiting.some((one) => one.callId === callId)) throw new RangeError(`The call ${callId} does not wait`);
  }
  const { id, contextId } = task;
  const parts = decisions.map((toolApproval) => ({ data: { toolApproval: { ...toolApproval } } }));
  return { taskId: id, ...(contextId !== undefined && { contextId }), parts };
}

/**
 * The answers of a message to the waiting calls. Data parts win over the text, and a refusal wins over an approval of
 * the same call. A text answers all calls, and only if it is nothing but a yes or a no, or a no with its reason.
 */
export function decisionsIn(parts: readonly Part[], waiting: readonly string[]): ReadonlyMap<string, ToolDecision> {
  const found = new Map<string, ToolDecision>();
  for (const part of parts) {
    const decision = decisionOf(part);
    if (decision === undefined || !waiting.includes(decision.callId)) continue;
    if (found.get(decision.callId)?.decision !== 'refuse') found.set(decision.callId, decision);
  }
  if (found.size > 0) return found;
  const text = parts
    .map((part) => (part.text !== undefined ? part.text : '?'))
    .join('\n')
    .trim();
  const isReasoned = !isNo(text) && isReasonedNo(text);
  const decision = isYes(text) ? 'approve' : isNo(text) || isReasoned ? 'refuse' : undefined;
  if (decision === undefined) return found;
  const reason = isReasoned && { reason: text.slice(0, MOST_REASON) };
  for (const callId of waiting) found.set(callId, { callId, decision, ...reason });
  return found;
}

/**
 * True if a message is meant as an answer to calls, in whatever form. Then it is no new prompt, even if it decides no
 * waiting call.
 */
export function namesDecisions(parts: readonly Part[]): boolean {
  return parts.some((part) => part.data !== undefined && isObject(part.data) && 'toolApproval' in part.data);
}

function decisionOf(part: Part): ToolDecision | undefined {
  if (part.data === undefined || !isObject(part.data) || !isObject(part.data.toolApproval)) return undefined;
  const { callId, decision, reason } = part.data.toolApproval;
  if (typeof callId !== 'string' || (decision !== 'approve' && decision !== 'refuse')) return undefined;
  return { callId, decision, ...(typeof reason === 'string' && { reason: reason.slice(0, MOST_REASON) }) };
}

function isApproval(value: unknown): value is ToolApproval {
  return (
    isObject(value) &&
    typeof value.callId === 'string' &&
    typeof value.tool === 'string' &&
    value.input !== undefined &&
    typeof value.expiresAt === 'string'
  );
}

/** Arguments on one line. */
function oneLine(input: JsonValue): string {
  return escapedText(JSON.stringify(input), MOST_SHOWN);
}

/**
 * Truncates an untrusted text. Characters that change the order or the place of others are escaped, except for `plain`.
 */
export function escapedText(text: string, most: number, plain = ''): string {
  const safe = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => (char === plain ? char : escapeCharacter(char)));
  const more = safe.length - most;
  return more <= 0 ? safe : `${safe.slice(0, most)} … (${more} more characters in the data of this message)`;
}

function escapeCharacter(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
