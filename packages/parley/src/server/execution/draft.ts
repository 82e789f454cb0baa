import type { A2AError } from '../../errors/a2a-error.js';
import { StorageError } from '../../errors/storage-error.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import type { CallerContext } from '../../store/caller-context.js';
import type { Claim, Lease } from '../../store/held-turn.js';
import type { IdempotencyKey } from '../../store/idempotency-keys.js';
import type { StoredPushConfig } from '../../store/push-storage.js';
import type { Scope } from '../../store/task-key.js';
import type { Acceptance, AcceptOutcome, TaskStorage } from '../../store/task-storage.js';
import type { EngineContext } from './engine-context.js';
import type { Submission } from './message-intake.js';

/** A message whose agent decides if it becomes a task (`replies: 'either'`). Nothing of it is stored yet. */
export interface Draft {
  readonly scope: Scope;
  /** As sent. */
  readonly message: Message;
  readonly caller: CallerContext;
  /** Names the caller in limits. */
  readonly callerKey: string | undefined;
  /** The task that it may become: SUBMITTED, with the message in its history. */
  readonly task: Task & { readonly contextId: string };
  readonly pushConfig?: StoredPushConfig;
  readonly idempotency?: IdempotencyKey;
  /**
   * The lease under which the key is reserved. Only its node may store the task, also if the process has got another
   * id meanwhile. Absent: no key is reserved.
   */
  readonly reservation?: Lease;
  /**
   * The outcome of the agent's first event: its direct message, or the turn of the new task. Rejects with the error
   * that the agent refuses the message with.
   */
  readonly opening: {
    readonly promise: Promise<Submission>;
    readonly resolve: (submission: Submission) => void;
    readonly reject: (error: unknown) => void;
  };
  /**
   * Tells the caller that the storage takes too long. The task is stored all the same, and `opening` waits for that.
   * Absent: `opening` rejects with the error.
   */
  readonly overdue?: (error: A2AError) => void;
}

/** Another process answers the message of a draft, or has answered it. */
export class OvertakenDraftError extends Error {
  override readonly name = 'OvertakenDraftError';
}

/**
 * Stores the task of a draft and claims its turn.
 * @throws StorageError if the storage fails; OvertakenDraftError if the reservation of the message is lost.
 */
export async function storeDraft({ storage, node, limits }: EngineContext, draft: Draft): Promise<Claim> {
  const { scope, message, caller, task, pushConfig, idempotency, reservation } = draft;
  const acceptance: Acceptance = {
    scope,
    message,
    caller,
    task: { create: task },
    claim: reservation ?? node.lease,
    ...(pushConfig && { pushConfig }),
    ...(idempotency && { idempotency }),
    waitingLimit: limits.waitingMessages,
  };
  const outcome = await acceptedSurely(storage, acceptance, storage.accept(acceptance));
  if (outcome.kind === 'reserved' || outcome.kind === 'repeated') {
    throw new OvertakenDraftError('Another process answers the same message');
  }
  if (outcome.kind !== 'accepted' || !outcome.claim) throw new Error(`A new task was not accepted: ${outcome.kind}`);
  return outcome.claim;
}

/**
 * The answer to an acceptance. If a shared storage fails, its answer may be lost: the storage is asked once more, and
 * answers as the first time.
 */
export function acceptedSurely(
  storage: TaskStorage,
  acceptance: Acceptance,
  accepted: Promise<AcceptOutcome>,
): Promise<AcceptOutcome> {
  if (!storage.shared) return accepted;
  return accepted.catch((error: unknown) => {
    if (!(error instanceof StorageError)) throw error;
    return storage.accept({ ...acceptance, again: true });
  });
}
