import { unreadableReason } from '../errors/unreadable-task-error.js';
import type { LogRecord } from '../task/log-record.js';
import type { DeliveryClaim, DeliveryOutcome, HeldDelivery, StoredPushConfig } from './push-storage.js';
import type { TaskKey } from './task-key.js';

/** A claimed queue with unparsed texts. */
export interface ClaimedTexts extends Omit<DeliveryClaim, 'config' | 'records'> {
  readonly config: string;
  /** Each function reads one pending record. */
  readonly records: readonly (() => LogRecord)[];
}

/** Calls for unreadable queues. */
interface UnreadableDeliveries {
  readonly note: (key: TaskKey, error: unknown) => void;
  readonly settle: (held: HeldDelivery, outcome: DeliveryOutcome) => Promise<unknown>;
}

const EVENTS = ['statusUpdate', 'artifactUpdate', 'task'];

/**
 * Parses claimed queues. A queue is returned with the records before its first unreadable one. If its next record or
 * its configuration is unreadable, the queue is parked and left out.
 */
export async function readableDeliveries(
  queues: readonly ClaimedTexts[],
  { note, settle }: UnreadableDeliveries,
): Promise<readonly DeliveryClaim[]> {
  const claims: DeliveryClaim[] = [];
  const parked: Promise<unknown>[] = [];
  for (const { config: text, records: readers, ...held } of queues) {
    const records: LogRecord[] = [];
    let config: StoredPushConfig | undefined;
    let failure: { readonly error: unknown } | undefined;
    try {
      config = JSON.parse(text) as StoredPushConfig;
      for (const read of readers) records.push(checkedRecord(read()));
    } catch (error) {
      failure = { error };
      note(held.key, error);
    }
    if (config !== undefined && (failure === undefined || records.length > 0))
      claims.push({ ...held, config, records });
    else parked.push(settle(held, { kind: 'park', reason: `it cannot be read: ${unreadableReason(failure?.error)}` }));
  }
  // If parking fails, the queue can be claimed again when its lease ends.
  await Promise.allSettled(parked);
  return claims;
}

/**
 * Parses the event of a record.
 * @throws Error if this version cannot parse it.
 */
export function checkedRecord(record: LogRecord): LogRecord {
  if (!EVENTS.some((name) => name in record.event)) throw new Error(`record ${record.seq} has an unknown event`);
  return record;
}
