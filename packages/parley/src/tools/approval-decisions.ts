import type { Message } from '../model/message.js';
import type { ToolCall, ToolFailure } from './tool.js';
import { approvalsIn, decisionsIn, namesDecisions, type ToolDecision } from './tool-approvals.js';
import { questionsIn } from './tool-questions.js';
import type { CallChange, RecordedCall } from './tool-records.js';

/** The effect of a message on the calls that wait for an approval. */
export interface DecidedCalls {
  /** The calls that the message approves or refuses. Others stay open. */
  readonly changes: readonly CallChange[];
  /**
   * `answer`: the message decides at least one call. `stray`: it is an answer, but decides no waiting call, so the
   * question stays open. `other`: it is a new prompt, which refuses all waiting calls.
   */
  readonly kind: 'answer' | 'stray' | 'other';
}

/** The calls of a list that wait for an approval. */
export function waitingCalls<Call extends ToolCall>(calls: Iterable<Call>): readonly Call[] {
  return [...calls].filter(({ state, expiresAt }) => state === 'requested' && expiresAt !== undefined);
}

/** The ids of the calls that a question asks about. */
export function askedCallIds(question: Pick<Message, 'role' | 'parts'> | undefined): ReadonlySet<string> {
  if (question?.role !== 'ROLE_AGENT') return new Set();
  const { parts } = question;
  return new Set([...approvalsIn(parts), ...questionsIn(parts)].map(({ callId }) => callId));
}

/** The calls that a message may decide about. */
interface UndecidedCalls {
  readonly waiting: readonly RecordedCall[];
  /** The calls of the question that the message answers. It decides no other call. */
  readonly asked: ReadonlySet<string>;
  /** The time at which the message arrives. */
  readonly now: number;
}

/** Decides about waiting calls by a message. */
export function decidedCalls(
  { messageId, parts }: Pick<Message, 'messageId' | 'parts'>,
  { waiting, asked, now }: UndecidedCalls,
): DecidedCalls {
  const ids = waiting.map(({ id }) => id).filter((id) => asked.has(id));
  const decisions = decisionsIn(parts, ids);
  if (decisions.size === 0 && waiting.length > 0 && namesDecisions(parts)) return { changes: [], kind: 'stray' };
  const changes = waiting.flatMap(({ id, tool, messageIds, expiresAt }): CallChange[] => {
    const answer = decisions.get(id);
    if (answer === undefined) {
      return decisions.size > 0 ? [] : [{ id, tool, state: 'refused', failure: refusalOf(undefined) }];
    }
    const decided = { id, tool, messageIds: [...messageIds, messageId] };
    if (answer.decision === 'approve' && !isExpired(expiresAt, now)) return [{ ...decided, state: 'approved' }];
    return [{ ...decided, state: 'refused', failure: refusalOf(answer) }];
  });
  return { changes, kind: decisions.size > 0 ? 'answer' : 'other' };
}

/** True if a question may no longer be approved. */
export function isExpired(expiresAt: string | undefined, now: number): boolean {
  return expiresAt !== undefined && now > Date.parse(expiresAt);
}

/**
 * The failure of a call that is not approved. `answer` is undefined if another message came. An approval here arrived
 * too late.
 */
export function refusalOf(answer: Pick<ToolDecision, 'decision' | 'reason'> | undefined): ToolFailure {
  if (answer === undefined) return { reason: 'superseded', message: 'Another message came instead of an approval.' };
  if (answer.decision === 'approve') return { reason: 'expired', message: 'The approval came too late.' };
  const { reason } = answer;
  return { reason: 'refused', message: `The call was refused${reason === undefined ? '.' : `: ${reason}`}` };
}
