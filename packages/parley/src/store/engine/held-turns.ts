import type { CancelRequest, Holding, ReleaseHow } from '../held-turn.js';
import { decideCancel, decideDelete } from '../rules/decide-cancel.js';
import { isReadyAfterRelease, releasedCounts, renewedHolder } from '../rules/decide-lease.js';
import {
  type HeldNumbers,
  type Holder,
  isHeld,
  isRunning,
  type TaskHead,
  waitingAfter,
  waitingIn,
} from '../rules/task-head.js';

/** The tables of waiting and running turns. `Cancel` is the stored form of a request to cancel. */
export interface TurnTables<Head extends TaskHead, Cancel, Checkpoint> {
  /** Sets the holder of the first turn of a task, or removes it. */
  hold(head: Head, held: { readonly epoch: number; readonly holder: Holder | undefined }): void;
  /** Removes a turn from the queue of its task. */
  drop(head: Head, turn: number): void;
  /** Sets the number of started attempts of a turn, and adds to its hand-overs. */
  count(head: Head, turn: number, counts: { readonly attempts: number; readonly addedHandOvers: 0 | 1 }): void;
  /** Stores a value for the next attempt of a turn. */
  saveCheckpoint(head: Head, turn: number, checkpoint: Checkpoint): void;
  /** The request to cancel a turn, if there is one. */
  cancelOf(head: Head, turn: number): Cancel | undefined;
  /** Stores a request to cancel a turn, merged with the stored one, if any. */
  cancel(head: Head, turn: number, request: Cancel): void;
}

/** The state of a turn for the node that claims to hold it. */
export type Standing<Cancel> =
  | { readonly held: false; readonly cancel?: never }
  | { readonly held: true; readonly cancel: Cancel | undefined };

/** Returns the state in the form of the storage port. */
export function holdingOf({ held, cancel }: Standing<CancelRequest>): Holding {
  if (!held) return { held };
  return cancel === undefined ? { held } : { held, cancel };
}

const LOST = { held: false } as const;

/** Counts an attempt of a turn at its start. */
export function beginTurn<Head extends TaskHead, Cancel>(
  tables: TurnTables<Head, Cancel, never>,
  { head, held }: { readonly head: Head | undefined; readonly held: HeldNumbers },
  attempt: number,
): Standing<Cancel> {
  if (head === undefined || !isHeld(head, held)) return LOST;
  tables.count(head, held.turn, { attempts: attempt, addedHandOvers: 0 });
  return { held: true, cancel: tables.cancelOf(head, held.turn) };
}

/** Extends a lease. */
export function renewTurn<Head extends TaskHead, Cancel>(
  tables: TurnTables<Head, Cancel, never>,
  { head, held }: { readonly head: Head | undefined; readonly held: HeldNumbers },
  leaseEnd: number,
): Standing<Cancel> {
  const holder = head && renewedHolder(head, held, leaseEnd);
  if (head === undefined || holder === undefined) return LOST;
  tables.hold(head, { epoch: head.epoch, holder });
  return { held: true, cancel: tables.cancelOf(head, holder.turn) };
}

/**
 * Releases a turn at the end of an attempt. `waiting`: turns of the task that still wait. `isReady`: a node can claim
 * one now.
 */
export function releaseTurn<Head extends TaskHead>(
  tables: Pick<TurnTables<Head, never, never>, 'hold' | 'drop' | 'count'>,
  { head, held, attempt }: { readonly head: Head | undefined; readonly held: HeldNumbers; readonly attempt: number },
  how: ReleaseHow,
): { readonly waiting: number; readonly isReady: boolean } {
  if (head === undefined) return { waiting: 0, isReady: false };
  if (!isHeld(head, held)) return { waiting: waitingIn(head), isReady: false };
  const counts = releasedCounts(how, attempt);
  const waiting = waitingAfter(head, { drops: counts === undefined ? held.turn : undefined, holder: undefined });
  if (counts === undefined) tables.drop(head, held.turn);
  else tables.count(head, held.turn, counts);
  tables.hold(head, { epoch: head.epoch, holder: undefined });
  return { waiting, isReady: isReadyAfterRelease(how, waiting) };
}

/** Undoes the claim of a turn that its node cannot read. Returns false if the node no longer holds the turn. */
export function takeBackTurn<Head extends TaskHead>(
  tables: Pick<TurnTables<Head, never, never>, 'hold'>,
  { head, held }: { readonly head: Head; readonly held: HeldNumbers },
): boolean {
  if (!isHeld(head, held)) return false;
  tables.hold(head, { epoch: head.epoch, holder: undefined });
  return true;
}

/** Stores a value for the next attempt of a turn. Returns false if the node no longer holds the turn. */
export function saveCheckpoint<Head extends TaskHead, Checkpoint>(
  tables: Pick<TurnTables<Head, never, Checkpoint>, 'saveCheckpoint'>,
  { head, held }: { readonly head: Head | undefined; readonly held: HeldNumbers },
  checkpoint: Checkpoint,
): boolean {
  if (head === undefined || !isHeld(head, held)) return false;
  tables.saveCheckpoint(head, held.turn, checkpoint);
  return true;
}

/** Stores a request to cancel with the held turn of a task. `isRunning`: a lease on the task is valid. */
export function askToCancel<Head extends TaskHead, Cancel>(
  tables: TurnTables<Head, Cancel, never>,
  { head, request }: { readonly head: Head | undefined; readonly request: Cancel },
  now: number,
):
  | { readonly kind: 'not-found' }
  | { readonly kind: 'terminal'; readonly head: Head }
  | {
      readonly kind: 'requested';
      readonly head: Head;
      readonly turn: number | undefined;
      readonly isRunning: boolean;
    } {
  const decision = decideCancel(head);
  if (head === undefined || decision.kind === 'not-found') return { kind: 'not-found' };
  if (decision.kind === 'terminal') return { kind: 'terminal', head };
  const { turn } = decision;
  if (turn !== undefined) tables.cancel(head, turn, request);
  return { kind: 'requested', head, turn, isRunning: isRunning(head, now) };
}

/** Deletes a task that no node runs. */
export function deleteTask<Head extends TaskHead>(
  head: Head | undefined,
  remove: (head: Head) => void,
  now: number,
): 'deleted' | 'not-found' | 'running' {
  const decision = decideDelete(head, now);
  if (head !== undefined && decision === 'deleted') remove(head);
  return decision;
}
