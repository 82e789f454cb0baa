import type { Task } from '../../model/task.js';
import type { Lease } from '../held-turn.js';
import type { OwnedTask } from '../owner-storage.js';
import type { Scope, TaskKey } from '../task-key.js';
import type { StoredTask } from '../task-storage.js';

/** A lease on the first turn of a task. Times are ms of the storage's clock. */
export interface Holder {
  readonly turn: number;
  readonly node: string;
  readonly leaseEnd: number;
}

/**
 * The part of a task that every decision needs. A storage loads it, calls a rule of this folder, and writes the
 * decision together with the data of the call. A storage contains no rules of its own.
 */
export interface TaskHead {
  /** Absent or `null` if the task has no context. */
  readonly contextId: string | null | undefined;
  /** True once the task has reached a terminal state. */
  readonly hasEnded: boolean;
  /** Sequence number of the last record. */
  readonly seq: number;
  readonly epoch: number;
  /** Number of the latest accepted turn. */
  readonly turns: number;
  /** Number of the last turn that has written a record; 0 if none. */
  readonly began: number;
  /** The waiting and running turns, in order. Only the first one can have a holder. */
  readonly queue: readonly { readonly turn: number }[];
  readonly holder: Holder | undefined;
}

/**
 * The new turn of an accepted message. `holder` is set if the turn is claimed; `epoch` is then the new epoch of the
 * task.
 */
export interface AcceptedTurn {
  readonly kind: 'accepted';
  readonly turn: number;
  readonly epoch: number;
  readonly holder: Holder | undefined;
  /** Initial number of started attempts: 1 for a turn that its acceptance claims. */
  readonly attempts: 0 | 1;
  /** True if a node can claim a turn of the task now: no node holds one. */
  readonly isReady: boolean;
}

/** The head of a task after an append. */
export interface AppendedHead {
  readonly kind: 'appended';
  readonly seq: number;
  readonly epoch: number;
  readonly began: number;
  readonly holder: Holder | undefined;
  /** The turn to remove from the queue, or all of them. */
  readonly drops: number | 'all' | undefined;
  /** The turn that appends. Its checkpoint is stored. Absent for an append from outside. */
  readonly writer: number | undefined;
}

/** The numbers that identify a held turn in each call of its node. */
export interface HeldNumbers {
  readonly turn: number;
  readonly epoch: number;
}

/** True if a node has a valid lease on the task. */
export function isRunning({ holder }: Pick<TaskHead, 'holder'>, now: number): boolean {
  return holder !== undefined && holder.leaseEnd > now;
}

/** Returns a task with the values of its head. */
export function storedTask(
  { scope, task }: { readonly scope: Scope; readonly task: Task },
  head: Pick<TaskHead, 'seq' | 'epoch' | 'holder'> & { readonly createdAt: number },
  now: number,
): StoredTask {
  const { seq, epoch, holder, createdAt } = head;
  return { scope, task, seq, epoch, running: isRunning(head, now), heldTurn: holder?.turn ?? 0, createdAt };
}

/** Returns the fields of a task for a list of all owners. */
export function factsOfTask(
  key: TaskKey,
  head: Pick<TaskHead, 'contextId' | 'seq' | 'holder'> & Pick<OwnedTask, 'state' | 'createdAt'>,
  { statusTime, now }: { readonly statusTime: number; readonly now: number },
): Omit<OwnedTask, 'cursor'> {
  const { contextId = null, state, createdAt, seq, holder } = head;
  const lease = { running: isRunning(head, now), heldTurn: holder?.turn ?? 0 };
  return { key, contextId, state, statusTime, createdAt, seq, ...lease };
}

/** Returns the number of waiting turns without a holder. */
export function waitingIn({ queue, holder }: Pick<TaskHead, 'queue' | 'holder'>): number {
  return queue.length - (holder === undefined ? 0 : 1);
}

/** Returns the number of waiting turns without a holder after a change. */
export function waitingAfter(
  { queue }: Pick<TaskHead, 'queue'>,
  { drops, holder }: Pick<AppendedHead, 'drops' | 'holder'>,
): number {
  if (drops === 'all') return 0;
  return waitingIn({ queue: queue.filter(({ turn }) => turn !== drops), holder });
}

/** True if the node still holds this turn: no claim or forced write came after it. */
export function isHeld(head: Pick<TaskHead, 'holder' | 'epoch'>, held: HeldNumbers): boolean {
  return head.holder?.turn === held.turn && head.epoch === held.epoch;
}

/** Returns the holder of a turn with a lease that starts now. */
export function holderOf(turn: number, { node, leaseMs }: Lease, now: number): Holder {
  return { turn, node, leaseEnd: now + leaseMs };
}
