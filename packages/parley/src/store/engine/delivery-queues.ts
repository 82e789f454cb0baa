import type { Lease } from '../held-turn.js';
import type { DeliveryOutcome } from '../push-storage.js';
import {
  claimedDelivery,
  dueDelivery,
  isDeliveryClaimable,
  newDeliveryQueue,
  purgedDelivery,
  replayedDelivery,
  settledDelivery,
} from '../rules/decide-delivery.js';
import type { DeliveryHead, DeliveryLog } from '../rules/delivery-head.js';

/** The tables of delivery queues. */
export interface QueueTables<Queue> {
  head(queue: Queue): DeliveryHead;
  /** The log of the task of a queue. */
  log(queue: Queue): DeliveryLog;
  write(queue: Queue, head: DeliveryHead): void;
}

/**
 * Returns the head of the queue of a new or changed configuration. A new queue begins after `position`; a changed one
 * is as after a replay.
 */
export function queueOfConfig(
  earlier: DeliveryHead | undefined,
  { position, last, now }: { readonly position: number; readonly last: number; readonly now: number },
): DeliveryHead {
  // The attempts at another webhook do not count.
  const replayed =
    earlier && replayedDelivery({ ...earlier, trace: undefined }, { from: undefined, floor: 1, last }, now);
  return replayed ?? newDeliveryQueue(position, last, now);
}

/** Makes queues due after records were appended to their task. Returns true if at least one became due. */
export function makeDue<Queue>(tables: QueueTables<Queue>, queues: Iterable<Queue>, now: number): boolean {
  let isDue = false;
  for (const queue of queues) {
    const head = dueDelivery(tables.head(queue), now);
    if (head === undefined) continue;
    tables.write(queue, head);
    isDue = true;
  }
  return isDue;
}

/** The tables that queues are claimed from. */
export interface DueTables<Queue, Claim> {
  head(queue: Queue): DeliveryHead;
  /** Writes a claimed queue, and reads its records up to `maxBytes`. Returns undefined if it cannot be read. */
  take(
    queue: Queue,
    claimed: DeliveryHead,
    maxBytes: number,
  ): { readonly claim: Claim; readonly bytes: number } | undefined;
}

/** A claim of queues. `isOwn`: this node claimed the queue by the same call, whose answer was lost. */
interface QueueDemand<Queue> extends Lease {
  readonly limit: number;
  readonly maxBytes: number;
  readonly isOwn?: (queue: Queue) => boolean;
}

/** Returns the queues that a node may claim now, for tables that must read before they write. */
export function* freeQueues<Queue>(
  tables: Pick<DueTables<Queue, unknown>, 'head'>,
  due: Iterable<Queue>,
  now: number,
): Generator<Queue, void> {
  for (const queue of due) if (isDeliveryClaimable(tables.head(queue), now)) yield queue;
}

/** Claims queues in the given order. `more`: a limit ended the list. */
export function claimQueues<Queue, Claim>(
  tables: DueTables<Queue, Claim>,
  { due, demand }: { readonly due: Iterable<Queue>; readonly demand: QueueDemand<Queue> },
  now: number,
): { readonly claims: readonly Claim[]; readonly more: boolean } {
  const { limit, isOwn } = demand;
  const claims: Claim[] = [];
  let left = demand.maxBytes;
  for (const queue of due) {
    const head = tables.head(queue);
    if (!(isOwn === undefined ? isDeliveryClaimable(head, now) : isOwn(queue))) continue;
    if (claims.length >= limit || (claims.length > 0 && left <= 0)) return { claims, more: true };
    const taken = tables.take(queue, claimedDelivery(head, demand, now), left);
    if (taken === undefined) continue;
    left -= taken.bytes;
    claims.push(taken.claim);
  }
  return { claims, more: false };
}

/** The result of a write to a queue. `isReady`: a node can claim it now. */
export interface QueueWritten<Kind> {
  readonly kind: Kind;
  readonly isReady: boolean;
}

/** Stores the outcome of an attempt. `overtaken`: nothing was written. */
export function settleQueue<Queue>(
  tables: QueueTables<Queue>,
  {
    queue,
    epoch,
    outcome,
  }: { readonly queue: Queue | undefined; readonly epoch: number; readonly outcome: DeliveryOutcome },
  now: number,
): QueueWritten<'settled' | 'overtaken'> {
  if (queue === undefined) return { kind: 'overtaken', isReady: false };
  const { last } = tables.log(queue);
  const settled = settledDelivery(tables.head(queue), { epoch, outcome }, { last, now });
  if (settled === undefined) return { kind: 'overtaken', isReady: false };
  tables.write(queue, settled);
  return { kind: 'settled', isReady: isDeliveryClaimable(settled, now) };
}

/** Makes a queue due again, from a given record on, if any. */
export function replayQueue<Queue>(
  tables: QueueTables<Queue>,
  { queue, from }: { readonly queue: Queue | undefined; readonly from: number | undefined },
  now: number,
): QueueWritten<'replayed' | 'not-found' | 'not-kept'> {
  if (queue === undefined) return { kind: 'not-found', isReady: false };
  const replayed = replayedDelivery(tables.head(queue), { ...tables.log(queue), from }, now);
  if (replayed === undefined) return { kind: 'not-kept', isReady: false };
  tables.write(queue, replayed);
  return { kind: 'replayed', isReady: replayed.dueAt !== undefined };
}

/** Drops the pending records of a queue. Returns false if there is no such queue. */
export function purgeQueue<Queue>(tables: QueueTables<Queue>, queue: Queue | undefined, now: number): boolean {
  if (queue === undefined) return false;
  tables.write(queue, purgedDelivery(tables.head(queue), tables.log(queue).last, now));
  return true;
}
