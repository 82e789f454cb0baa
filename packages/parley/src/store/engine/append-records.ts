import { type AppendedHead, type AppendRequest, decideAppend, unchangedOutcome } from '../rules/decide-append.js';
import { type TaskHead, waitingIn } from '../rules/task-head.js';
import type { AppendOutcome } from '../task-storage.js';

/** The tables that take records in. `Call` brings their texts. */
export interface RecordTables<Head extends TaskHead, Call> {
  /** True if the log ends with just the records of the call. */
  endsWith(head: Head, call: Call): boolean;
  /** Writes the records and the new head. True if a delivery became due. */
  append(head: Head, appended: AppendedHead, call: Call, now: number): boolean;
}

/** The outcome of an append, and if a delivery became due. */
export interface Appended {
  readonly outcome: AppendOutcome;
  readonly isDue: boolean;
}

/** Adds records to the log of a task, if the writer has the right to. */
export function appendRecords<Head extends TaskHead, Call>(
  tables: RecordTables<Head, Call>,
  { head, request, call }: { readonly head: Head | undefined; readonly request: AppendRequest; readonly call: Call },
  now: number,
): Appended {
  let decision = decideAppend(head, request, { now });
  if (head === undefined) return { outcome: { kind: 'not-found' }, isDue: false };
  if (decision.kind === 'compare') {
    decision = decideAppend(head, request, { now, isInLog: tables.endsWith(head, call) });
  }
  if (decision.kind !== 'appended') return { outcome: unchangedOutcome(decision, head), isDue: false };
  const isDue = tables.append(head, decision, call, now);
  return { outcome: { kind: 'appended', waiting: waitingIn(head) }, isDue };
}
