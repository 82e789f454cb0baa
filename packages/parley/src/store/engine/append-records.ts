import { StorageError } from '../../errors/storage-error.js';
import { isTerminal } from '../../model/task-state.js';
import { type AppendRequest, decideAppend, unchangedOutcome } from '../rules/decide-append.js';
import { isReadyAfterAppend } from '../rules/decide-lease.js';
import { type AppendedHead, type TaskHead, waitingAfter } from '../rules/task-head.js';
import type { Append, AppendOutcome } from '../task-storage.js';

/** The part of an append that is written, after the engine has accepted it. */
export type WrittenAppend = Omit<Append, 'authority' | 'checkpoint' | 'endsTurn'>;

/** The tables that an append writes. `Call` has the content of the records. */
export interface RecordTables<Head extends TaskHead, Call> {
  /** True if the last records of the log equal the records of the call. */
  endsWith(head: Head, call: Call): boolean;
  /** Writes the records and the new head. Returns true if a delivery became due. */
  append(head: Head, appended: AppendedHead, call: Call, now: number): boolean;
}

/** The outcome of an append. `isDue`: a delivery became due. `isReady`: a node can claim a turn of the task now. */
export interface Appended {
  readonly outcome: AppendOutcome;
  readonly isDue: boolean;
  readonly isReady: boolean;
}

/** Appends records to the log of a task, if the writer still has the right to. */
export function appendRecords<Head extends TaskHead, Call>(
  tables: RecordTables<Head, Call>,
  { head, request, call }: { readonly head: Head | undefined; readonly request: AppendRequest; readonly call: Call },
  now: number,
): Appended {
  let decision = decideAppend(head, request, { now });
  if (head === undefined) return { outcome: { kind: 'not-found' }, isDue: false, isReady: false };
  if (decision.kind === 'compare') {
    decision = decideAppend(head, request, { now, isInLog: tables.endsWith(head, call) });
  }
  if (decision.kind !== 'appended') {
    const outcome = unchangedOutcome(decision, head);
    // The answer was lost, so the wake-up may not have been sent.
    const isReady = outcome.kind === 'appended' && isReadyAfterAppend(request, outcome.waiting);
    return { outcome, isDue: false, isReady };
  }
  const waiting = waitingAfter(head, decision);
  const isDue = tables.append(head, decision, call, now);
  return { outcome: { kind: 'appended', waiting }, isDue, isReady: isReadyAfterAppend(request, waiting) };
}

/**
 * Returns the part of an append that the decision needs. Checks the contract of the writer: consecutive records, and a
 * snapshot with a terminal record.
 * @throws StorageError if the writer broke the contract.
 */
export function appendRequest({ authority, after, records, head, snapshot, endsTurn }: Append): AppendRequest {
  let seq = after;
  for (const record of records) {
    seq += 1;
    if (record.seq !== seq) throw new StorageError(`Record ${record.seq} was appended in the place of ${seq}`);
  }
  const ends = isTerminal(head.status.state);
  if (ends && snapshot === undefined) {
    throw new StorageError('A terminal record was appended without the snapshot of the task');
  }
  return { authority, after, count: records.length, ends, endsTurn };
}
