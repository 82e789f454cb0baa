import type { TaskPushNotificationConfig } from '../model/push-notification-config.js';
import type { LogRecord } from '../task/log-record.js';
import type { Lease } from './held-turn.js';
import type { Scope, TaskKey } from './task-key.js';

/** A push configuration as it is kept. */
export interface StoredPushConfig extends TaskPushNotificationConfig {
  /** The protocol version of its registration, `Major.Minor`. It decides what its webhook gets. */
  readonly registeredIn?: string;
}

/** A push configuration with its id and its task. */
export type PlacedPushConfig = StoredPushConfig & { readonly id: string; readonly taskId: string };

/** A configuration as it is kept, and the one for its place. Both have the same id and task. */
export interface ConfigChange {
  readonly from: PlacedPushConfig;
  readonly to: PlacedPushConfig;
}

/** The outcome of a push configuration for a task. `full`: the task has no room for it; nothing was written. */
export type ConfigPut = 'put' | 'not-found' | 'full';

/** The key of a queue of deliveries: each push configuration of a task has one queue. */
export interface DeliveryKey {
  readonly key: TaskKey;
  readonly configId: string;
}

/** A queue that a node holds. */
export interface HeldDelivery extends DeliveryKey {
  /** Grows with each claim, replay and purge of the queue. An older holder is refused. */
  readonly epoch: number;
}

/** A queue of deliveries as it stands. */
export interface DeliveryQueue extends DeliveryKey {
  /** Sequence number of the last settled record. The records after it are pending. */
  readonly position: number;
  /** Sequence number of the task's last record. */
  readonly last: number;
  /** Failed attempts since the last record that was delivered. */
  readonly attempts: number;
  /** The time of the next attempt, in ms since the epoch. Absent if nothing is pending, or if parked. */
  readonly dueAt?: number;
  /** HTTP status of the last attempt; absent if it got no answer. */
  readonly lastStatus?: number;
  /** The reason why the queue is parked; absent if it is not. */
  readonly parked?: string;
}

/** A node that asks for queues. */
export interface DeliveryClaimRequest extends Lease {
  readonly agents: readonly string[];
  /** Queues at most. */
  readonly limit: number;
  /** Bytes of JSON at most for the records of all queues together. The first record comes at any size. */
  readonly maxBytes: number;
}

/** A queue for a node, held until its lease ends. */
export interface DeliveryClaim extends HeldDelivery {
  readonly config: StoredPushConfig;
  readonly position: number;
  readonly last: number;
  readonly attempts: number;
  /** The text that the last failed attempt has left for the spans of the next one. */
  readonly trace?: string | undefined;
  /**
   * The next pending records, in order. The first one comes later than `position + 1` if older records are no longer
   * kept. Empty if no pending record is kept.
   */
  readonly records: readonly LogRecord[];
}

/** The queues that a node got. */
export interface DeliveryClaims {
  readonly claims: readonly DeliveryClaim[];
  /** True if a limit cut the list short. */
  readonly more: boolean;
}

/**
 * The outcome of an attempt. `status`: the HTTP status; absent if no answer came. `trace`: a text for the spans of the
 * next attempt, which its claim gets.
 */
export type DeliveryOutcome =
  /** All records up to `through` are done. With `leaseMs` the holder keeps the queue while records are pending. */
  | { readonly kind: 'delivered'; readonly through: number; readonly status?: number; readonly leaseMs?: number }
  /** An attempt is under way. The holder keeps the queue for `leaseMs`. */
  | { readonly kind: 'held'; readonly leaseMs: number; readonly status?: never }
  /** The attempt failed. A node can claim the queue again after `inMs`. Records up to `through` are given up. */
  | {
      readonly kind: 'retry';
      readonly inMs: number;
      readonly status?: number;
      readonly through?: number;
      readonly trace?: string | undefined;
    }
  /** No attempt was made. A node can claim the queue again after `inMs`. */
  | { readonly kind: 'defer'; readonly inMs: number; readonly status?: never }
  /** No node claims the queue until a replay. */
  | { readonly kind: 'park'; readonly reason: string; readonly status?: number; readonly trace?: string | undefined };

/** Which queues, in the order in which their configurations were added within a partition of the storage. */
export interface DeliveryQuery {
  /** Absent: all agents of the storage. */
  readonly agents?: readonly string[];
  /** The only scope to look at. */
  readonly scope?: Scope;
  /** `pending`: records wait, and the queue is not parked. Absent: all queues. */
  readonly standing?: 'pending' | 'parked';
  /** The `next` of the page before (keyset). */
  readonly cursor?: string;
  readonly limit: number;
}

/** A stretch of the list of queues. */
export interface DeliveryPage {
  readonly queues: readonly DeliveryQueue[];
  /** The cursor of the rest of the list; absent at its end. Its text means nothing to the caller. */
  readonly next?: string;
}

/** A stretch of the configurations of a task, in the order of their ids. */
export interface ConfigRange {
  /** The id behind which it begins. */
  readonly cursor?: string;
  readonly limit: number;
}

/**
 * The push configurations of tasks, and their deliveries: for each configuration a queue of the task's records in the
 * order of their sequence numbers. The queue has its position only; its pending records are those of the task's log
 * after it. The caller decides which records it sends.
 *
 * - A configuration that comes with the message of a new task begins with the first record of the task. Any other
 *   begins behind the last record that the task has when the configuration is added.
 * - A configuration that replaces a different one of the same id keeps the position. Its queue is then as after a
 *   replay. An equal one changes nothing.
 * - A queue becomes due in the commit of the first record that it has to deliver.
 * - The queue goes with its configuration or its task.
 *
 * The promises of `TaskStorage` hold for each call.
 */
export interface PushStorage {
  /** Adds or replaces by `config.id`. `limit`: the configurations that a task may have. Default: no limit. */
  putConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut>;
  /** @throws UnreadableTaskError if it cannot be read. */
  config(scope: Scope, taskId: string, id: string): Promise<StoredPushConfig | undefined>;
  /** The readable ones of a task; `undefined` if the scope has no such task. */
  configs(scope: Scope, taskId: string, range: ConfigRange): Promise<readonly StoredPushConfig[] | undefined>;
  /** False if the scope has no such task; a missing configuration is no error (Spec §3.1.10). */
  deleteConfig(scope: Scope, taskId: string, id: string): Promise<boolean>;
  /**
   * Replaces the text of a configuration, such as secrets under a new key. Its queue stays as it is, also a parked one.
   * False if the configuration is no longer `from`.
   */
  rewriteConfig(queue: DeliveryKey, change: ConfigChange): Promise<boolean>;

  /**
   * Claims queues that are due and that no node holds, those that became due first before the others. A queue whose
   * configuration or next record cannot be read is parked, and the log hears of its task.
   */
  claim(request: DeliveryClaimRequest): Promise<DeliveryClaims>;
  /**
   * Settles an attempt. Refused (false) once a claim, a replay or a purge has overtaken the holder, or the queue is
   * gone. A holder whose lease has ended can settle as long as nothing has overtaken it.
   */
  settle(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean>;
  queues(query: DeliveryQuery): Promise<DeliveryPage>;
  /**
   * Makes a queue due at once with no failed attempts, also a parked one. `from`: sequence number of the next record to
   * deliver. `not-kept`: the log does not have that record; nothing changes.
   */
  replay(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'>;
  /** Gives up all pending records of a queue. Later records are delivered again. False if there is no such queue. */
  purge(queue: DeliveryKey): Promise<boolean>;
}
