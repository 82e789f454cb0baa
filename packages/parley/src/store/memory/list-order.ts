import type { ListTime } from '../rules/list-query.js';
import type { TaskQuery } from '../task-storage.js';
import type { TaskEntry } from './task-entry.js';

/** Ascending by status time, then by id. */
export function olderStatus(a: TaskEntry, b: TaskEntry): number {
  return timeOf(a, 'status') - timeOf(b, 'status') || byText(a.id, b.id);
}

/** Ascending by creation, then by id. */
export function olderCreation(a: TaskEntry, b: TaskEntry): number {
  return a.createdAt - b.createdAt || byText(a.id, b.id);
}

/** The time by which lists order a task, in ms since the epoch. */
export function timeOf(entry: TaskEntry, time: ListTime): number {
  return time === 'status' ? (entry.listed?.time ?? 0) : entry.createdAt;
}

/** True for a task after the cursor of a query, newest first. */
export function behindCursor({ cursor, orderBy }: TaskQuery): (entry: TaskEntry) => boolean {
  if (cursor === undefined) return () => true;
  return (entry) => {
    const time = timeOf(entry, orderBy);
    return time < cursor.time || (time === cursor.time && entry.id < cursor.id);
  };
}

/** Merges several descending iterations into one. */
export function* mergedDescending(
  iterables: readonly Iterable<TaskEntry>[],
  ascending: (a: TaskEntry, b: TaskEntry) => number,
): Generator<TaskEntry, void> {
  const heads: { entry: TaskEntry; rest: Iterator<TaskEntry> }[] = [];
  for (const iterable of iterables) {
    const rest = iterable[Symbol.iterator]();
    const first = rest.next();
    if (first.done !== true) heads.push({ entry: first.value, rest });
  }
  while (heads.length > 0) {
    const newest = heads.reduce((best, head) => (ascending(best.entry, head.entry) < 0 ? head : best));
    yield newest.entry;
    const next = newest.rest.next();
    if (next.done === true) heads.splice(heads.indexOf(newest), 1);
    else newest.entry = next.value;
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
