import type { RunToolApprovalItem } from '@openai/agents';
import type { JsonObject, JsonValue, Message } from 'parley-a2a';
import { approvalsIn, decisionsIn, isExpired, jsonFault, namesDecisions, refusalOf } from 'parley-a2a/kit';
import type { ToolApproval } from 'parley-a2a/tools';

/** The question for a call of a tool that waits for its approval. */
export function approvalOf(item: RunToolApprovalItem, expiresAt: string): ToolApproval {
  return { callId: callIdOf(item), tool: item.name ?? item.rawItem.type ?? 'a tool', input: inputOf(item), expiresAt };
}

/** The id that the model gave a call. */
export function callIdOf({ rawItem }: RunToolApprovalItem): string {
  if ('callId' in rawItem && typeof rawItem.callId === 'string') return rawItem.callId;
  return rawItem.id ?? '';
}

/** The answer for one call. */
type ApprovalAnswer = { readonly approved: true } | { readonly approved: false; readonly message: string };

/** The answers of a message to the question before it. */
interface ApprovalAnswers {
  readonly byId: ReadonlyMap<string, ApprovalAnswer>;
  /** True if the message is a new prompt: it answers no call, and refuses all. */
  readonly isPrompt: boolean;
}

/** Reads the answers of a message that arrives at `now`. Calls without an answer stay open. */
export function answersIn(message: Message, question: Message, now: number): ApprovalAnswers {
  const asked = new Map(approvalsIn(question.parts).map((approval) => [approval.callId, approval]));
  const byId = new Map<string, ApprovalAnswer>();
  const decisions = decisionsIn(message.parts, [...asked.keys()]);
  for (const [id, decision] of decisions) {
    const isApproved = decision.decision === 'approve' && !isExpired(asked.get(id)?.expiresAt, now);
    byId.set(id, isApproved ? { approved: true } : { approved: false, message: refusalOf(decision).message });
  }
  if (decisions.size > 0 || namesDecisions(message.parts)) return { byId, isPrompt: false };
  for (const id of asked.keys()) byId.set(id, { approved: false, message: refusalOf(undefined).message });
  return { byId, isPrompt: true };
}

/**
 * An id that two calls of a task share: a late answer to the first would approve the second. `undefined` if there is
 * none.
 */
export function reusedId(approvals: readonly ToolApproval[], history: readonly Message[]): string | undefined {
  const known = new Map<string, string>();
  for (const { role, parts } of history) {
    if (role !== 'ROLE_AGENT') continue;
    for (const approval of approvalsIn(parts)) known.set(approval.callId, callText(approval));
  }
  const now = new Set<string>();
  return approvals.find((approval) => {
    const { callId } = approval;
    const isTwice = now.has(callId);
    now.add(callId);
    return isTwice || (known.has(callId) && known.get(callId) !== callText(approval));
  })?.callId;
}

function callText({ tool, input }: ToolApproval): string {
  return JSON.stringify([tool, input]);
}

/** Calls of a shell, a computer or a patch have an action instead of arguments. */
function inputOf(item: RunToolApprovalItem): JsonValue {
  if (item.arguments !== undefined) return parseArguments(item.arguments);
  const { id: _, providerData: __, ...action } = item.rawItem as JsonObject;
  return action;
}

/** Arguments that are no JSON are shown as text. */
function parseArguments(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return jsonFault(value) === undefined ? value : text;
  } catch {
    return text;
  }
}
