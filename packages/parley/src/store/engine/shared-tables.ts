import type { JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Task } from '../../model/task.js';
import type { TaskState } from '../../model/task-state.js';
import type { CallerContext } from '../caller-context.js';
import type { CancelRequest, Lease } from '../held-turn.js';
import type { IdempotencyKey, Remembered } from '../idempotency-keys.js';
import type { PlacedPushConfig } from '../push-storage.js';
import type { KeyHead } from '../rules/key-head.js';
import type { TaskHead } from '../rules/task-head.js';
import type { TaskKey } from '../task-key.js';
import type { StoredTask } from '../task-storage.js';
import type { ConfigCount } from './accept-message.js';
import type { WrittenAppend } from './append-records.js';

/** The head of a task in a database that several processes share. */
export interface SharedHead extends TaskHead {
  /** Increases with each change of the task that can affect a decision. */
  readonly version: number;
  readonly state: TaskState;
}

/** An idempotency key in such a database. */
export interface SharedKey extends KeyHead {
  /** Changes with each write of the key. */
  readonly version: string;
  readonly digest: string;
  /** Absent while the key is reserved. */
  readonly remembered: Remembered | undefined;
}

/** The rows that the engine may read to decide about one call. */
export interface TaskQuestion {
  readonly task: TaskKey;
  /** Find the last waiting or running turn with this message from this caller. */
  readonly sameTurn?: { readonly message: Message; readonly caller: CallerContext };
  /** Find the idempotency key of this name. */
  readonly idempotencyKey?: string;
  /** Count the push configurations, and check whether one has this id. */
  readonly configId?: string;
  /** Check whether the last records of the log equal these. */
  readonly tail?: Pick<WrittenAppend, 'after' | 'records'>;
  /** Find the request to cancel of the held turn. */
  readonly cancel?: true;
}

/** A waiting or running turn, without its message. */
export interface FoundTurn {
  readonly turn: number;
  /** Number of attempts that have started. */
  readonly attempts: number;
  readonly handOvers: number;
  readonly checkpoint?: JsonValue;
  readonly cancel?: CancelRequest;
}

/** The answer to a question, from one snapshot. */
export interface QuestionRows<Head extends SharedHead> {
  /** The storage's time, in ms since the epoch. */
  readonly now: number;
  /** True if the owner is blocked. */
  readonly isBlocked: boolean;
  readonly head: Head | undefined;
  readonly sameTurn?: FoundTurn | undefined;
  readonly key?: SharedKey | undefined;
  readonly configs?: ConfigCount;
  readonly isInLog?: boolean;
  readonly cancel?: CancelRequest | undefined;
}

/** A turn to append to the queue of its task. */
interface AddedTurn {
  readonly turn: number;
  readonly attempts: 0 | 1;
  readonly message: Message;
  readonly caller: CallerContext;
}

/**
 * A change of one task. It is committed as a whole if the rows of the decision have not changed, or not at all. Leases
 * are durations: the database adds its own time.
 */
export interface HeadChange<Head extends SharedHead> {
  readonly task: TaskKey;
  /** The head that the decision used. Absent: no task of this id may exist. */
  readonly before: Head | undefined;
  /** The new task, with its first record. Only without `before`. */
  readonly create?: { readonly task: Task; readonly isContextNew: boolean };
  /** The values of the head after the change. */
  readonly seq: number;
  readonly epoch: number;
  readonly turns: number;
  readonly began: number;
  /** The queue of turns after the change. */
  readonly queue: readonly { readonly turn: number }[];
  /** The lease on the first turn. `null`: none. Absent: unchanged. */
  readonly lease?: (Lease & { readonly turn: number }) | null;
  readonly adds?: AddedTurn;
  readonly drops?: number | 'all';
  readonly counts?: { readonly turn: number; readonly attempts: number; readonly addedHandOvers: 0 | 1 };
  readonly checkpoint?: { readonly turn: number; readonly value: JsonValue };
  /** `isFirst`: the decision saw no stored request of the turn. */
  readonly cancel?: { readonly turn: number; readonly request: CancelRequest; readonly isFirst: boolean };
  readonly append?: WrittenAppend;
  /** A configuration to insert or replace. The queue of a new one begins after `position`. */
  readonly config?: { readonly config: PlacedPushConfig; readonly position: number };
  /**
   * The idempotency key of the message, with the task as its outcome. It must not exist, or have the version of
   * `before`. No other call may write it in between.
   */
  readonly key?: { readonly key: IdempotencyKey; readonly turn: number; readonly before: SharedKey | undefined };
  /** True if the commit must fail when the owner is blocked. */
  readonly isNewData: boolean;
}

/** Rows that the answer to a commit must contain. */
export interface CommitWishes {
  /** The whole task after the change. */
  readonly task?: true;
  /** The request to cancel of the held turn. */
  readonly cancel?: true;
}

/** The answer to a change. */
export type Committed<Head extends SharedHead> =
  | {
      readonly kind: 'committed';
      readonly head: Head;
      /** True if a delivery became due. */
      readonly isDue: boolean;
      readonly task?: StoredTask;
      readonly cancel?: CancelRequest | undefined;
    }
  /** A row has changed, and nothing was written. `rows`: the new rows, if the database has read them. */
  | { readonly kind: 'moved'; readonly rows?: QuestionRows<Head> };

/** A change, the question of its decision, and the rows to return. */
export interface Commit<Head extends SharedHead> {
  readonly change: HeadChange<Head>;
  readonly question: TaskQuestion;
  readonly wishes: CommitWishes;
}

/** The tables of a database that several processes share. Every call is one transaction. */
export interface SharedTables<Head extends SharedHead> {
  load(question: TaskQuestion): Promise<QuestionRows<Head>>;
  commit(commit: Commit<Head>): Promise<Committed<Head>>;
  /** Deletes a task with everything that belongs to it, if its head is unchanged. Returns false otherwise. */
  remove(task: TaskKey, before: Head): Promise<boolean>;
  readTask(task: TaskKey): Promise<StoredTask | undefined>;
}
