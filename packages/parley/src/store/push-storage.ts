import type { TaskPushNotificationConfig } from '../model/push-notification-config.js';
import type { LogRecord } from '../task/log-record.js';
import type { Lease } from './held-turn.js';
import type { Scope, TaskKey } from './task-key.js';

/** A stored push configuration. */
export interface StoredPushConfig extends TaskPushNotificationConfig {
  /** The protocol version of its registration, `Major.Minor`. Determines the format of its notifications. */
  readonly registeredIn?: string;
}

/** A push configuration with its id and its task. */
export type PlacedPushConfig = StoredPushConfig & { readonly id: string; readonly taskId: string };

/** A stored configuration, and its replacement with the same id and task. */
export interface ConfigChange {
  readonly from: PlacedPushConfig;
  readonly to: PlacedPushConfig;
}

/** The outcome of adding a push configuration. `full`: the task is at its limit; nothing was written. */
export type ConfigPut = 'put' | 'not-found' | 'full';

/** The key of a queue of deliveries: each push configuration of a task has one queue. */
export interface DeliveryKey {
  readonly key: TaskKey;
  readonly configId: string;
}

/** A queue that a node holds. */
export interface HeldDelivery extends DeliveryKey {
  /** Increases with each claim, replay and purge of the queue. Calls with an older epoch are refused. */
  readonly epoch: number;
}

/** The current state of a delivery queue. */
export interface DeliveryQueue extends DeliveryKey {
  /** Sequence number of the last settled record. Later records are pending. */
  readonly position: number;
  /** Sequence number of the task's last record. */
  readonly last: number;
  /** Failed attempts since the last record that was delivered. */
  readonly attempts: number;
  /** The time of the next attempt, in ms since the epoch. Absent if nothing is pending, or if parked. */
  readonly dueAt?: number;
  /** HTTP status of the last attempt; absent without an answer. */
  readonly lastStatus?: number;
  /** The reason why the queue is parked; absent if it is not. */
  readonly parked?: string;
}

/** A request of a node for queues. */
export interface DeliveryClaimRequest extends Lease {
  readonly agents: readonly string[];
  /** Maximum number of queues. */
  readonly limit: number;
  /** Maximum bytes of JSON for the records of all queues together. The first record is returned at any size. */
  readonly maxBytes: number;
}

/** A queue that a node holds until the end of its lease. */
export interface DeliveryClaim extends HeldDelivery {
  readonly config: StoredPushConfig;
  readonly position: number;
  readonly last: number;
  readonly attempts: number;
  /** The trace text of the last failed attempt, for the spans of the next one. */
  readonly trace?: string | undefined;
  /**
   * The next pending records, in order. The first one may be later than `position + 1` if older records were dropped.
   * Empty if no pending record is left.
   */
  readonly records: readonly LogRecord[];
}

/** The queues that a node has claimed. */
export interface DeliveryClaims {
  readonly claims: readonly DeliveryClaim[];
  /** True if a limit ended the list. */
  readonly more: boolean;
}

/**
 * The outcome of an attempt. `status`: the HTTP status; absent without an answer. `trace`: a text for the spans of the
 * next attempt, returned with its claim.
 */
export type DeliveryOutcome =
  /** All records up to `through` are delivered. With `leaseMs` the holder keeps the queue while records are pending. */
  | { readonly kind: 'delivered'; readonly through: number; readonly status?: number; readonly leaseMs?: number }
  /** An attempt is in progress. The holder keeps the queue for `leaseMs`. */
  | { readonly kind: 'held'; readonly leaseMs: number; readonly status?: never }
  /** The attempt failed. A node can claim the queue again after `inMs`. Records up to `through` are dropped. */
  | {
      readonly kind: 'retry';
      readonly inMs: number;
      readonly status?: number;
      readonly through?: number;
      readonly trace?: string | undefined;
    }
  /** No attempt was made. A node can claim the queue again after `inMs`. */
  | { readonly kind: 'defer'; readonly inMs: number; readonly status?: never }
  /** No node claims the queue before a replay. */
  | { readonly kind: 'park'; readonly reason: string; readonly status?: number; readonly trace?: string | undefined };

/** A filter of queues, in order of their creation within a partition of the storage. */
export interface DeliveryQuery {
  /** Absent: all agents of the storage. */
  readonly agents?: readonly string[];
  /** The only scope to include. */
  readonly scope?: Scope;
  /** `pending`: records wait, and the queue is not parked. Absent: all queues. */
  readonly standing?: 'pending' | 'parked';
  /** The `next` of the previous page (keyset). */
  readonly cursor?: string;
  readonly limit: number;
}

/** A page of the list of queues. */
export interface DeliveryPage {
  readonly queues: readonly DeliveryQueue[];
  /** The cursor of the next page; absent at the end. Opaque to the caller. */
  readonly next?: string;
}

/** A range of the configurations of a task, ordered by id. */
export interface ConfigRange {
  /** The id after which the range begins. */
  readonly cursor?: string;
  readonly limit: number;
}

/**
 * The push configurations of tasks, and their deliveries. Each configuration has a queue of the records of its task,
 * ordered by sequence number. A queue stores only its position; its pending records are those of the log after it. The
 * caller decides which records it sends.
 * - A configuration in the message of a new task starts with the first record of the task. Any other one starts after
 *   the last record of the task at the time when it is added.
 * - A changed configuration with an existing id keeps the position. Its queue is then as after a replay. An equal one
 *   changes nothing.
 * - A queue becomes due in the commit of the first record to deliver.
 * - A queue is deleted with its configuration or its task.
 * The guarantees of `TaskStorage` apply to each call.
 */
export interface PushStorage {
  /**
   * Adds or replaces the configuration of `config.id`. `limit`: maximum number of configurations of a task. Default:
   * none.
   */
  putConfig(scope: Scope, config: PlacedPushConfig, limit?: number): Promise<ConfigPut>;
  /** @throws UnreadableTaskError if it cannot be read. */
  config(scope: Scope, taskId: string, id: string): Promise<StoredPushConfig | undefined>;
  /** The readable configurations of a task; `undefined` if the scope has no such task. */
  configs(scope: Scope, taskId: string, range: ConfigRange): Promise<readonly StoredPushConfig[] | undefined>;
  /** False if the scope has no such task; a missing configuration is no error (Spec §3.1.10). */
  deleteConfig(scope: Scope, taskId: string, id: string): Promise<boolean>;
  /**
   * Replaces the text of a configuration, for example with secrets under a new key. The queue is unchanged, even if
   * parked. Returns false if the stored configuration is not `from`.
   */
  rewriteConfig(queue: DeliveryKey, change: ConfigChange): Promise<boolean>;

  /**
   * Claims due queues that no node holds, earliest first. A queue with an unreadable configuration or next record is
   * parked, and its task is logged.
   */
  claim(request: DeliveryClaimRequest): Promise<DeliveryClaims>;
  /**
   * Stores the outcome of an attempt. Returns false if a later claim, replay or purge has replaced the epoch, or the
   * queue was deleted. A holder with an expired lease can settle until then.
   */
  settle(held: HeldDelivery, outcome: DeliveryOutcome): Promise<boolean>;
  queues(query: DeliveryQuery): Promise<DeliveryPage>;
  /**
   * Makes a queue due at once and resets its failed attempts, even if it is parked. `from`: sequence number of the next
   * record to deliver. `not-kept`: the log no longer has that record; nothing changes.
   */
  replay(queue: DeliveryKey, from?: number): Promise<'replayed' | 'not-found' | 'not-kept'>;
  /** Drops all pending records of a queue. Later records are delivered. Returns false if there is no such queue. */
  purge(queue: DeliveryKey): Promise<boolean>;
}
