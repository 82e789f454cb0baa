import type { WireCodec } from '../codec/wire-codec.js';
import { isTerminal } from '../model/task-state.js';
import type { Clock } from '../runtime/clock.js';
import type { DeliveryClaim, DeliveryOutcome } from '../store/push-storage.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { LogRecord } from '../task/log-record.js';
import { type AttemptResult, afterFailure, type DeliveryPolicy, isAcknowledged } from './delivery-policy.js';
import { type Notification, type NotificationChange, notificationsOf } from './notifications.js';
import { type SettlementGroup, Settlements } from './settlements.js';

/** Ports for the delivery of one queue. */
interface QueueDeliveryOptions {
  readonly storage: TaskStorage;
  readonly codec: WireCodec;
  /** Absent: events are sent as stored. */
  readonly change?: NotificationChange | undefined;
  readonly policy: DeliveryPolicy;
  /** Duration of the lease after each settled record, in ms. */
  readonly leaseMs: number;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly clock: Clock;
  readonly group: SettlementGroup;
  /** True once the sender stops: the queue goes back without another attempt. */
  readonly isStopping: () => boolean;
  /** False if the configuration was deleted or replaced. No request begins after its deletion was answered. */
  readonly isCurrent: () => Promise<boolean>;
  readonly send: (notification: Notification) => Promise<AttemptResult>;
  /** The trace context of the last attempt, for a link from the next one. Absent: none. */
  readonly traceOfAttempt?: () => string | undefined;
}

/** The failure of a delivery. */
interface DeliveryFailure {
  readonly result: AttemptResult;
  readonly outcome: DeliveryOutcome;
  readonly attempts: number;
  /** The reason why no body could be written. */
  readonly error?: unknown;
}

const UNENCODABLE: AttemptResult = { kind: 'failure', reason: 'unencodable' };

/** The end of a delivery. */
export interface DeliveryEnd {
  readonly delivered: number;
  readonly failure?: DeliveryFailure;
  /** Pending records that the log no longer has. */
  readonly lost: number;
  /** Records that are given up, because the receiver refuses them. Absent: none. */
  readonly refused?: number;
  /** False if the queue is deleted, or claimed by another holder. */
  readonly held: boolean;
}

/**
 * The last record that is given up without an attempt: a receiver that has refused many records gets only the final
 * state of the task. Undefined if the next record is to be sent.
 */
function givenUp({ records, attempts }: DeliveryClaim, policy: DeliveryPolicy): number | undefined {
  if (attempts < policy.attempts) return undefined;
  const at = records.findIndex(isFinal);
  return at < 0 ? records.at(-1)?.seq : records[at - 1]?.seq;
}

/** True for the record that ends its task. */
function isFinal({ event }: LogRecord): boolean {
  if (event.statusUpdate !== undefined) return isTerminal(event.statusUpdate.status.state);
  return event.task !== undefined && isTerminal(event.task.status.state);
}

/**
 * Sends the records of a claimed queue one after another, and settles them while later ones are on their way. Ends at
 * the first failure.
 */
export async function deliverQueue(claim: DeliveryClaim, options: QueueDeliveryOptions): Promise<DeliveryEnd> {
  const { storage, codec, change, policy, leaseMs, random, clock, isStopping, isCurrent, send } = options;
  const { records, position, last } = claim;
  const [first] = records;
  const lost = first === undefined ? last - position : first.seq - position - 1;
  if (first === undefined) {
    const held = await storage.push.settle(claim, { kind: 'delivered', through: last });
    return { delivered: 0, lost, held };
  }
  const skipped = givenUp(claim, policy);
  if (skipped !== undefined) {
    const refused = records.filter(({ seq }) => seq <= skipped).length;
    const held = await storage.push.settle(claim, { kind: 'retry', inMs: 0, through: skipped });
    return { delivered: 0, lost, refused, held };
  }
  const end = records.at(-1)?.seq ?? first.seq;
  let delivered = 0;
  let through = position;
  let lastStatus: { readonly status?: number } = {};
  const settlements = new Settlements(options, () =>
    storage.push.settle(claim, { kind: 'delivered', through, leaseMs, ...lastStatus }),
  );
  try {
    for await (const notification of notificationsOf(claim, { codec, change }, storage)) {
      if (isStopping()) break;
      if (!(await isCurrent())) return { delivered, lost, held: false };
      const result = notification.body === undefined ? UNENCODABLE : await send(notification);
      if (!(await settlements.keepUp())) return { delivered, lost, held: false };
      if (isAcknowledged(result)) {
        delivered += 1;
        through = notification.seq;
        if (result.kind === 'answer') lastStatus = { status: result.status };
        if (through < end) settlements.add();
        continue;
      }
      // The sender itself aborted this attempt, so it does not count.
      if (isStopping()) break;
      if (!(await settlements.finish())) return { delivered, lost, held: false };
      const failed = delivered === 0 ? claim.attempts : 0;
      const { seq } = notification;
      const isLast = records.some((record) => record.seq === seq && isFinal(record));
      const outcome = afterFailure(result, policy, {
        failed,
        seq,
        isFinal: isLast,
        random: random(),
        now: clock.now(),
      });
      const trace = notification.body === undefined ? undefined : options.traceOfAttempt?.();
      const held = await storage.push.settle(claim, trace === undefined ? outcome : { ...outcome, trace });
      const { error } = notification;
      return {
        delivered,
        lost,
        held,
        ...(outcome.kind === 'retry' && outcome.through !== undefined && { refused: 1 }),
        failure: { result, outcome, attempts: failed + 1, ...(error !== undefined && { error }) },
      };
    }
    const isDone = through === end;
    if (!(await (isDone ? settlements.stop() : settlements.finish()))) return { delivered, lost, held: false };
    const outcome: DeliveryOutcome = isDone
      ? { kind: 'delivered', through, ...lastStatus }
      : { kind: 'defer', inMs: 0 };
    return { delivered, lost, held: await storage.push.settle(claim, outcome) };
  } finally {
    settlements.abandon();
  }
}
