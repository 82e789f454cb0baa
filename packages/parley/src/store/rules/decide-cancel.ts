import type { CancelRequest } from '../held-turn.js';
import { type Holder, isRunning, type TaskHead } from './task-head.js';

/** The decision about a request to cancel. `turn`: the held turn that keeps the request. */
export type CancelDecision =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'terminal' }
  | { readonly kind: 'requested'; readonly turn: number | undefined };

/** Decides about a request to cancel a task. A turn keeps it after its lease has ended: its next holder must see it. */
export function decideCancel(
  head: { readonly hasEnded: boolean; readonly holder: Pick<Holder, 'turn'> | undefined } | undefined,
): CancelDecision {
  if (head === undefined) return { kind: 'not-found' };
  if (head.hasEnded) return { kind: 'terminal' };
  return { kind: 'requested', turn: head.holder?.turn };
}

/** Decides about the deletion of a task: a running turn keeps it. */
export function decideDelete(head: TaskHead | undefined, now: number): 'deleted' | 'not-found' | 'running' {
  if (head === undefined) return 'not-found';
  return isRunning(head, now) ? 'running' : 'deleted';
}

/** Two requests to cancel as one: the metadata of the later is merged over that of the earlier. */
export function mergedCancel(earlier: CancelRequest | undefined, later: CancelRequest): CancelRequest {
  if (earlier?.metadata === undefined) return later;
  if (later.metadata === undefined) return earlier;
  return { metadata: { ...earlier.metadata, ...later.metadata } };
}

/** A stored request to cancel. A request that cannot be read cancels all the same, without its metadata. */
export function parsedCancel(text: string): CancelRequest {
  try {
    return JSON.parse(text) as CancelRequest;
  } catch {
    return {};
  }
}
