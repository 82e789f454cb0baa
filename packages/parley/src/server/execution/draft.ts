import type { A2AError } from '../../errors/a2a-error.js';
import type { Message } from '../../model/message.js';
import type { StreamResponse } from '../../model/stream-response.js';
import type { Task } from '../../model/task.js';
import type { CallerContext } from '../../store/caller-context.js';
import type { Claim, Lease } from '../../store/held-turn.js';
import type { IdempotencyKey } from '../../store/idempotency-keys.js';
import type { StoredPushConfig } from '../../store/push-storage.js';
import type { Scope } from '../../store/task-key.js';
import type { EngineContext } from './engine-context.js';
import type { Submission } from './message-intake.js';
import type { TurnAnswer } from './turn-state.js';
import { closingError, storageStalledError } from './unavailable-errors.js';

/** A message whose agent decides whether it becomes a task (`replies: 'either'`). Nothing of it is stored yet. */
export interface Draft {
  readonly scope: Scope;
  /** The message as sent. */
  readonly message: Message;
  readonly caller: CallerContext;
  /** Identifies the caller in limits. */
  readonly callerKey: string | undefined;
  /** The task that may be created: SUBMITTED, with the message in its history. */
  readonly task: Task & { readonly contextId: string };
  readonly pushConfig?: StoredPushConfig;
  readonly idempotency?: IdempotencyKey;
  /**
   * The lease of the reserved key. Only its node may store the task, even if the process has got a new id in the
   * meantime. Absent: no key is reserved.
   */
  readonly reservation?: Lease;
  /**
   * The result of the agent's first event: its direct message, or the turn of the new task. Rejects with the error if
   * the agent refuses the message.
   */
  readonly opening: {
    readonly promise: Promise<Submission>;
    readonly resolve: (submission: Submission) => void;
    readonly reject: (error: unknown) => void;
  };
  /**
   * Called if the storage takes too long. The task is still stored, and `opening` waits for that. Absent: `opening`
   * rejects with the error.
   */
  readonly overdue?: (error: A2AError) => void;
}

/** Another process answers the message of a draft, or has answered it. */
export class OvertakenDraftError extends Error {
  override readonly name = 'OvertakenDraftError';
}

/** The turn of a draft. It is informed when its task is stored. */
interface DraftedTurn {
  advance(input: 'store overdue' | 'store failed' | 'stored', given?: DraftResult): unknown;
}

/** The data for the answer to a draft. */
export interface DraftResult {
  readonly event?: StreamResponse;
  readonly error?: unknown;
  readonly claim?: Claim;
}

/** Stores the task of a draft, and passes the claim or the error to its turn. Never rejects. */
export async function storeDraft(
  { storage, node, limits, patience }: EngineContext,
  draft: Draft,
  turn: DraftedTurn,
): Promise<void> {
  const { scope, message, caller, task, pushConfig, idempotency, reservation } = draft;
  const timer = patience.start(() => turn.advance('store overdue'));
  let claim: Claim;
  try {
    const outcome = await storage.accept({
      scope,
      message,
      caller,
      task: { create: task },
      claim: reservation ?? node.lease,
      ...(pushConfig && { pushConfig }),
      ...(idempotency && { idempotency }),
      waitingLimit: limits.waitingMessages,
    });
    if (outcome.kind === 'reserved' || outcome.kind === 'repeated') {
      throw new OvertakenDraftError('Another process answers the same message');
    }
    if (outcome.kind !== 'accepted' || !outcome.claim) throw new Error(`A new task was not accepted: ${outcome.kind}`);
    claim = outcome.claim;
  } catch (error) {
    patience.stop(timer);
    return void turn.advance('store failed', { error });
  }
  patience.stop(timer);
  turn.advance('stored', { claim });
}

/** Answers the caller of a draft. Only the first answer has an effect. */
export function answerDraft({ opening }: Draft, content: TurnAnswer, { event, claim, error }: DraftResult): void {
  switch (content) {
    case 'reply': {
      if (event?.message === undefined) return;
      const { taskId: _none, ...message } = event.message;
      return opening.resolve({ kind: 'reply', message });
    }
    case 'claim':
      return claim && opening.resolve({ kind: 'turn', turn: claim.turn, claim, isNext: false });
    case 'error':
      return opening.reject(error);
    case 'closing':
      return opening.reject(closingError());
    case 'stalled':
      return opening.reject(storageStalledError());
  }
}
