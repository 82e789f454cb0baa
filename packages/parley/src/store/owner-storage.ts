import type { TaskState } from '../model/task-state.js';
import type { OwnerQuery } from './owner-query.js';
import type { Scope, TaskKey } from './task-key.js';
import type { CopiedKey } from './task-transfer.js';

/** An idempotency key of an owner. A reserved key has neither a task nor a reply. */
export type OwnedKey = Omit<CopiedKey, 'scope' | 'digest'>;

/** A page of the idempotency keys of a scope, in the order of the storage. */
export interface OwnedKeyPage {
  readonly keys: readonly OwnedKey[];
  /** The cursor of the next page; absent at the end. Opaque to the caller. */
  readonly next?: string;
}

/** A scope in the list of all scopes. */
export interface ListedScope {
  readonly scope: Scope;
  /** The cursor of the list after this scope. Opaque to the caller. */
  readonly cursor: string;
}

/** A range of the list of all scopes. Default: from the beginning. */
export interface ScopeRange {
  readonly cursor?: string;
  readonly limit: number;
}

/** A task in a list of the tasks of all owners, without its content. Times are ms since the epoch. */
export interface OwnedTask {
  readonly key: TaskKey;
  readonly contextId: string | null;
  readonly state: TaskState;
  /** The time of its last status. */
  readonly statusTime: number;
  readonly createdAt: number;
  /** Sequence number of its last record. */
  readonly seq: number;
  /** True if a lease on it is valid. */
  readonly running: boolean;
  /** The turn that a node holds, even after the end of its lease; 0 if there is none. */
  readonly heldTurn: number;
  /** The cursor of the list after this task. */
  readonly cursor: string;
}

/** A range of the list of all finished tasks, or of all open tasks. Default: from the beginning. */
export interface OwnedTaskRange {
  readonly hasEnded: boolean;
  readonly cursor?: string;
  readonly limit: number;
}

/** Tasks of a range, without tasks that were deleted in the meantime. */
export interface OwnedTaskPage {
  readonly tasks: readonly OwnedTask[];
  /** True if this page is the last one. */
  readonly isLast: boolean;
}

/** The outcome of one step of an erasure. */
export interface ErasedRows {
  readonly tasks: number;
  readonly keys: number;
  /** True if the storage has no more data of the scope, including its name. */
  readonly isGone: boolean;
}

/** All data of users. The guarantees of `TaskStorage` apply to each call. */
export interface OwnerStorage {
  /**
   * Refuses new data of an owner for `forMs`, in all processes: `accept`, `create`, `keys.reserve` and `keys.remember`
   * reject with OwnerBlockedError. A later call replaces the time; 0 ends it. After it resolves, no earlier call adds
   * data.
   */
  block(owner: OwnerQuery, forMs: number): Promise<void>;
  /** All scopes of an owner with any data. */
  scopes(owner: OwnerQuery): Promise<readonly Scope[]>;
  /**
   * Scopes of all owners, in the order of the storage: all scopes with a task, and possibly others. A page shorter than
   * `limit` is the last one. Redis scans all its keys for a page.
   */
  listScopes(range: ScopeRange): Promise<readonly ListedScope[]>;
  /**
   * Tasks of all owners in one order. Open tasks: oldest status first. Finished tasks: latest end first. There is no
   * index of all open tasks, because it would slow writes down. So a page of open tasks reads all scopes and all open
   * tasks. Redis scans all its keys for such a page.
   */
  allTasks(range: OwnedTaskRange): Promise<OwnedTaskPage>;
  /** The idempotency keys of a scope, including expired ones. */
  keys(scope: Scope, range: { readonly cursor?: string; readonly limit: number }): Promise<OwnedKeyPage>;
  /**
   * Erases a part of a scope: at most `limit` tasks, or `limit` idempotency keys if there is no task. Tasks are erased
   * with everything that belongs to them, even unreadable ones and those with a running turn. The call that finds
   * neither erases counters and the name of the scope.
   */
  erase(scope: Scope, limit: number): Promise<ErasedRows>;
  /** Overwrites the bytes of deleted rows, if the storage has files. */
  scrub(): Promise<void>;
}
