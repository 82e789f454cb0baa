import {
  askToCancel,
  beginTurn,
  releaseTurn,
  renewTurn,
  type Standing,
  saveCheckpoint,
  type TurnTables,
  takeBackTurn,
} from '../engine/held-turns.js';
import { mergeCancels, parseCancel } from '../held-turn.js';
import type { Holder } from '../rules/task-head.js';
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
  WriteResults,
} from './write-requests.js';
import type { WriteTables } from './write-tables.js';

/** The rows of waiting and running turns. */
class TurnRows implements TurnTables<HeadRow, string, string> {
  readonly #tables: WriteTables;

  constructor(tables: WriteTables) {
    this.#tables = tables;
  }

  hold(head: HeadRow, { epoch, holder }: { readonly epoch: number; readonly holder: Holder | undefined }): void {
    head.epoch = epoch;
    head.holder = holder;
    writeHolder(this.#tables, head);
  }

  drop(head: HeadRow, turn: number): void {
    dropTurns(this.#tables, head, turn);
  }

  count(
    { pk }: HeadRow,
    turn: number,
    { attempts, addedHandOvers }: { readonly attempts: number; readonly addedHandOvers: 0 | 1 },
  ): void {
    const update = 'UPDATE execution SET attempt = ?, hand_overs = hand_overs + ? WHERE task = ? AND turn = ?';
    this.#tables.sql.run(update, attempts, addedHandOvers, pk, turn);
  }

  saveCheckpoint({ pk }: HeadRow, turn: number, checkpoint: string): void {
    this.#tables.sql.run('UPDATE execution SET checkpoint = ? WHERE task = ? AND turn = ?', checkpoint, pk, turn);
  }

  cancelOf({ pk }: HeadRow, turn: number): string | undefined {
    const select = 'SELECT cancel FROM execution WHERE task = ? AND turn = ?';
    return this.#tables.sql.get<{ cancel: string | null }>(select, pk, turn)?.cancel ?? undefined;
  }

  cancel(head: HeadRow, turn: number, request: string): void {
    const earlier = this.cancelOf(head, turn);
    const merged =
      earlier === undefined ? request : JSON.stringify(mergeCancels(parseCancel(earlier), parseCancel(request)));
    this.#tables.sql.run('UPDATE execution SET cancel = ? WHERE task = ? AND turn = ?', merged, head.pk, turn);
  }
}

/**
 * Counts an attempt at its start. Returns false if the node no longer holds the turn, or the request to cancel, if any.
 */
export function begin(tables: WriteTables, [, { turn, attempt }]: BeginWrite): HeldResult {
  return resultOf(beginTurn(new TurnRows(tables), { head: headOf(tables, turn), held: turn }, attempt));
}

/** Extends the leases that are still held. A damaged row affects no other turn. */
export function renew(tables: WriteTables, [, { now, leaseMs, turns }]: RenewWrite): RenewResult {
  const rows = new TurnRows(tables);
  return turns.map((turn) =>
    tables.sql.apart(turn.taskId, () =>
      resultOf(renewTurn(rows, { head: headOf(tables, turn), held: turn }, now + leaseMs)),
    ),
  );
}

/** Releases a turn. */
export function release(tables: WriteTables, [, { turn, attempt, how }]: ReleaseWrite): WriteResults['release'] {
  return releaseTurn(new TurnRows(tables), { head: headOf(tables, turn), held: turn, attempt }, how);
}

/** Releases a turn that cannot be read, and undoes its claim. It can be claimed again after the file was reopened. */
export function leaveAside(tables: WriteTables, [, { turn, reason }]: LeaveAsideWrite): undefined {
  const head = headOf(tables, turn);
  if (head === undefined) return;
  const rows = new TurnRows(tables);
  const isTakenBack = tables.sql.apart(head.pk, () => takeBackTurn(rows, { head, held: turn }));
  if (isTakenBack !== false) tables.sql.setAside(head.pk, reason);
}

/** Stores a value for the next attempt; false if the node no longer holds the turn. */
export function keepCheckpoint(tables: WriteTables, [, { turn, checkpoint }]: CheckpointWrite): boolean {
  return saveCheckpoint(new TurnRows(tables), { head: headOf(tables, turn), held: turn }, checkpoint);
}

/** Stores a request to cancel with the held turn, if there is one. */
export function requestCancel(tables: WriteTables, [, { scope, now, taskId, request }]: CancelWrite): CancelResult {
  const answer = askToCancel(new TurnRows(tables), { head: tables.heads.find(scope, taskId), request }, now);
  if (answer.kind === 'not-found') return answer;
  const { head } = answer;
  if (answer.kind === 'terminal') return { kind: 'terminal', state: head.state };
  return { kind: 'requested', seq: head.seq, turn: answer.turn, running: answer.isRunning };
}

function headOf({ heads }: WriteTables, { scope, taskId }: HeldFields): HeadRow | undefined {
  return heads.find(scope, taskId);
}

function resultOf({ held, cancel }: Standing<string>): HeldResult {
  return held ? (cancel ?? null) : false;
}
