import { waitingIn } from '../rules/task-head.js';
import type { HeadRow } from './task-heads.js';
import type { WriteTables } from './write-tables.js';

/** Removes a turn from the queue of its task, or all of them. */
export function dropTurns({ sql }: WriteTables, head: HeadRow, dropped: number | 'all'): void {
  if (head.queue.length === 0) return;
  if (dropped === 'all') {
    sql.run('DELETE FROM execution WHERE task = ?', head.pk);
    head.queue = [];
    return;
  }
  const at = head.queue.findIndex(({ turn }) => turn === dropped);
  if (at < 0) return;
  head.queue.splice(at, 1);
  sql.run('DELETE FROM execution WHERE task = ? AND turn = ?', head.pk, dropped);
}

/** Writes epoch and holder of a task, and marks its first turn as claimable if it has no holder. */
export function writeHolder(tables: WriteTables, head: HeadRow): void {
  const { epoch, turns, holder } = head;
  if (holder !== undefined) tables.counters.noteLease(holder.leaseEnd);
  tables.sql.run(
    'UPDATE task SET epoch = ?, turns = ?, held = ?, node = ?, lease_end = ? WHERE pk = ?',
    epoch,
    turns,
    holder?.turn ?? null,
    holder?.node ?? null,
    holder?.leaseEnd ?? null,
    head.pk,
  );
  settleReady(tables, head);
}

/** Marks the first turn of a task as claimable if and only if the task has no holder. */
export function settleReady({ sql }: WriteTables, head: HeadRow): void {
  const [first] = head.queue;
  const ready = waitingIn(head) === head.queue.length;
  if (first === undefined || first.ready === ready) return;
  first.ready = ready;
  sql.run('UPDATE execution SET ready = ? WHERE task = ? AND turn = ?', ready ? 1 : 0, head.pk, first.turn);
}
