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
  /** Grows with each change of the task by which a decision could become another one. */
  readonly version: number;
  readonly state: TaskState;
}

/** An idempotency key in such a database. */
export interface SharedKey extends KeyHead {
  /** Another one after each write of the key. */
  readonly version: string;
  readonly digest: string;
  /** Absent while it is reserved. */
  readonly remembered: Remembered | undefined;
}

/** Everything that the engine may want to know about one call before it decides. */
export interface TaskQuestion {
  readonly task: TaskKey;
  /** The last waiting or running turn with this message from this caller. */
  readonly sameTurn?: { readonly message: Message; readonly caller: CallerContext };
  /** The idempotency key of this name. */
  readonly idempotencyKey?: string;
  /** The count of push configurations, and if one has this id. */
  readonly configId?: string;
  /** True if the log ends with just these records. */
  readonly tail?: Pick<WrittenAppend, 'after' | 'records'>;
  /** The request to cancel that the held turn keeps. */
  readonly cancel?: true;
}

/** A turn that waits or runs, without its message. */
export interface FoundTurn {
  readonly turn: number;
  /** Attempts that have begun. */
  readonly attempts: number;
  readonly handOvers: number;
  readonly checkpoint?: JsonValue;
  readonly cancel?: CancelRequest;
}

/** The rows of a question, read at one moment. */
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

/** A turn that joins the queue of its task. */
interface AddedTurn {
  readonly turn: number;
  readonly attempts: 0 | 1;
  readonly message: Message;
  readonly caller: CallerContext;
}

/**
 * A change of one task. The database writes all of it if what it rests on has not moved, or nothing. Times of leases
 * are lengths: the database adds its own time.
 */
export interface HeadChange<Head extends SharedHead> {
  readonly task: TaskKey;
  /** The head from which it was decided. Absent: there must be no task of this id. */
  readonly before: Head | undefined;
  /** The new task, with one record that shows it. Only without `before`. */
  readonly create?: { readonly task: Task; readonly isContextNew: boolean };
  /** The numbers of the head after the change. */
  readonly seq: number;
  readonly epoch: number;
  readonly turns: number;
  readonly began: number;
  /** The turns that wait or run after the change. */
  readonly queue: readonly { readonly turn: number }[];
  /** The lease on the first turn. `null`: none. Absent: as before. */
  readonly lease?: (Lease & { readonly turn: number }) | null;
  readonly adds?: AddedTurn;
  readonly drops?: number | 'all';
  readonly counts?: { readonly turn: number; readonly attempts: number; readonly addedHandOvers: 0 | 1 };
  readonly checkpoint?: { readonly turn: number; readonly value: JsonValue };
  /** `isFirst`: no request was kept with the turn when this was decided. */
  readonly cancel?: { readonly turn: number; readonly request: CancelRequest; readonly isFirst: boolean };
  readonly append?: WrittenAppend;
  /** A configuration that is added or replaced. A new one begins behind `position`. */
  readonly config?: { readonly config: PlacedPushConfig; readonly position: number };
  /**
   * The key of the message, with the task as its outcome. It must not be there, or have this version. It must not be
   * written by another call between.
   */
  readonly key?: { readonly key: IdempotencyKey; readonly turn: number; readonly before: SharedKey | undefined };
  /** True if the owner must not be blocked. */
  readonly isNewData: boolean;
}

/** Wishes of a commit: what its answer has to bring. */
export interface CommitWishes {
  /** The whole task after the change. */
  readonly task?: true;
  /** The request to cancel that the held turn keeps. */
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
  /** Something has moved, and nothing was written. The rows of the question, if the database has read them. */
  | { readonly kind: 'moved'; readonly rows?: QuestionRows<Head> };

/** A change, the question behind it, and what its answer has to bring. */
export interface Commit<Head extends SharedHead> {
  readonly change: HeadChange<Head>;
  readonly question: TaskQuestion;
  readonly wishes: CommitWishes;
}

/** The tables of a database that several processes share. Every call is one transaction. */
export interface SharedTables<Head extends SharedHead> {
  load(question: TaskQuestion): Promise<QuestionRows<Head>>;
  commit(commit: Commit<Head>): Promise<Committed<Head>>;
  /** Deletes a task that still has this head, with all that hangs on it. False if the head has moved. */
  remove(task: TaskKey, before: Head): Promise<boolean>;
  readTask(task: TaskKey): Promise<StoredTask | undefined>;
}
