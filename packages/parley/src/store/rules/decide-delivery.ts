import type { Lease } from '../held-turn.js';
import type { DeliveryOutcome } from '../push-storage.js';
import type { DeliveryHead, DeliveryLog } from './delivery-head.js';

/**
 * Returns the queue of a new configuration, which begins after `position`. Its epoch starts at the current time, so
 * that the holder of a deleted configuration with the same id cannot settle for it.
 */
export function newDeliveryQueue(position: number, last: number, now: number): DeliveryHead {
  return renewedQueue({ position, epoch: now, trace: undefined }, last, now);
}

/**
 * True if a task can have one more push configuration. `count`: its configurations. `isKnown`: the new one replaces one
 * with the same id.
 */
export function hasConfigRoom(isKnown: boolean, count: number, limit = Number.POSITIVE_INFINITY): boolean {
  return isKnown || count < limit;
}

/** Returns the queue after records were appended to its task. Undefined if it is unchanged: parked, or due already. */
export function dueDelivery(head: DeliveryHead, now: number): DeliveryHead | undefined {
  return head.parked === undefined && head.dueAt === undefined ? { ...head, dueAt: now } : undefined;
}

/** True if a node may claim the queue. */
export function isDeliveryClaimable({ dueAt, holder }: DeliveryHead, now: number): boolean {
  return dueAt !== undefined && dueAt <= now && (holder === undefined || holder.leaseEnd <= now);
}

/** Returns the queue after a claim. */
export function claimedDelivery(head: DeliveryHead, { node, leaseMs }: Lease, now: number): DeliveryHead {
  return { ...head, epoch: head.epoch + 1, holder: { node, leaseEnd: now + leaseMs } };
}

/** Returns the queue after the outcome of an attempt. Undefined if the epoch of the holder is outdated. */
export function settledDelivery(
  head: DeliveryHead,
  { epoch, outcome }: { readonly epoch: number; readonly outcome: DeliveryOutcome },
  { last, now }: { readonly last: number; readonly now: number },
): DeliveryHead | undefined {
  if (head.holder === undefined || head.epoch !== epoch) return undefined;
  const free = { ...head, lastStatus: outcome.status, holder: undefined };
  switch (outcome.kind) {
    case 'delivered': {
      const position = Math.min(last, Math.max(head.position, outcome.through));
      const isPending = position < last;
      const { leaseMs } = outcome;
      const isKept = isPending && leaseMs !== undefined;
      const holder = isKept ? { node: head.holder.node, leaseEnd: now + leaseMs } : undefined;
      return { ...free, position, attempts: 0, dueAt: isPending ? now : undefined, holder, trace: undefined };
    }
    case 'held':
      return { ...head, holder: { node: head.holder.node, leaseEnd: now + outcome.leaseMs } };
    case 'defer':
      return { ...head, holder: undefined, dueAt: now + outcome.inMs };
    case 'retry': {
      const position = Math.min(last, Math.max(head.position, outcome.through ?? 0));
      return {
        ...free,
        position,
        attempts: head.attempts + 1,
        trace: outcome.trace,
        dueAt: position < last ? now + outcome.inMs : undefined,
      };
    }
    case 'park':
      return { ...free, attempts: head.attempts + 1, dueAt: undefined, parked: outcome.reason, trace: outcome.trace };
  }
}

/** Returns the queue after a replay. Undefined if the log does not have the first record. */
export function replayedDelivery(
  head: DeliveryHead,
  { from, floor, last }: DeliveryLog & { readonly from: number | undefined },
  now: number,
): DeliveryHead | undefined {
  if (from === undefined) return renewedQueue(head, last, now);
  if (from < floor || from > last) return undefined;
  return renewedQueue({ position: from - 1, epoch: head.epoch, trace: head.trace }, last, now);
}

/** Returns the queue without its pending records. */
export function purgedDelivery(head: DeliveryHead, last: number, now: number): DeliveryHead {
  return renewedQueue({ position: last, epoch: head.epoch, trace: undefined }, last, now);
}

function renewedQueue(
  { position, epoch, trace }: Pick<DeliveryHead, 'position' | 'epoch' | 'trace'>,
  last: number,
  now: number,
): DeliveryHead {
  return {
    position,
    dueAt: position < last ? now : undefined,
    attempts: 0,
    lastStatus: undefined,
    parked: undefined,
    epoch: epoch + 1,
    holder: undefined,
    trace,
  };
}
