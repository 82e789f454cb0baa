import { decideCancel, mergedCancel, parsedCancel } from '../rules/decide-cancel.js';
import { isHeld, isRunning, waitingIn } from '../rules/task-head.js';
import { releasedCounts, renewedHolder } from '../rules/turn-lease.js';
import type { HeadRow } from './task-heads.js';
import { dropTurns, writeHolder } from './task-turns.js';
import type {
  BeginWrite,
  CancelResult,
  CancelWrite,
  CheckpointWrite,
  HeldFields,
  HeldResult,
  LeaveAsideWrite,
  ReleaseWrite,
  RenewResult,
  RenewWrite,
} from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** Counts the attempt that begins; false for a turn that is no longer held, or the request to cancel it, if any. */
export function begin(tables: WriteTables, [, { turn, attempt }]: BeginWrite): HeldResult {
  const head = heldBy(tables, turn);
  if (head === undefined) return false;
  tables.sql.run('UPDATE execution SET attempt = ? WHERE task = ? AND turn = ?', attempt, head.pk, turn.turn);
  return cancelOf(tables, head.pk, turn.turn);
}

/** Moves the ends of leases on, as far as they are still held. A damaged row fails no other turn. */
export function renew(tables: WriteTables, [, { now, leaseMs, turns }]: RenewWrite): RenewResult {
  return turns.map((turn) =>
    tables.sql.apart(turn.taskId, () => {
      const head = tables.heads.find(turn.scope, turn.taskId);
      const holder = head && renewedHolder(head, turn, now + leaseMs);
      if (head === undefined || holder === undefined) return false;
      head.holder = holder;
      tables.sql.run('UPDATE task SET lease_end = ? WHERE pk = ?', holder.leaseEnd, head.pk);
      return cancelOf(tables, head.pk, holder.turn);
    }),
  );
}

/** Gives a turn up; how many turns of its task wait. */
export function release(tables: WriteTables, [, { turn, attempt, how }]: ReleaseWrite): number {
  const head = heldBy(tables, turn);
  if (head !== undefined) {
    head.holder = undefined;
    if (how === 'done') dropTurns(tables, head, turn.turn);
    const counts = releasedCounts(how, attempt);
    if (counts !== undefined) {
      const update = 'UPDATE execution SET attempt = ?, hand_overs = hand_overs + ? WHERE task = ? AND turn = ?';
      tables.sql.run(update, counts.attempts, counts.addedHandOvers, head.pk, turn.turn);
    }
    writeHolder(tables, head);
  }
  const now = head ?? tables.heads.find(turn.scope, turn.taskId);
  return now === undefined ? 0 : waitingIn(now);
}

/** Gives up a turn that cannot be read, as if it had not been claimed. The next opening of the file frees it. */
export function leaveAside(tables: WriteTables, [, { turn, reason }]: LeaveAsideWrite): undefined {
  const head = heldBy(tables, turn);
  if (head === undefined) return;
  tables.sql.apart(head.pk, () => {
    head.holder = undefined;
    writeHolder(tables, head);
  });
  tables.sql.setAside(head.pk, reason);
}

/** Keeps a value for the next attempt; false for a turn that is no longer held. */
export function saveCheckpoint(tables: WriteTables, [, { turn, checkpoint }]: CheckpointWrite): boolean {
  const head = heldBy(tables, turn);
  if (head === undefined) return false;
  tables.sql.run('UPDATE execution SET checkpoint = ? WHERE task = ? AND turn = ?', checkpoint, head.pk, turn.turn);
  return true;
}

/** Keeps a request to cancel with the held turn, if there is one. */
export function requestCancel(tables: WriteTables, [, { scope, now, taskId, request }]: CancelWrite): CancelResult {
  const head = tables.heads.find(scope, taskId);
  const decision = decideCancel(head);
  if (head === undefined || decision.kind === 'not-found') return { kind: 'not-found' };
  if (decision.kind === 'terminal') return { kind: 'terminal', state: head.state };
  const { turn } = decision;
  if (turn !== undefined) {
    const earlier = cancelOf(tables, head.pk, turn);
    const merged =
      earlier === null ? request : JSON.stringify(mergedCancel(parsedCancel(earlier), parsedCancel(request)));
    tables.sql.run('UPDATE execution SET cancel = ? WHERE task = ? AND turn = ?', merged, head.pk, turn);
  }
  return { kind: 'requested', seq: head.seq, turn, running: isRunning(head, now) };
}

/** The task of a turn, if the turn is still held under this epoch. */
function heldBy(tables: WriteTables, held: HeldFields): HeadRow | undefined {
  const head = tables.heads.find(held.scope, held.taskId);
  return head !== undefined && isHeld(head, held) ? head : undefined;
}

function cancelOf({ sql }: WriteTables, task: number, turn: number): string | null {
  const select = 'SELECT cancel FROM execution WHERE task = ? AND turn = ?';
  return sql.get<{ cancel: string | null }>(select, task, turn)?.cancel ?? null;
}
