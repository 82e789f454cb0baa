import type { Lease } from '../held-turn.js';
import { type AcceptedTurn, holderOf, type TaskHead } from './task-head.js';

/** The part of an acceptance that the decision needs. */
export interface AcceptRequest {
  /** The context that the caller named, if any. */
  readonly contextId: string | null | undefined;
  readonly waitingLimit: number;
  /** Set if the turn is to be claimed by the commit that accepts it. */
  readonly claim: Lease | undefined;
}

/** The turns of a task. */
type TaskTurns = Pick<TaskHead, 'turns' | 'epoch' | 'queue' | 'holder'>;

/** The decision about a message. */
type AcceptDecision = AcceptedTurn | { readonly kind: 'not-found' | 'terminal' | 'other-context' | 'full' };

const REFUSED = {
  notFound: { kind: 'not-found' },
  terminal: { kind: 'terminal' },
  otherContext: { kind: 'other-context' },
  full: { kind: 'full' },
} as const;

/** Decides about a message to an existing task. */
export function decideAccept(head: TaskHead | undefined, request: AcceptRequest, now: number): AcceptDecision {
  if (head === undefined) return REFUSED.notFound;
  if (head.hasEnded) return REFUSED.terminal;
  const { contextId, waitingLimit, claim } = request;
  const namesContext = contextId !== undefined && contextId !== null;
  if (namesContext && contextId !== head.contextId) return REFUSED.otherContext;
  if (head.queue.length > waitingLimit) return REFUSED.full;
  return nextTurn(head, claim, now);
}

/** The turns of a new task. */
export const NO_TURNS: TaskTurns = { turns: 0, epoch: 0, queue: [], holder: undefined };

/**
 * Returns the turn of a message, placed after all other turns of its task. It is claimed if it is the only one and a
 * lease is given.
 */
export function nextTurn(
  { turns, epoch, queue, holder }: TaskTurns,
  claim: Lease | undefined,
  now: number,
): AcceptedTurn {
  const turn = turns + 1;
  if (claim === undefined || queue.length > 0) {
    return { kind: 'accepted', turn, epoch, holder, attempts: 0, isReady: holder === undefined };
  }
  return { kind: 'accepted', turn, epoch: epoch + 1, holder: holderOf(turn, claim, now), attempts: 1, isReady: false };
}

/** The answer to a message that was accepted before. */
interface RepeatedTurn {
  readonly turn: number;
  /** True if the turn is returned with its claim. */
  readonly isClaimed: boolean;
  /** True if a node can claim a turn of the task now: no node holds one. */
  readonly isReady: boolean;
}

/**
 * Returns the answer to an acceptance that was committed before, but whose answer was lost. `turn`: the last waiting or
 * running turn with the same message and the same caller context. Its claim is returned again if its node still holds
 * it and has written nothing.
 */
export function repeatedAccept(head: TaskHead, turn: number, claim: Lease | undefined): RepeatedTurn {
  const { holder } = head;
  const isClaimed = claim !== undefined && holder?.turn === turn && holder.node === claim.node && head.began < turn;
  return { turn, isClaimed, isReady: holder === undefined };
}
