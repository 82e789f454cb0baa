import {
  isInterrupted,
  type LocalLoad,
  type LocalPage,
  type ReadRow,
  type SweepTimes,
  type Task,
  type TaskQuery,
} from 'parley-a2a/storage-engine';
import { isIn, type Tables, type TaskHead, type TaskRow } from './rows.js';
import type { TaskLog } from './task-log.js';

/** The lists of tasks, and their age. Each list looks at all tasks: this store has no index. */
export class TaskLists {
  readonly #tables: Tables;
  readonly #log: TaskLog;
  readonly #eventLogBytes: number;

  constructor(tables: Tables, log: TaskLog, eventLogBytes: number) {
    this.#tables = tables;
    this.#log = log;
    this.#eventLogBytes = eventLogBytes;
  }

  page(query: TaskQuery, readRow: ReadRow): LocalPage<TaskHead> {
    const { cursor, offset = 0, limit, maxBytes = Number.POSITIVE_INFINITY } = query;
    const time = (row: TaskRow) => (query.orderBy === 'status' ? row.statusTime : row.createdAt);
    const newest = (a: TaskRow, b: TaskRow) => time(b) - time(a) || (a.key.id < b.key.id ? 1 : -1);
    const all = this.#tables.tasks.filter((row) => matches(query, row)).sort(newest);
    const isBehind = (row: TaskRow) =>
      cursor === undefined || time(row) < cursor.time || (time(row) === cursor.time && row.key.id < cursor.id);
    const found: { readonly head: TaskHead; readonly task: Task }[] = [];
    let bytes = 0;
    let last: TaskRow | undefined;
    for (const [at, row] of (limit > 0 ? all.filter(isBehind).slice(offset) : []).entries()) {
      const next = last && { next: { time: time(last), id: last.key.id } };
      if (at === limit) return { found, total: all.length, ...next };
      const task = readRow(row.key, () => this.#read(row, query));
      bytes += task === undefined ? 0 : JSON.stringify(task).length;
      if (found.length > 0 && bytes > maxBytes) return { found, total: all.length, ...next };
      const head = this.#tables.head(row.name);
      if (head !== undefined && task !== undefined) found.push({ head, task });
      last = row;
    }
    return { found, total: all.length };
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

  /** Removes logs and tasks. A pending delivery keeps the log of its task, unless that is to go itself. */
  sweep({ now, finishedBefore, eventLogsBefore }: SweepTimes, limit: number) {
    for (const row of this.#endedBefore(Number.POSITIVE_INFINITY)) {
      // No task has ended later than now: a clock was ahead.
      if ((row.endedAt ?? 0) > now) this.#tables.tasks.put(row.name, { ...row, endedAt: now });
    }
    let records = 0;
    for (const row of this.#endedBefore(Math.max(eventLogsBefore, finishedBefore))) {
      const isKept = (row.endedAt ?? 0) >= finishedBefore && this.#isPending(row);
      const head = this.#tables.head(row.name);
      if (head === undefined || isKept) continue;
      records += this.#log.drop(head, Math.min(head.seq + 1, head.floor + limit - records));
    }
    const old = this.#endedBefore(finishedBefore).slice(0, Math.max(0, limit - records));
    for (const row of old) this.remove(row);
    return { tasks: old.length, records };
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

  #read(row: TaskRow, { artifacts, history }: TaskQuery): Task {
    const { artifacts: results, history: messages, ...bare } = this.#log.read(row);
    return {
      ...bare,
      ...(artifacts && results && { artifacts: results }),
      ...(history && messages && { history: messages }),
    };
  }
}

function matches(query: TaskQuery, { key, contextId, state, statusTime, createdAt }: TaskRow): boolean {
  const { scope, states = [], statusAfter = -1, createdAfter = -1, createdBefore = Number.POSITIVE_INFINITY } = query;
  return (
    isIn(scope, key.scope) &&
    (query.contextId === undefined || query.contextId === contextId) &&
    (states.length === 0 || states.includes(state)) &&
    statusTime >= statusAfter &&
    createdAt > createdAfter &&
    createdAt < createdBefore
  );
}
