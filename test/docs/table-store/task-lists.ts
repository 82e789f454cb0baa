import {
  boundsOf,
  type FinishedLog,
  type FinishedTasks,
  isInterrupted,
  isWithin,
  type LocalLoad,
  type LocalPage,
  PageBudget,
  pageOf,
  type ReadRow,
  type TaskQuery,
  taskOfPage,
} from 'parley-a2a/storage-engine';
import { isIn, type Tables, type TaskHead, type TaskRow } from './rows.js';
import type { TaskLog } from './task-log.js';

/** The lists of tasks, and their age. Each list looks at all tasks: this store has no index. */
export class TaskLists implements FinishedTasks {
  readonly #tables: Tables;
  readonly #log: TaskLog;
  readonly #eventLogBytes: number;

  constructor(tables: Tables, log: TaskLog, eventLogBytes: number) {
    this.#tables = tables;
    this.#log = log;
    this.#eventLogBytes = eventLogBytes;
  }

  page(query: TaskQuery, readRow: ReadRow): LocalPage<TaskHead> {
    const { cursor, offset = 0, limit } = query;
    const time = (row: TaskRow) => timesOf(row)[query.orderBy];
    const newest = (a: TaskRow, b: TaskRow) => time(b) - time(a) || (a.key.id < b.key.id ? 1 : -1);
    const all = this.#tables.tasks.filter((row) => matches(query, row)).sort(newest);
    const isBehind = (row: TaskRow) =>
      cursor === undefined || time(row) < cursor.time || (time(row) === cursor.time && row.key.id < cursor.id);
    const budget = new PageBudget(query.maxBytes);
    const page = pageOf(all.filter(isBehind).slice(offset), {
      limit,
      read: (row) => {
        const head = this.#tables.head(row.name);
        const task = readRow(row.key, () => taskOfPage(this.#log.read(row), query));
        if (head === undefined || task === undefined) return undefined;
        return budget.takes(JSON.stringify(task).length) ? { head, task } : 'no-room';
      },
      cursorOf: (row) => ({ time: time(row), id: row.key.id }),
    });
    return { ...page, total: all.length };
  }

  abandoned(agents: readonly string[], before: number, limit: number): readonly TaskHead[] {
    return this.#tables.tasks
      .filter((row) => isInterrupted(row.state) && row.statusTime < before && row.queue.length === 0)
      .filter(({ key }) => agents.includes(key.scope.agent))
      .sort((a, b) => a.statusTime - b.statusTime)
      .slice(0, limit)
      .flatMap(({ name }) => this.#tables.head(name) ?? []);
  }

  load(): LocalLoad {
    const queued = this.#tables.tasks.filter(({ queue }) => queue.length > 0);
    const free = queued.filter(({ holder }) => holder === undefined);
    const due = this.#tables.queues.filter(({ head }) => head.dueAt !== undefined).map(({ head }) => head.dueAt ?? 0);
    const least = (numbers: readonly number[]) => (numbers.length === 0 ? undefined : Math.min(...numbers));
    return {
      waiting: queued.reduce((sum, { queue, holder }) => sum + queue.length - (holder === undefined ? 0 : 1), 0),
      oldestPlace: least(free.map(({ queue }) => queue[0]?.place ?? 0)),
      pendingDeliveries: due.length,
      oldestDue: least(due),
    };
  }

  setClockBack(now: number): void {
    for (const row of this.#endedBefore(Number.POSITIVE_INFINITY)) {
      if ((row.endedAt ?? 0) > now) this.#tables.tasks.put(row.name, { ...row, endedAt: now });
    }
  }

  logs(endedBefore: number): readonly FinishedLog[] {
    return this.#endedBefore(endedBefore).flatMap((row) => {
      const head = this.#tables.head(row.name);
      if (head === undefined) return [];
      const drop = (limit: number) => this.#log.drop(head, Math.min(head.seq + 1, head.floor + limit));
      return { endedAt: row.endedAt ?? 0, isPending: this.#isPending(row), drop };
    });
  }

  sweepTasks(before: number, limit: number): number {
    const old = this.#endedBefore(before).slice(0, Math.max(0, limit));
    for (const row of old) this.remove(row);
    return old.length;
  }

  /** Drops the oldest logs while those of finished tasks take too much, but not the log of this task. */
  ended({ name }: TaskRow): void {
    const all = this.#endedBefore(Number.POSITIVE_INFINITY);
    let bytes = all.reduce((sum, row) => sum + row.bytes, 0);
    for (const row of all) {
      if (bytes <= this.#eventLogBytes) return;
      const head = this.#tables.head(row.name);
      if (head === undefined || name === row.name) continue;
      bytes -= head.bytes;
      this.#log.drop(head, head.seq + 1);
    }
  }

  remove({ name, floor, seq, queue }: TaskRow): void {
    for (let at = floor; at <= seq; at += 1) this.#tables.records.delete(`${name} ${at}`);
    for (const { turn } of queue) this.#tables.turns.delete(`${name} ${turn}`);
    for (const row of this.#tables.queues.filter(({ task }) => task === name)) this.#tables.queues.delete(row.name);
    this.#tables.tasks.delete(name);
  }

  #isPending({ name }: TaskRow): boolean {
    return this.#tables.queues.filter(({ task, head }) => task === name && head.dueAt !== undefined).length > 0;
  }

  #endedBefore(time: number): TaskRow[] {
    const ended = this.#tables.tasks.filter(({ endedAt }) => endedAt !== undefined && endedAt < time);
    return ended.sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
  }
}

function matches(query: TaskQuery, row: TaskRow): boolean {
  const { scope, contextId, states = [] } = query;
  return (
    isIn(scope, row.key.scope) &&
    (contextId === undefined || contextId === row.contextId) &&
    (states.length === 0 || states.includes(row.state)) &&
    boundsOf(query).every((bound) => isWithin(bound, timesOf(row)[bound.time]))
  );
}

function timesOf({ statusTime, createdAt }: TaskRow) {
  return { status: statusTime, created: createdAt };
}
