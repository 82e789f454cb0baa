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

/** A task as it stands: the fold of its records up to `seq`. */
export interface StoredTask {
  readonly scope: Scope;
  readonly task: Task;
  /** Sequence number of its last record. */
  readonly seq: number;
  /** Grows with each claim; what an older one writes is refused. */
  readonly epoch: number;
  /** True while a lease on it lasts. */
  readonly running: boolean;
  /** The turn that a node holds, also after the end of its lease; 0 if there is none. */
  readonly heldTurn: number;
  /** ms since the epoch. */
  readonly createdAt: number;
}

/** The progress of a task, without its content. */
export interface TaskProgress {
  /** Sequence number of its last record. */
  readonly seq: number;
  readonly state: TaskState;
  /** The last turn that its records name; 0 if none does. */
  readonly lastTurn: number;
}

/** The heartbeat of a process. */
export interface NodeBeat {
  /** The id that its leases name. */
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

/** One message with its task, if that is new, its turn, and its push configuration and idempotency key, if any. */
export interface Acceptance {
  readonly scope: Scope;
  readonly message: Message;
  readonly caller: CallerContext;
  /** The new task with the message in its history, or an id. `isContextNew`: no other task is in its context. */
  readonly task:
    | { readonly create: Task; readonly isContextNew?: boolean }
    | { readonly id: string; readonly contextId?: string };
  /**
   * Claims the turn in the same commit if no other turn of the task runs or waits, and counts that as its first
   * attempt.
   */
  readonly claim?: Lease;
  /** Kept under its id, or that of the task if it has none. */
  readonly pushConfig?: StoredPushConfig;
  /** Push configurations that an existing task may have. Default: no limit. */
  readonly pushConfigLimit?: number;
  readonly idempotency?: IdempotencyKey;
  /**
   * True if the node has asked the same before and missed the answer. If the message waits or runs, the storage answers
   * as the first time and writes nothing.
   */
  readonly again?: boolean;
  /** Messages that may wait on one task, beside the one whose turn runs or is next. */
  readonly waitingLimit: number;
}

/** The outcome of an acceptance. */
export type AcceptOutcome =
  /**
   * `seq`: sequence number of the task's last record when the message was accepted. A stream of the turn reads the log
   * behind it. `claim` has the task as well.
   */
  | {
      readonly kind: 'accepted';
      readonly taskId: string;
      readonly turn: number;
      readonly seq: number;
      readonly claim?: Claim;
    }
  /** The key is known; nothing was written. The caller compares the digests. */
  | { readonly kind: 'repeated'; readonly first: Remembered }
  /** Another node has reserved the key; nothing was written. */
  | { readonly kind: 'reserved' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'terminal'; readonly state: TaskState }
  /** `configs-full`: the task has no room for the push configuration. Nothing was written. */
  | { readonly kind: 'other-context' | 'full' | 'configs-full' };

/**
 * Records of one task, appended together or not at all. Refused when the writer has been overtaken, the sequence has
 * moved or the task has ended; a refusal writes nothing. A running turn may repeat its last append, whose answer it may
 * have missed: it gets the same answer, and nothing is written twice.
 */
export interface Append {
  readonly key: TaskKey;
  /**
   * The epoch of a running turn. `idle`: from outside, only while no turn holds a lease. `force`: from outside, and it
   * overtakes a running turn: the epoch grows. That turn waits to be claimed again, unless this append ends it.
   */
  readonly authority: number | 'idle' | 'force';
  /** Sequence number of the last record the writer knows. */
  readonly after: number;
  /** Consecutive, from `after + 1`. */
  readonly records: readonly LogRecord[];
  /** Status and metadata of the task after the last record. */
  readonly head: { readonly status: TaskStatus; readonly metadata: JsonObject | undefined };
  /** The whole task after the last record, when it is time to write it out. Always with a terminal record. */
  readonly snapshot?: Task;
  /** A value for the next attempt of the running turn, kept by the same commit. Only with the epoch of a turn. */
  readonly checkpoint?: JsonValue;
  /** The turn that ends with this append. A terminal record ends every turn of the task, the waiting ones included. */
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
   * The request is kept with the held turn, if there is one. `turn`: that turn. `stored`: the task, if no lease on it
   * lasts; a running task is not read.
   */
  | { readonly kind: 'requested'; readonly seq: number; readonly turn?: number; readonly stored?: StoredTask };

/** Which tasks of a scope, newest first by the order asked. */
export interface TaskQuery {
  readonly scope: Scope;
  readonly contextId?: string;
  /** Any of these; none: any at all. */
  readonly states?: readonly TaskState[];
  /** Inclusive, ms since the epoch (`statusTime`, as for the order and the cursor). */
  readonly statusAfter?: number;
  /** Exclusive bounds, ms since the epoch. */
  readonly createdAfter?: number;
  readonly createdBefore?: number;
  readonly orderBy: 'status' | 'created';
  /** Continue after this task of the same order (keyset). */
  readonly cursor?: ListCursor;
  readonly offset?: number;
  readonly limit: number;
  /** Tasks come without what is not asked for. */
  readonly artifacts: boolean;
  readonly history: boolean;
  /** The page ends before its JSON is longer than this, about, but not before its first task. Default: no bound. */
  readonly maxBytes?: number;
  /** True if an estimate of the total is not enough. */
  readonly exactTotal?: boolean;
}

/** A task in the order of a list: its time in that order, in ms since the epoch, and its id. */
export interface ListCursor {
  readonly time: number;
  readonly id: string;
}

/** A stretch of a list. */
export interface TaskPage {
  readonly tasks: readonly StoredTask[];
  /** The same tasks as JSON, if the storage keeps them so. Not enumerable. Then reading `tasks` parses them. */
  readonly texts?: readonly TaskTexts[];
  /**
   * Tasks that match, before paging. A storage may estimate it for a query by state and time of creation, unless the
   * query asks for `exactTotal`.
   */
  readonly total: number;
  /** The cursor of the rest of the list; absent at its end. */
  readonly next?: ListCursor;
}

/** A stretch of a task's log. */
export interface RecordPage {
  readonly records: readonly LogRecord[];
  /** The lowest sequence number still kept; last + 1 when none is. */
  readonly floor: number;
  /** Sequence number of the task's last record; 0 if there is no such task. */
  readonly last: number;
}

/** The limits of a sweep. Ages are in ms, by the storage's own clock. */
export interface Retention {
  /** Tasks that ended longer ago than this are deleted with all that hangs on them. */
  readonly taskRetentionMs: number;
  /**
   * Records of tasks that ended longer ago than this are deleted; the tasks stay. Records stay as well as long as a
   * delivery is pending and not parked, but no longer than their task. Bounds of a storage in bytes come before that.
   * A storage of one process applies such a bound when a task ends, a shared storage with its next sweep.
   */
  readonly eventLogMs: number;
  /** Rows at most in one call, so that no other call waits long. */
  readonly limit: number;
}

/** Counts of removed rows. */
export interface Swept {
  readonly tasks: number;
  readonly records: number;
  readonly keys: number;
  /** True if the limit cut it short. */
  readonly more: boolean;
}

/** The work that waits. */
export interface StorageLoad {
  /** Messages of all agents whose turn no node runs yet. */
  readonly waiting: number;
  /**
   * Age of the oldest message that a node could claim, in ms. Messages behind a running turn of their own task do not
   * count. Absent if no message waits, or the storage does not know it.
   */
  readonly oldestWaitMs?: number;
  /** Queues of deliveries with pending records that are not parked. Absent if the storage does not count them. */
  readonly pendingDeliveries?: number;
  /**
   * Time since the attempt of a pending delivery became due, in ms, for the oldest such attempt. Absent if no queue is
   * pending. 0 if the next attempt is not due yet.
   */
  readonly oldestDueMs?: number;
  /** Tasks that could not be read and were set aside since the storage was opened; absent is none. */
  readonly unreadable?: number;
}

/**
 * The processes that answer as one server on a storage. Each of them offers its figures, as JSON, and can ask for those
 * of all.
 */
interface Siblings {
  /** Called when a process asks. The returned function ends that. */
  offer(figures: () => Promise<unknown>): () => void;
  /** The figures of all processes that answer in time, this one included. */
  collect(): Promise<readonly unknown[]>;
}

/**
 * Tasks, their logs and executions. Idempotency keys and push configurations are parts of the storage, with calls of
 * their own, because all of them change together or not at all. Every call is one transaction, durable when its promise
 * resolves. Concurrent calls may share a commit; one that fails never fails another. Nothing throws for what a caller
 * can cause: outcomes say it. Rejects with StorageError when the storage itself fails, or is closed. Nothing was
 * written then, as far as the storage can know.
 */
export interface TaskStorage {
  /**
   * True if other processes may use the same storage at the same time. If they may not, a process that opens it finds
   * no lease on it: the process that held one has ended.
   */
  readonly shared: boolean;
  /** The loss that a resolved promise survives. */
  readonly durability: 'none' | 'process' | 'power-loss';
  /** For the operator, a sentence each: what else the storage cannot promise. Absent is nothing. */
  readonly warnings?: readonly string[];

  /**
   * Wake-ups about this storage. It publishes writes from outside of a turn, deletions, turns and deliveries that can
   * be claimed, and requests to cancel. A shared storage publishes the appends of turns as well.
   */
  readonly wakeups: Wakeups;

  /** Counters of rates for all processes on the storage. Absent: each process counts by itself. */
  readonly rateCounters?: RateCounters;

  /** The processes that answer as one server with this one. Absent: a process answers for itself. */
  readonly siblings?: Siblings;

  /** Idempotency keys of messages. `accept` decides about the key of its message in its own commit. */
  readonly keys: IdempotencyKeys;

  /**
   * Push configurations and their deliveries. `accept` adds the configuration of its message in its own commit. Records
   * make queues due in the commit of their append.
   */
  readonly push: PushStorage;

  /** The data of users, for exports and erasures. */
  readonly owners: OwnerStorage;

  accept(acceptance: Acceptance): Promise<AcceptOutcome>;
  append(append: Append): Promise<AppendOutcome>;
  /**
   * Claims turns that no node runs: waiting ones whose task is free, and those whose lease has ended. They come oldest
   * first within a partition of the storage; a storage without partitions has one. A turn that cannot be read is set
   * aside, told to the log, and not claimed again before the storage is opened again.
   */
  claim(request: ClaimRequest): Promise<Claims>;
  /** Counts an attempt of a claimed turn, before its agent begins. Answers as `renew` does, and extends no lease. */
  begin(turn: HeldTurn, attempt: number): Promise<Holding>;
  /** Moves the ends of leases on. Answers in the order asked; a failure with one turn fails no other. */
  renew(request: Lease & { readonly turns: readonly HeldTurn[] }): Promise<readonly Renewal[]>;
  /** Gives a turn up in an attempt. Resolves to the count of turns of the task that still wait. */
  release(turn: HeldTurn & { readonly attempt: number }, how: ReleaseHow): Promise<{ readonly waiting: number }>;
  /** Keeps what the agent wants to find after a takeover; refused (false) once overtaken. */
  saveCheckpoint(turn: HeldTurn, checkpoint: JsonValue): Promise<boolean>;
  /** The metadata of several requests for one turn is merged. */
  requestCancel(scope: Scope, taskId: string, request: CancelRequest): Promise<CancelOutcome>;

  /** @throws UnreadableTaskError if its rows cannot be read. The same holds for its records. */
  task(scope: Scope, taskId: string): Promise<StoredTask | undefined>;
  /** Tasks that cannot be read are left out, and the log hears of them. */
  tasks(query: TaskQuery): Promise<TaskPage>;
  /** Records after a sequence number, in order, until their events have `maxBytes` of JSON (at least one record). */
  records(key: TaskKey, after: number, maxBytes: number): Promise<RecordPage>;
  /** The progress of these tasks, in the order asked, in one read; `undefined` for a task that is not there. */
  heads(keys: readonly TaskKey[]): Promise<readonly (TaskProgress | undefined)[]>;
  /**
   * Tasks of these agents that have waited in an interrupted state for longer than `waitedMs` and have no turn; oldest
   * first within a partition. A page may have fewer than `limit`, because its bytes are bounded. An empty page means
   * that there are none. Tasks that cannot be read are left out.
   */
  abandoned(agents: readonly string[], waitedMs: number, limit: number): Promise<readonly StoredTask[]>;

  /** Stores a task that no message created, with one record that shows it. False if the scope has a task of this id. */
  create(scope: Scope, task: Task): Promise<boolean>;
  /** Deletes a task with its records and push configurations, unless a turn holds a lease on it. */
  delete(scope: Scope, taskId: string): Promise<'deleted' | 'not-found' | 'running'>;

  /** The storage's time, in ms since the epoch: that of its leases and of all ages it compares. */
  now(): Promise<number>;
  /** Notes that a process is alive. Resolves to the storage's time. */
  heartbeat(beat: NodeBeat): Promise<number>;
  /** The processes that sent a heartbeat within the last hour. */
  nodes(): Promise<readonly StorageNode[]>;

  /**
   * Writes a value without meaning, in the way of all other writes. A storage that resolves could have accepted a
   * message now.
   */
  check(): Promise<StorageLoad>;
  /**
   * Calls the watcher after each commit with the count of its calls. The returned function ends that. Absent if every
   * call has its own commit.
   */
  watchCommits?(watcher: (calls: number) => void): () => void;
  sweep(retention: Retention): Promise<Swept>;
  close(): Promise<void>;
}
