import type { JsonObject, JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Task, TaskStatus } from '../model/task.js';
import type { TaskState } from '../model/task-state.js';
import type { LogRecord } from '../task/log-record.js';
import type { TaskTexts } from '../task/shaped-task.js';
import type { CallerContext } from './caller-context.js';
import type {
  CancelRequest,
  Claim,
  ClaimRequest,
  Claims,
  HeldTurn,
  Holding,
  Lease,
  ReleaseHow,
  Renewal,
} from './held-turn.js';
import type { IdempotencyKey, IdempotencyKeys, Remembered } from './idempotency-keys.js';
import type { OwnerStorage } from './owner-storage.js';
import type { PushStorage, StoredPushConfig } from './push-storage.js';
import type { RateCounters } from './rate-counters.js';
import type { Scope, TaskKey } from './task-key.js';
import type { Wakeups } from './wakeups.js';

/** The current state of a task: the fold of its records up to `seq`. */
export interface StoredTask {
  readonly scope: Scope;
  readonly task: Task;
  /** Sequence number of its last record. */
  readonly seq: number;
  /** Increases with each claim; writes with an older epoch are refused. */
  readonly epoch: number;
  /** True if a lease on it is valid. */
  readonly running: boolean;
  /** The turn that a node holds, even after the end of its lease; 0 if there is none. */
  readonly heldTurn: number;
  /** ms since the epoch. */
  readonly createdAt: number;
}

/** The progress of a task, without its content. */
export interface TaskProgress {
  /** Sequence number of its last record. */
  readonly seq: number;
  readonly state: TaskState;
  /** The last turn with a record; 0 if none. */
  readonly lastTurn: number;
}

/** The heartbeat of a process. */
export interface NodeBeat {
  /** The id in its leases. */
  readonly node: string;
  /** The agents whose turns it runs. */
  readonly agents: readonly string[];
  readonly runningTurns: number;
}

/** A process that uses the storage. Times are ms since the epoch, by the storage's clock. */
export interface StorageNode extends NodeBeat {
  readonly firstSeenAt: number;
  /** The time of its last heartbeat. */
  readonly seenAt: number;
}

/** One message with its turn, its task if that is new, and its push configuration and idempotency key, if any. */
export interface Acceptance {
  readonly scope: Scope;
  readonly message: Message;
  readonly caller: CallerContext;
  /** The new task with the message in its history, or an id. `isContextNew`: its context has no other task. */
  readonly task:
    | { readonly create: Task; readonly isContextNew?: boolean }
    | { readonly id: string; readonly contextId?: string };
  /**
   * Claims the turn in the same commit if the task has no other waiting or running turn, and counts its first attempt.
   */
  readonly claim?: Lease;
  /** Stored under its own id, or that of the task if it has none. */
  readonly pushConfig?: StoredPushConfig;
  /** Maximum number of push configurations of an existing task. Default: none. */
  readonly pushConfigLimit?: number;
  readonly idempotency?: IdempotencyKey;
  /**
   * True if the node repeats a call whose answer was lost. If the message waits or runs, the answer is the same as the
   * first one, and nothing is written.
   */
  readonly again?: boolean;
  /** Maximum number of waiting messages of one task, without the first one. */
  readonly waitingLimit: number;
}

/** The outcome of an acceptance. */
export type AcceptOutcome =
  /**
   * `seq`: sequence number of the last record at the time of the acceptance. A stream of the turn reads the log after
   * it. `claim` contains the task as well.
   */
  | {
      readonly kind: 'accepted';
      readonly taskId: string;
      readonly turn: number;
      readonly seq: number;
      readonly claim?: Claim;
    }
  /** The key has an outcome; nothing was written. The caller compares the digests. */
  | { readonly kind: 'repeated'; readonly first: Remembered }
  /** Another node has reserved the key; nothing was written. */
  | { readonly kind: 'reserved' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'terminal'; readonly state: TaskState }
  /** `configs-full`: the task is at its limit of push configurations. Nothing was written. */
  | { readonly kind: 'other-context' | 'full' | 'configs-full' };

/**
 * Records of one task, appended atomically. Refused if the epoch of the writer is outdated, the sequence has moved or
 * the task has ended. A running turn may repeat its last append if the answer was lost: it gets the same answer, and
 * nothing is written twice.
 */
export interface Append {
  readonly key: TaskKey;
  /**
   * The epoch of a running turn. `idle`: from outside, only while no turn holds a lease. `force`: from outside,
   * increases the epoch, so that later writes of a running turn are refused. That turn can be claimed again, unless
   * this append ends it.
   */
  readonly authority: number | 'idle' | 'force';
  /** Sequence number of the last record that the writer has read or written. */
  readonly after: number;
  /** Consecutive, from `after + 1`. */
  readonly records: readonly LogRecord[];
  /** Status and metadata of the task after the last record. */
  readonly head: { readonly status: TaskStatus; readonly metadata: JsonObject | undefined };
  /** The whole task after the last record, if a snapshot is due. Required with a terminal record. */
  readonly snapshot?: Task;
  /** A value for the next attempt of the running turn, stored by the same commit. Only with the epoch of a turn. */
  readonly checkpoint?: JsonValue;
  /** The turn that ends with this append. A terminal record ends every turn of the task, including waiting ones. */
  readonly endsTurn?: number;
}

/** The outcome of an append; all but the first wrote nothing. */
export type AppendOutcome =
  /** `waiting`: turns of the task that no node runs yet. */
  | { readonly kind: 'appended'; readonly waiting: number }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'running' }
  | { readonly kind: 'terminal' }
  | { readonly kind: 'not-found' };

/** The outcome of a request to cancel. */
export type CancelOutcome =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'terminal'; readonly state: TaskState }
  /**
   * The request is stored with the held turn, if there is one. `turn`: that turn. `stored`: the task, if it has no
   * valid lease; a running task is not read.
   */
  | { readonly kind: 'requested'; readonly seq: number; readonly turn?: number; readonly stored?: StoredTask };

/** A query for tasks of a scope, newest first. */
export interface TaskQuery {
  readonly scope: Scope;
  readonly contextId?: string;
  /** Tasks in any of these states. Absent: all states. */
  readonly states?: readonly TaskState[];
  /** Inclusive, ms since the epoch. `statusTime` is the same time in order and cursor. */
  readonly statusAfter?: number;
  /** Exclusive bounds, ms since the epoch. */
  readonly createdAfter?: number;
  readonly createdBefore?: number;
  readonly orderBy: 'status' | 'created';
  /** Start after this task in the same order (keyset). */
  readonly cursor?: ListCursor;
  readonly offset?: number;
  readonly limit: number;
  /** False leaves a member out. */
  readonly artifacts: boolean;
  readonly history: boolean;
  /** Approximate maximum bytes of the JSON of the page. The first task is always included. Default: no maximum. */
  readonly maxBytes?: number;
  /** True if `total` must not be an estimate. */
  readonly exactTotal?: boolean;
}

/** A task in the order of a list: its time in that order, in ms since the epoch, and its id. */
export interface ListCursor {
  readonly time: number;
  readonly id: string;
}

/** A page of a list. */
export interface TaskPage {
  readonly tasks: readonly StoredTask[];
  /** The same tasks as JSON, if the storage has it. Not enumerable. Reading `tasks` then parses the texts. */
  readonly texts?: readonly TaskTexts[];
  /**
   * Number of matching tasks, before paging. May be an estimate for a query by state and time of creation, unless
   * `exactTotal` is set.
   */
  readonly total: number;
  /** The cursor of the next page; absent at the end. */
  readonly next?: ListCursor;
}

/** A page of the log of a task. */
export interface RecordPage {
  readonly records: readonly LogRecord[];
  /** The lowest sequence number still stored; `last + 1` if there is none. */
  readonly floor: number;
  /** Sequence number of the task's last record; 0 if there is no such task. */
  readonly last: number;
}

/** The limits of a sweep. Ages are in ms, by the storage's clock. */
export interface Retention {
  /** Tasks that ended earlier than this are deleted with everything that belongs to them. */
  readonly taskRetentionMs: number;
  /**
   * Records of tasks that ended earlier than this are deleted; the tasks stay. A pending delivery that is not parked
   * keeps the records as long as their task. Limits of a storage in bytes take precedence.
   * A storage of one process applies such a limit when a task ends, a shared storage with its next sweep.
   */
  readonly eventLogMs: number;
  /** Maximum number of rows in one call, to keep transactions short. */
  readonly limit: number;
}

/** Numbers of deleted rows. */
export interface Swept {
  readonly tasks: number;
  readonly records: number;
  readonly keys: number;
  /** True if the limit ended the sweep early. */
  readonly more: boolean;
}

/** The amount of waiting work. */
export interface StorageLoad {
  /** Messages of all agents whose turn no node runs yet. */
  readonly waiting: number;
  /**
   * Age of the oldest claimable message, in ms. Messages behind a running turn of their own task do not count. Absent
   * if no message waits, or the storage cannot measure it.
   */
  readonly oldestWaitMs?: number;
  /** Queues of deliveries with pending records that are not parked. Absent if the storage does not count them. */
  readonly pendingDeliveries?: number;
  /**
   * Time since the earliest due time of a pending delivery, in ms. 0 if the next attempt is not due yet. Absent if no
   * queue is pending.
   */
  readonly oldestDueMs?: number;
  /** Number of unreadable tasks since the storage was opened. Absent: none. */
  readonly unreadable?: number;
}

/**
 * The processes that serve as one server on a storage. Each process offers its figures as JSON, and can collect those
 * of all.
 */
interface Siblings {
  /** `figures` is called when a process collects. The returned function withdraws the offer. */
  offer(figures: () => Promise<unknown>): () => void;
  /** Resolves to the figures of all processes that answer within a time limit, including this one. */
  collect(): Promise<readonly unknown[]>;
}

/**
 * Tasks, their logs and their turns. Idempotency keys and push configurations are parts of the storage, because they
 * change in the same transactions. Every call is one transaction, durable when its promise resolves. Concurrent calls
 * may share a commit; a failed call does not affect others. Errors that a caller can cause are outcomes. Other calls
 * reject with StorageError if the storage fails or is closed. Then nothing was written, unless the answer of a database
 * was lost.
 */
export interface TaskStorage {
  /**
   * True if other processes may use the storage at the same time. If false, opening it ends all leases, because the
   * process that held them has ended.
   */
  readonly shared: boolean;
  /** The failure that committed data survive. */
  readonly durability: 'none' | 'process' | 'power-loss';
  /** One sentence for the operator for each further limitation. Absent: none. */
  readonly warnings?: readonly string[];

  /**
   * Wake-ups of this storage. It publishes writes from outside of a turn, deletions, claimable turns and deliveries,
   * and requests to cancel. A shared storage also publishes the appends of turns.
   */
  readonly wakeups: Wakeups;

  /** Rate counters for all processes on the storage. Absent: each process counts locally. */
  readonly rateCounters?: RateCounters;

  /** The processes that serve as one server with this one. Absent: there are no others. */
  readonly siblings?: Siblings;

  /** Idempotency keys of messages. `accept` checks and writes the key of its message in its own commit. */
  readonly keys: IdempotencyKeys;

  /**
   * Push configurations and their deliveries. `accept` adds the configuration of its message in its own commit. An
   * append makes queues due in its own commit.
   */
  readonly push: PushStorage;

  /** The data of users, for exports and erasures. */
  readonly owners: OwnerStorage;

  accept(acceptance: Acceptance): Promise<AcceptOutcome>;
  append(append: Append): Promise<AppendOutcome>;
  /**
   * Claims turns that no node runs: waiting ones whose task has no holder, and those with an expired lease. Oldest
   * first within a partition; a storage without partitions counts as one. A turn that cannot be read is logged, and
   * skipped until the storage is opened again.
   */
  claim(request: ClaimRequest): Promise<Claims>;
  /** Counts an attempt of a claimed turn before its agent starts. Answers like `renew`, but extends no lease. */
  begin(turn: HeldTurn, attempt: number): Promise<Holding>;
  /** Extends leases. Answers in the given order; a failure of one turn does not affect others. */
  renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]>;
  /** Releases a turn at the end of an attempt. Resolves to the number of turns of the task that still wait. */
  release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }>;
  /** Stores a value that the agent needs after a takeover. Returns false if the node no longer holds the turn. */
  saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean>;
  /** Stores a request to cancel. The metadata of several requests for one turn is merged. */
  requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome>;

  /** @throws UnreadableTaskError if its rows cannot be read. The same applies to its records. */
  task(scope: Scope, taskId: string): Promise<StoredTask | undefined>;
  /** Skips and logs tasks that cannot be read. */
  tasks(query: TaskQuery): Promise<TaskPage>;
  /** Records after a sequence number, in order, up to `maxBytes` of JSON of their events; at least one record. */
  records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage>;
  /** The progress of these tasks, in the given order, in one read; `undefined` for a missing task. */
  heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]>;
  /**
   * Tasks of these agents that have been in an interrupted state for longer than `waitedMs` and have no turn; oldest
   * first within a partition. A page may have fewer than `limit`, because its bytes are limited. An empty page means
   * that there are none. Skips tasks that cannot be read.
   */
  abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]>;

  /** Stores a task that no message created, with its first record. Returns false if the scope has a task of this id. */
  create(scope: Scope, task: Task): Promise<boolean>;
  /** Deletes a task with its records and push configurations, unless a turn holds a lease on it. */
  delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'>;

  /** The storage's time, in ms since the epoch. Leases and ages use it. */
  now(): Promise<number>;
  /** Stores a heartbeat of a process. Resolves to the storage's time. */
  heartbeat(beat: NodeBeat): Promise<number>;
  /** The processes that sent a heartbeat within the last hour. */
  nodes(): Promise<readonly StorageNode[]>;

  /**
   * Writes a meaningless value, in the same way as other writes. If it resolves, the storage could accept a message
   * now.
   */
  check(): Promise<StorageLoad>;
  /**
   * Calls the watcher after each commit with its number of calls. The returned function removes the watcher. Absent if
   * every call has its own commit.
   */
  watchCommits?(watcher: (calls: number) => void): () => void;
  sweep(retention: Retention): Promise<Swept>;
  close(): Promise<void>;
}
