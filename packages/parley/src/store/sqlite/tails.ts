import { BELOW_SEQ, OF_TASK, SEQ_OF_KEY } from './record-keys.js';
import type { TaskHead, WriteTables } from './write-tables.js';

/** The log of a finished task. */
export interface Tail {
  readonly pk: number;
  readonly seq: number;
  /** The lowest sequence number still kept; above `seq` when none is. */
  readonly floor: number;
  readonly ended: number;
  readonly bytes: number;
}

/** The columns of a tail, of the table `task`. */
export const TAIL_COLUMNS = 'pk, seq, floor, ended, bytes';

/** Records that may go beside one commit, so that none takes long. */
const TRIMMED_AT_ONCE = 500;

/** Removes the oldest records of a finished task, at most so many; how many went. */
export function dropTail(tables: WriteTables, { pk, seq, floor, bytes }: Tail, limit: number): number {
  const count = Math.min(seq - floor + 1, limit);
  if (count <= 0) return 0;
  const freed = count === seq - floor + 1 ? bytes : Math.min(bytes, bytesBelow(tables, pk, floor + count));
  tables.run(`DELETE FROM task_record WHERE ${BELOW_SEQ}`, pk, pk, floor + count);
  tables.run('UPDATE task SET floor = ?, bytes = ? WHERE pk = ?', floor + count, bytes - freed, pk);
  tables.changeTails(-freed);
  return count;
}

/** Removes the logs of the tasks that ended first, while all of them take too much; never that of the task given. */
export function trimTails(tables: WriteTables, except: number): void {
  let left = TRIMMED_AT_ONCE;
  while (left > 0 && tables.tailBytes > tables.limits.tailBytes) {
    const from = tables.sweptUntil();
    const oldest = oldestTail(tables, from, except);
    if (oldest === undefined) return;
    // What ended before it has nothing left: nobody looks there again.
    if (oldest.ended > from) tables.setSweptUntil(oldest.ended);
    const limit = left;
    left -=
      tables.apart(oldest.pk, () => {
        const tail = tables.get<Tail>(`SELECT ${TAIL_COLUMNS} FROM task WHERE pk = ?`, oldest.pk);
        return tail === undefined ? 0 : dropTail(tables, tail, limit);
      }) ?? 0;
  }
}

/** The task that ended first of those that have a log; read from the index alone, and without those set aside. */
function oldestTail(
  tables: WriteTables,
  from: number,
  except: number,
): { readonly pk: number; readonly ended: number } | undefined {
  const tails = tables.each<{ pk: number; ended: number }>(
    'SELECT pk, ended FROM task INDEXED BY task_ended WHERE ended >= ? AND bytes > 0 AND floor <= seq AND pk <> ? ORDER BY ended',
    from,
    except,
  );
  for (const tail of tails) if (!tables.isAside(tail.pk)) return tail;
  return undefined;
}

/** Removes the older half of the log of a task that goes on and on; it must have a snapshot of its last record. */
export function trimLog(tables: WriteTables, head: TaskHead): void {
  if (head.bytes <= tables.limits.logBytes) return;
  let freed = 0;
  let floor = 0;
  const sizes = tables.each<{ seq: number; bytes: number }>(
    `SELECT ${SEQ_OF_KEY} AS seq, ${RECORD_BYTES} AS bytes FROM task_record WHERE ${OF_TASK} ORDER BY key`,
    head.pk,
    head.pk,
  );
  for (const { seq, bytes } of sizes) {
    if (seq >= head.seq || freed >= head.bytes / 2) break;
    freed += bytes;
    floor = seq + 1;
  }
  if (floor === 0) return;
  head.bytes = Math.max(0, head.bytes - freed);
  tables.run(`DELETE FROM task_record WHERE ${BELOW_SEQ}`, head.pk, head.pk, floor);
  tables.run('UPDATE task SET floor = ?, bytes = ? WHERE pk = ?', floor, head.bytes, head.pk);
}

const RECORD_BYTES = 'octet_length(event) + coalesce(octet_length(history), 0) + coalesce(octet_length(metadata), 0)';

function bytesBelow(tables: WriteTables, pk: number, floor: number): number {
  const sql = `SELECT sum(${RECORD_BYTES}) AS sum FROM task_record WHERE ${BELOW_SEQ}`;
  return tables.get<{ sum: number | null }>(sql, pk, pk, floor)?.sum ?? 0;
}
