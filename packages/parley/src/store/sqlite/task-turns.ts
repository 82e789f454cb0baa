import type { TaskHead, WriteTables } from './write-tables.js';

/** Whether a node holds a lease on the task that has not ended. */
export function isRunning(head: TaskHead, now: number): boolean {
  return head.leaseEnd !== null && head.leaseEnd > now;
}

/** Executions that nobody runs. */
export function waitingIn(head: TaskHead): number {
  return head.queue.length - (head.held === null ? 0 : 1);
}

/** Gives the next turn of a task to a node; whoever had it before is overtaken. */
export function hold(
  tables: WriteTables,
  head: TaskHead,
  lease: { readonly node: string; readonly end: number },
): void {
  head.epoch += 1;
  head.held = head.queue[0]?.turn ?? null;
  head.node = lease.node;
  head.leaseEnd = lease.end;
  tables.nextLeaseEnd = Math.min(tables.nextLeaseEnd, lease.end);
  tables.run(
    'UPDATE task SET epoch = ?, turns = ?, held = ?, node = ?, lease_end = ? WHERE pk = ?',
    head.epoch,
    head.turns,
    head.held,
    head.node,
    head.leaseEnd,
    head.pk,
  );
}

/** The task is free: nobody holds a turn of it. The row is the caller's to write. */
export function letGo(head: TaskHead): void {
  head.held = null;
  head.node = null;
  head.leaseEnd = null;
}

/** Removes a turn from the queue of its task. */
export function dropTurn(tables: WriteTables, head: TaskHead, turn: number): void {
  const at = head.queue.findIndex((queued) => queued.turn === turn);
  const [dropped] = at < 0 ? [] : head.queue.splice(at, 1);
  if (dropped === undefined) return;
  if (head.held === turn) letGo(head);
  tables.run('DELETE FROM execution WHERE task = ? AND turn = ?', head.pk, turn);
}

/** Removes all turns of a task. */
export function dropTurns(tables: WriteTables, head: TaskHead): void {
  if (head.queue.length > 0) tables.run('DELETE FROM execution WHERE task = ?', head.pk);
  head.queue = [];
  letGo(head);
}

/** Marks the first turn of a task as one to be claimed exactly if nobody holds it. */
export function settleReady(tables: WriteTables, head: TaskHead): void {
  const [first] = head.queue;
  const ready = head.held === null;
  if (first === undefined || first.ready === ready) return;
  first.ready = ready;
  tables.run('UPDATE execution SET ready = ? WHERE task = ? AND turn = ?', ready ? 1 : 0, head.pk, first.turn);
}
