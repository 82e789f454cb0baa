import type { Append, AppendOutcome } from '../task-storage.js';
import { type AppendedHead, isRunning, type TaskHead, waitingIn } from './task-head.js';

/** The part of an append that the decision needs. */
export interface AppendRequest {
  readonly authority: Append['authority'];
  /** Sequence number of the last record that the writer has read or written. */
  readonly after: number;
  /** Count of its records. */
  readonly count: number;
  /** True if the last record is terminal. */
  readonly ends: boolean;
  readonly endsTurn: number | undefined;
}

/**
 * The decision about an append. `repeated`: it was committed before, and changes nothing. `compare`: the storage
 * compares the records after `after` with those of the append, and calls again with the result.
 */
type AppendDecision =
  | AppendedHead
  | { readonly kind: 'repeated' | 'compare' | 'not-found' | 'terminal' | 'running' | 'fenced' };

const DECIDED = {
  repeated: { kind: 'repeated' },
  compare: { kind: 'compare' },
  notFound: { kind: 'not-found' },
  terminal: { kind: 'terminal' },
  running: { kind: 'running' },
  fenced: { kind: 'fenced' },
} as const;

/**
 * Decides about an append. `isInLog`: true if the log ends with the records of the append; only given after a
 * `compare`.
 */
export function decideAppend(
  head: TaskHead | undefined,
  request: AppendRequest,
  { now, isInLog }: { readonly now: number; readonly isInLog?: boolean },
): AppendDecision {
  if (head === undefined) return DECIDED.notFound;
  const { authority, after, count, ends, endsTurn } = request;
  const { holder } = head;
  // Only the writer of this epoch can have written these records before.
  if (authority === head.epoch && head.seq === after + count) {
    if (count === 0 && endsTurn !== undefined && holder?.turn !== endsTurn) return DECIDED.repeated;
    if (count > 0 && isInLog === undefined) return DECIDED.compare;
    if (count > 0 && isInLog) return DECIDED.repeated;
  }
  if (head.hasEnded) return DECIDED.terminal;
  if (authority === 'idle') {
    if (isRunning(head, now)) return DECIDED.running;
  } else if (authority !== 'force' && (holder === undefined || authority !== head.epoch)) {
    return DECIDED.fenced;
  }
  if (head.seq !== after) return DECIDED.fenced;
  const isForced = authority === 'force';
  const drops = ends ? 'all' : endsTurn;
  const losesHolder = isForced || ends || holder?.turn === endsTurn;
  // A terminal record from outside ends the running turn, and counts as written by it.
  const writer = typeof authority === 'number' ? holder?.turn : undefined;
  const writesTurn = holder !== undefined && (ends || (writer !== undefined && count > 0));
  return {
    kind: 'appended',
    seq: after + count,
    epoch: isForced ? head.epoch + 1 : head.epoch,
    began: writesTurn ? holder.turn : head.began,
    holder: losesHolder ? undefined : holder,
    drops,
    writer,
  };
}

/** Returns the outcome of an append that changes nothing. */
export function unchangedOutcome(
  decision: Exclude<AppendDecision, AppendedHead>,
  head: TaskHead | undefined,
): AppendOutcome {
  switch (decision.kind) {
    case 'repeated':
      return { kind: 'appended', waiting: head === undefined ? 0 : waitingIn(head) };
    case 'not-found':
    case 'terminal':
    case 'running':
    case 'fenced':
      return { kind: decision.kind };
    case 'compare':
      throw new TypeError('An append is compared once');
  }
}
