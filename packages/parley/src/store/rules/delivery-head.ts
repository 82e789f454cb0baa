import type { DeliveryKey, DeliveryQueue } from '../push-storage.js';

/** The part of a delivery queue that decisions need. Times are ms of the storage's clock. */
export interface DeliveryHead {
  /** Sequence number of the last settled record. */
  readonly position: number;
  /** Set if and only if records are pending and the queue is not parked. */
  readonly dueAt: number | undefined;
  readonly attempts: number;
  readonly lastStatus: number | undefined;
  readonly parked: string | undefined;
  readonly epoch: number;
  readonly holder: { readonly node: string; readonly leaseEnd: number } | undefined;
  /** The trace text of the last failed attempt, for the spans of the next one. */
  readonly trace: string | undefined;
}

/** The log of the task of a queue. */
export interface DeliveryLog {
  /** The lowest sequence number still kept. */
  readonly floor: number;
  /** Sequence number of the last record. */
  readonly last: number;
}

/** The columns of a head in a table. `null` means absent. */
export interface DeliveryHeadRow {
  readonly position: number;
  readonly due: number | null;
  readonly attempts: number;
  readonly status: number | null;
  readonly parked: string | null;
  readonly epoch: number;
  readonly node: string | null;
  readonly leaseEnd: number | null;
  readonly trace: string | null;
}

/** Returns the head of a row. */
export function deliveryHeadOf(row: DeliveryHeadRow): DeliveryHead {
  const { position, due, attempts, status, parked, epoch, node, leaseEnd, trace } = row;
  return {
    position,
    dueAt: due ?? undefined,
    attempts,
    lastStatus: status ?? undefined,
    parked: parked ?? undefined,
    epoch,
    holder: node === null || leaseEnd === null ? undefined : { node, leaseEnd },
    trace: trace ?? undefined,
  };
}

/** Returns the values of a head, in the order of `DeliveryHeadRow`. */
export function deliveryValues(head: DeliveryHead): readonly (string | number | null)[] {
  const { position, dueAt = null, attempts, lastStatus = null, parked = null, epoch, holder, trace = null } = head;
  const { node = null, leaseEnd = null } = holder ?? {};
  return [position, dueAt, attempts, lastStatus, parked, epoch, node, leaseEnd, trace];
}

/** Returns a queue for a list. `last`: the last record of its task. */
export function deliveryQueue({ key, configId }: DeliveryKey, head: DeliveryHead, last: number): DeliveryQueue {
  const { position, attempts, dueAt, lastStatus, parked } = head;
  return {
    ...{ key, configId, position, last, attempts },
    ...(dueAt !== undefined && { dueAt }),
    ...(lastStatus !== undefined && { lastStatus }),
    ...(parked !== undefined && { parked }),
  };
}
