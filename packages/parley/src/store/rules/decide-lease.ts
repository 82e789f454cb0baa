import type { HeldTurn, Lease, ReleaseHow } from '../held-turn.js';
import { isSameTask, type TaskKey } from '../task-key.js';
import type { AppendRequest } from './decide-append.js';
import { type HeldNumbers, type Holder, holderOf, isHeld, type TaskHead } from './task-head.js';

/** The node that asks for turns. */
interface Claimant {
  readonly node: string;
  /** The turns that the node already holds. Absent: it gets none of its own leases again. */
  readonly holds?: readonly HeldTurn[] | undefined;
}

/**
 * True if a node may claim the first turn of a task: no node holds it, or the lease of its holder has expired. A node
 * gets its own expired lease again only if it does not list the turn: the answer that granted the lease was lost.
 */
export function isClaimable(
  { queue, holder, epoch }: Pick<TaskHead, 'queue' | 'holder' | 'epoch'>,
  { node, holds }: Claimant,
  { task, now }: { readonly task: TaskKey; readonly now: number },
): boolean {
  const [first] = queue;
  if (first === undefined) return false;
  if (holder === undefined) return true;
  if (holder.leaseEnd > now) return false;
  if (holder.node !== node) return true;
  const { turn } = holder;
  return holds?.every((held) => held.turn !== turn || held.epoch !== epoch || !isSameTask(held.key, task)) === true;
}

/** Returns epoch and holder of a task after a claim. Calls of the previous holder are refused from then on. */
export function claimedBy(
  { epoch }: Pick<TaskHead, 'epoch'>,
  turn: number,
  lease: { readonly lease: Lease; readonly now: number },
): { readonly epoch: number; readonly holder: Holder } {
  return { epoch: epoch + 1, holder: holderOf(turn, lease.lease, lease.now) };
}

/**
 * Returns the holder of a turn after a renewal; undefined if another node has claimed the turn. An expired lease can be
 * renewed.
 */
export function renewedHolder(
  head: Pick<TaskHead, 'holder' | 'epoch'>,
  held: HeldNumbers,
  leaseEnd: number,
): Holder | undefined {
  return isHeld(head, held) && head.holder !== undefined ? { ...head.holder, leaseEnd } : undefined;
}

/** The counts of a released turn: attempts that have started, and hand-overs to add. */
interface ReleasedCounts {
  readonly attempts: number;
  readonly addedHandOvers: 0 | 1;
}

/** Returns the counts of a turn after its release. Undefined if the turn is over. */
export function releasedCounts(how: ReleaseHow, attempt: number): ReleasedCounts | undefined {
  switch (how) {
    case 'done':
      return undefined;
    case 'again':
      return { attempts: attempt, addedHandOvers: 0 };
    case 'handover':
      return { attempts: attempt, addedHandOvers: 1 };
    case 'unbegun':
      return { attempts: attempt - 1, addedHandOvers: 0 };
  }
}

/** True if a node can claim a turn of the task after a release. `waiting`: number of waiting messages. */
export function isReadyAfterRelease(how: ReleaseHow, waiting: number): boolean {
  return how !== 'done' || waiting > 0;
}

/** True if a node can claim a turn of the task after an append. `waiting`: number of waiting messages. */
export function isReadyAfterAppend(
  { authority, endsTurn }: Partial<Pick<AppendRequest, 'authority' | 'endsTurn'>>,
  waiting: number,
): boolean {
  return waiting > 0 && (endsTurn !== undefined || authority === 'force');
}
