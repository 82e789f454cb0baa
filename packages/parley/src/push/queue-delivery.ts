import type { WireCodec } from '../codec/wire-codec.js';
import type { DeliveryClaim, DeliveryOutcome } from '../store/push-deliveries.js';
import type { TaskStorage } from '../store/task-storage.js';
import { type AttemptResult, afterFailure, type DeliveryPolicy, isAcknowledged } from './delivery-policy.js';
import { type Notification, notificationsOf } from './notifications.js';

/** Ports for the delivery of one queue. */
export interface QueueDeliveryOptions {
  readonly storage: TaskStorage;
  readonly codec: WireCodec;
  readonly policy: DeliveryPolicy;
  /** The holder keeps the queue for so long after each settled record. */
  readonly leaseMs: number;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly now: () => number;
  /** True once the sender stops: the queue goes back without another attempt. */
  readonly isStopping: () => boolean;
  readonly send: (claim: DeliveryClaim, notification: Notification) => Promise<AttemptResult>;
}

/** The end of a delivery. */
export interface DeliveryEnd {
  readonly delivered: number;
  /** The last attempt, if it failed. */
  readonly failure?: { readonly result: AttemptResult; readonly outcome: DeliveryOutcome; readonly attempts: number };
  /** Pending records that the log no longer has. */
  readonly lost: number;
  /** False if another holder has overtaken this one, or the queue is gone. */
  readonly held: boolean;
}

/** Sends the records of a claimed queue one after another, and settles each. Ends at the first failure. */
export async function deliverQueue(claim: DeliveryClaim, options: QueueDeliveryOptions): Promise<DeliveryEnd> {
  const { storage, codec, policy, leaseMs, random, now, isStopping, send } = options;
  const { records, position, last } = claim;
  const [first] = records;
  const lost = first === undefined ? last - position : first.seq - position - 1;
  if (first === undefined) {
    const held = await storage.settleDelivery(claim, { kind: 'delivered', through: last });
    return { delivered: 0, lost, held };
  }
  const end = records.at(-1)?.seq ?? first.seq;
  let delivered = 0;
  let through = position;
  let lastStatus: { readonly status?: number } = {};
  // Settled while the next record is on its way: a deletion of the configuration shows in the answer.
  let settling: Promise<boolean> = Promise.resolve(true);
  for await (const notification of notificationsOf(claim, codec, storage)) {
    if (isStopping()) break;
    const result = await send(claim, notification);
    if (!(await settling)) return { delivered, lost, held: false };
    if (isAcknowledged(result)) {
      delivered += 1;
      through = notification.seq;
      if (result.kind === 'answer') lastStatus = { status: result.status };
      if (through < end) {
        settling = storage.settleDelivery(claim, { kind: 'delivered', through, leaseMs, ...lastStatus });
        settling.catch(() => undefined);
      }
      continue;
    }
    // An attempt that the sender itself has cut short does not count.
    if (isStopping()) break;
    const failed = delivered === 0 ? claim.attempts : 0;
    const outcome = afterFailure(result, policy, { failed, random: random(), now: now() });
    const held = await storage.settleDelivery(claim, outcome);
    return { delivered, lost, held, failure: { result, outcome, attempts: failed + 1 } };
  }
  if (!(await settling)) return { delivered, lost, held: false };
  const outcome: DeliveryOutcome =
    through === end ? { kind: 'delivered', through, ...lastStatus } : { kind: 'defer', inMs: 0 };
  return { delivered, lost, held: await storage.settleDelivery(claim, outcome) };
}
