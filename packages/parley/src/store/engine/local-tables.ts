import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import type { TaskState } from '../../model/task-state.js';
import type { CallerContext } from '../caller-context.js';
import type { CancelRequest } from '../held-turn.js';
import type { IdempotencyKey, Remembered } from '../idempotency-keys.js';
import type { OwnedKeyPage, OwnedTaskPage, OwnedTaskRange } from '../owner-storage.js';
import type {
  ConfigRange,
  DeliveryClaim,
  DeliveryPage,
  DeliveryQuery,
  PlacedPushConfig,
  StoredPushConfig,
} from '../push-storage.js';
import type { DeliveryHead } from '../rules/delivery-head.js';
import type { KeyHead } from '../rules/key-head.js';
import type { AcceptedTurn, AppendedHead, TaskHead } from '../rules/task-head.js';
import type { Scope, TaskKey } from '../task-key.js';
import type { Acceptance, ListCursor, RecordPage, TaskQuery, TaskStorage } from '../task-storage.js';
import type { WrittenAppend } from './append-records.js';
import type { ClaimablePlace } from './claim-turns.js';
import type { QueueTables } from './delivery-queues.js';
import type { TurnTables } from './held-turns.js';
import type { FinishedTasks } from './sweep.js';
import type { ReadRow } from './unreadable-rows.js';

/** A task in the tables. Calls that write to a task also change the given head. */
export interface LocalHead extends TaskHead, ClaimablePlace {
  readonly state: TaskState;
  /** ms since the epoch. */
  readonly createdAt: number;
}

/** A waiting or running turn. */
export interface LocalTurn {
  readonly message: Message;
  readonly caller: CallerContext;
  /** Number of attempts that have started. */
  readonly attempts: number;
  readonly handOvers: number;
  readonly checkpoint: JsonValue | undefined;
  readonly cancel: CancelRequest | undefined;
}

/** A page of a list. The tasks contain only the members that the query asks for. */
export interface LocalPage<Head> {
  readonly found: readonly { readonly head: Head; readonly task: Task }[];
  readonly total: number;
  readonly next?: ListCursor;
}

/** The amount of waiting work. */
export interface LocalLoad {
  /** Turns without a holder. */
  readonly waiting: number;
  /** The place of the oldest claimable turn. See `nextPlace`. */
  readonly oldestPlace: number | undefined;
  /** Queues with pending records that are not parked. */
  readonly pendingDeliveries: number;
  /** The due time of the earliest of them. */
  readonly oldestDue: number | undefined;
}

/** The tables of tasks. */
export interface LocalTasks<Head extends LocalHead> extends TurnTables<Head, CancelRequest, JsonValue> {
  find(key: TaskKey): Head | undefined;
  /** Inserts a task with its first record. The caller has checked that the id is free. */
  insert(scope: Scope, task: Task, now: number): Head;
  /** Appends a turn to the queue of its task, and writes the holder. */
  addTurn(head: Head, turn: AcceptedTurn, call: Acceptance, now: number): void;
  /** Writes records and the new head. A task in a terminal state has ended. */
  append(head: Head, appended: AppendedHead, append: WrittenAppend, now: number): void;
  /** Deletes a task with its turns, records and push configurations. */
  remove(head: Head): void;
  /** Reads the whole task after its last record. */
  read(head: Head): Task;
  turn(head: Head, turn: number): LocalTurn | undefined;
  /** Tasks whose first turn has no holder, or one whose lease has ended: oldest first. */
  free(now: number): Iterable<Head>;
  records(head: Head, after: number, maxBytes: number): RecordPage;
  /** Reads each task by `readRow`. Skips a task that cannot be read, but counts it for the limit. */
  page(query: TaskQuery, readRow: ReadRow): LocalPage<Head>;
  /** Tasks of these agents that have waited for their caller since before a time, and have no turn. Oldest first. */
  abandoned(agents: readonly string[], before: number, limit: number): readonly Head[];
  load(): LocalLoad;
}

/** A key to write. Without an outcome it is reserved. */
export interface KeyToWrite<Key> {
  readonly outcome: Remembered['outcome'] | undefined;
  readonly reservation?: KeyHead['reservation'];
  /** By the storage's clock, in ms. */
  readonly now: number;
  /** The existing key of the same name, which is replaced. */
  readonly before: Key | undefined;
}

/** The table of idempotency keys. */
export interface LocalKeys<Key extends KeyHead> {
  find(scope: Scope, key: string): Key | undefined;
  put(scope: Scope, key: IdempotencyKey, write: KeyToWrite<Key>): void;
  remove(key: Key): void;
  digestOf(key: Key): string;
  rememberedOf(key: Key): Remembered;
  /** Removes at most `limit` expired keys. Returns their number. */
  sweep(now: number, limit: number): number;
}

/** The tables of push configurations and their queues. */
export interface LocalQueues<Head, Queue> extends QueueTables<Queue> {
  /** Writes a claimed queue, and reads its records up to a number of bytes. Throws if a text cannot be parsed. */
  take(
    queue: Queue,
    claimed: DeliveryHead,
    maxBytes: number,
  ): { readonly claim: DeliveryClaim; readonly bytes: number };
  /** The task of a queue. */
  key(queue: Queue): TaskKey;
  find(head: Head, configId: string): Queue | undefined;
  /** All queues of a task. */
  of(head: Head): readonly Queue[];
  config(queue: Queue): StoredPushConfig;
  /** The queues of a range of configurations, in the order of their ids. */
  configs(head: Head, range: ConfigRange): readonly Queue[];
  /** Adds or replaces a configuration with its queue. */
  put(head: Head, config: PlacedPushConfig, queue: DeliveryHead): void;
  /** Replaces the configuration. Its queue stays. */
  rewrite(queue: Queue, config: PlacedPushConfig): void;
  remove(head: Head, configId: string): void;
  /** Due queues of these agents, earliest first. */
  due(agents: readonly string[], now: number): Iterable<Queue>;
  page(query: DeliveryQuery): DeliveryPage;
}

/** The tables by their users. */
export interface LocalOwners {
  /** The scopes that own any data. */
  scopes(): Iterable<Scope>;
  /**
   * See `OwnerStorage.allTasks`. Without an index, `FirstTasks` finds the tasks of the range. Asynchronous, because its
   * code may be loaded on demand.
   */
  tasks(range: OwnedTaskRange, now: number): OwnedTaskPage | Promise<OwnedTaskPage>;
  keys(scope: Scope, range: { readonly cursor?: string; readonly limit: number }): OwnedKeyPage;
  /** Erases at most `limit` tasks of a scope, in any state. Returns their ids. */
  eraseTasks(scope: Scope, limit: number): readonly string[];
  /** Erases at most `limit` keys of a scope. Returns their number. */
  eraseKeys(scope: Scope, limit: number): number;
  /** Erases the name of a scope that has neither a task nor a key. */
  eraseName(scope: Scope): void;
  /** Overwrites the bytes of deleted rows. */
  scrub(): void;
}

/** The tables of a storage with synchronous calls in this process. A new storage of this kind implements only this. */
export interface LocalTables<Head extends LocalHead, Key extends KeyHead, Queue> {
  readonly durability: TaskStorage['durability'];
  readonly tasks: LocalTasks<Head>;
  readonly keys: LocalKeys<Key>;
  readonly queues: LocalQueues<Head, Queue>;
  readonly owners: LocalOwners;
  readonly finished: FinishedTasks;
  /** Runs the work as one atomic transaction. */
  transaction<R>(work: () => R): R;
  close(): void;
}
