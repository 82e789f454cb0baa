import { isObject, type JsonObject, type JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';

/** A call of a tool that waits for its approval. */
export interface PendingCall {
  readonly id: string;
  readonly tool: string;
  /** JSON, as the model wrote it. */
  readonly input: string | undefined;
}

/** The answer for one call. */
export interface ApprovalAnswer {
  readonly approved: boolean;
  /** Told to the model. */
  readonly reason?: string;
}

const YES = ['yes', 'y', 'ok', 'approve', 'approved', 'allow'];
const NO = ['no', 'n', 'reject', 'rejected', 'refuse', 'deny'];

/** The questions for INPUT_REQUIRED: for each call a text, and a data part `{ approvalId, tool, input }`. */
export function approvalParts(calls: readonly PendingCall[], note?: string): readonly Part[] {
  const questions = calls.flatMap(({ id, tool, input }): Part[] => [
    { text: `May the agent call ${tool}?` },
    { data: { approvalId: id, tool, ...(input !== undefined && { input: jsonOf(input) }) } },
  ]);
  return note === undefined ? questions : [{ text: note }, ...questions];
}

/**
 * The answers of a message by the ids of calls. A data part `{ approvalId, approved, reason }` answers one call, and an
 * object `{ [approvalId]: true }` several. If one call waits, `{ approved }` or a text such as "yes" and "no" will do.
 */
export function approvalsIn({ parts }: Message, ids: readonly string[]): ReadonlyMap<string, ApprovalAnswer> {
  const answers = new Map<string, ApprovalAnswer>();
  const only = ids.length === 1 ? ids[0] : undefined;
  for (const part of parts) {
    if ('text' in part && only !== undefined) {
      const approved = wordOf(part.text);
      if (approved !== undefined) answers.set(only, { approved });
    }
    if (!('data' in part) || !isObject(part.data)) continue;
    const { approvalId = only } = part.data;
    const whole = answerOf(part.data);
    if (typeof approvalId === 'string' && ids.includes(approvalId) && whole) answers.set(approvalId, whole);
    for (const [id, value] of Object.entries(part.data)) {
      const answer = ids.includes(id) ? answerOf(value) : undefined;
      if (answer !== undefined) answers.set(id, answer);
    }
  }
  return answers;
}

const NOTHING: JsonObject = {};

function answerOf(value: JsonValue): ApprovalAnswer | undefined {
  if (typeof value === 'boolean') return { approved: value };
  const { approved, reason } = isObject(value) ? value : NOTHING;
  if (typeof approved !== 'boolean') return undefined;
  return { approved, ...(typeof reason === 'string' && { reason }) };
}

/** True for consent, false for refusal. `undefined` for any other text. */
function wordOf(text: string): boolean | undefined {
  const word = text.trim().toLowerCase().replace(/[.!]$/, '');
  if (YES.includes(word)) return true;
  return NO.includes(word) ? false : undefined;
}

function jsonOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
