import { type Holder, isRunning, type TaskHead } from './task-head.js';

/** The decision about a request to cancel. `turn`: the held turn that stores the request. */
type CancelDecision =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'terminal' }
  | { readonly kind: 'requested'; readonly turn: number | undefined };

/** Decides about a request to cancel a task. A turn stores it even after its lease has ended, for its next holder. */
export function decideCancel(
  head: { readonly hasEnded: boolean; readonly holder: Pick<Holder, 'turn'> | undefined } | undefined,
): CancelDecision {
  if (head === undefined) return { kind: 'not-found' };
  if (head.hasEnded) return { kind: 'terminal' };
  return { kind: 'requested', turn: head.holder?.turn };
}

/** Decides about the deletion of a task. A running turn prevents it. */
export function decideDelete(head: TaskHead | undefined, now: number): 'deleted' | 'not-found' | 'running' {
  if (head === undefined) return 'not-found';
  return isRunning(head, now) ? 'running' : 'deleted';
}
