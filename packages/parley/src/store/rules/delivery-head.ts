/** The part of a queue of deliveries on which every decision about it rests. Times are ms of the storage's clock. */
export interface DeliveryHead {
  /** Sequence number of the last settled record. */
  readonly position: number;
  /** Set exactly if records are pending and the queue is not parked. */
  readonly dueAt: number | undefined;
  readonly attempts: number;
  readonly lastStatus: number | undefined;
  readonly parked: string | undefined;
  readonly epoch: number;
  readonly holder: { readonly node: string; readonly leaseEnd: number } | undefined;
}

/** The log of the task of a queue. */
export interface DeliveryLog {
  /** The lowest sequence number still kept. */
  readonly floor: number;
  /** Sequence number of the last record. */
  readonly last: number;
}
