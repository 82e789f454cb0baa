import type { TaskState } from '../model/task-state.js';
import type { OwnerQuery } from './owner-query.js';
import type { Scope, TaskKey } from './task-key.js';
import type { CopiedKey } from './task-transfer.js';

/** An idempotency key of an owner. A reserved key has neither a task nor a reply. */
export type OwnedKey = Omit<CopiedKey, 'scope' | 'digest'>;

/** A stretch of the idempotency keys of a scope, in the order of their texts within the storage. */
export interface OwnedKeyPage {
  readonly keys: readonly OwnedKey[];
  /** The cursor of the rest of the list; absent at its end. Its text means nothing to the caller. */
  readonly next?: string;
}

/** A scope in the list of all scopes. */
export interface ListedScope {
  readonly scope: Scope;
  /** The cursor of the rest of the list. Its text means nothing to the caller. */
  readonly cursor: string;
}

/** A stretch of the list of all scopes. Default: from its beginning. */
export interface ScopeRange {
  readonly cursor?: string;
  readonly limit: number;
}

/** A task in a list of all owners, without its content. Times are ms since the epoch. */
export interface OwnedTask {
  readonly key: TaskKey;
  readonly contextId: string | null;
  readonly state: TaskState;
  /** The time of its last status. */
  readonly statusTime: number;
  readonly createdAt: number;
  /** Sequence number of its last record. */
  readonly seq: number;
  /** True while a lease on it lasts. */
  readonly running: boolean;
  /** The turn that a node holds, also after the end of its lease; 0 if there is none. */
  readonly heldTurn: number;
  /** The cursor of the rest of the list. */
  readonly cursor: string;
}

/** A stretch of the list of all tasks that have ended, or of all others. Default: from its beginning. */
export interface OwnedTaskRange {
  readonly hasEnded: boolean;
  readonly cursor?: string;
  readonly limit: number;
}

/** Tasks of a range. A task that was deleted meanwhile is left out. */
export interface OwnedTaskPage {
  readonly tasks: readonly OwnedTask[];
  /** True if the list ends with this page. */
  readonly isLast: boolean;
}

/** The outcome of one step of an erasure. */
export interface ErasedRows {
  readonly tasks: number;
  readonly keys: number;
  /** True if the storage has nothing of the scope any more, its name included. */
  readonly isGone: boolean;
}

/** All that a storage has of one user. The promises of `TaskStorage` hold for each call. */
export interface OwnerStorage {
  /**
   * Refuses new data of an owner for so long, in all processes: `accept`, `create`, `keys.reserve` and `keys.remember`
   * reject with OwnerBlockedError. A later call replaces the time; 0 ends it. Once it resolves, no call that began
   * before it adds anything.
   */
  block(owner: OwnerQuery, forMs: number): Promise<void>;
  /** All scopes of an owner that the storage has anything of. */
  scopes(owner: OwnerQuery): Promise<readonly Scope[]>;
  /**
   * Scopes of all owners, in an order of the storage: all that have a task, and maybe others. The list ends with a page
   * that is shorter than `limit`. Redis walks all its keys for a page.
   */
  listScopes(range: ScopeRange): Promise<readonly ListedScope[]>;
  /**
   * Tasks of all owners in one order. Open tasks: the one with the oldest status first. Tasks that have ended: the last
   * one first. No index of all open tasks slows writes down. So a page of open tasks costs a look at all scopes, and at
   * all open tasks. Redis walks all its keys for such a page.
   */
  allTasks(range: OwnedTaskRange): Promise<OwnedTaskPage>;
  /** The idempotency keys of a scope, those that have expired included. */
  keys(scope: Scope, range: { readonly cursor?: string; readonly limit: number }): Promise<OwnedKeyPage>;
  /**
   * Erases a part of a scope: at most `limit` tasks, or so many idempotency keys if there is no task. Tasks go with all
   * that hangs on them, also unreadable ones and those with a running turn. The step that finds neither erases counters
   * and the name of the scope.
   */
  erase(scope: Scope, limit: number): Promise<ErasedRows>;
  /** Overwrites what deleted rows have left in the files of the storage, as far as the storage has files. */
  scrub(): Promise<void>;
}
