import type { Task } from '../../model/task.js';
import { ShapedTask } from '../../task/shaped-task.js';
import type { TaskQuery } from '../task-storage.js';

/** The time of a task that filters or orders a list. */
export type ListTime = TaskQuery['orderBy'];

/** The time filters of a query. A database renders them as SQL, memory evaluates them. */
export const LIST_BOUNDS = [
  { name: 'statusAfter', time: 'status', operator: '>=' },
  { name: 'createdAfter', time: 'created', operator: '>' },
  { name: 'createdBefore', time: 'created', operator: '<' },
] as const;

/** A time filter with its value, in ms since the epoch. */
type ListBound = (typeof LIST_BOUNDS)[number] & { readonly value: number };

/** Returns the time filters of a query. */
export function boundsOf(query: TaskQuery): readonly ListBound[] {
  return LIST_BOUNDS.flatMap((bound) => {
    const value = query[bound.name];
    return value === undefined ? [] : [{ ...bound, value }];
  });
}

/** True if a time passes a filter. */
export function isWithin({ operator, value }: ListBound, time: number): boolean {
  switch (operator) {
    case '>=':
      return time >= value;
    case '>':
      return time > value;
    case '<':
      return time < value;
  }
}

/** True if no later task of a list, newest first, can pass the filter once one has failed it. */
export function isLast({ time, operator }: Omit<ListBound, 'value'>, orderBy: ListTime): boolean {
  return time === orderBy && operator !== '<';
}

/** Returns a task without the members that the query excludes. */
export function taskOfPage(task: Task, query: Pick<TaskQuery, 'artifacts' | 'history'>): Task {
  const { id, contextId, status, artifacts, history, metadata } = task;
  return new ShapedTask({
    ...{ id, contextId, status, metadata },
    artifacts: query.artifacts ? artifacts : undefined,
    history: query.history ? history : undefined,
  });
}
