import type { Task } from '../../model/task.js';
import { ShapedTask } from '../../task/shaped-task.js';
import type { TaskQuery } from '../task-storage.js';

/** The time of a task by which a list is bounded or ordered. */
export type ListTime = TaskQuery['orderBy'];

/** The bounds of a query, each as a condition on a time. A database renders them, memory computes them. */
export const LIST_BOUNDS = [
  { name: 'statusAfter', time: 'status', operator: '>=' },
  { name: 'createdAfter', time: 'created', operator: '>' },
  { name: 'createdBefore', time: 'created', operator: '<' },
] as const;

/** A bound with its value, in ms since the epoch. */
type ListBound = (typeof LIST_BOUNDS)[number] & { readonly value: number };

/** The bounds that a query has. */
export function boundsOf(query: TaskQuery): readonly ListBound[] {
  return LIST_BOUNDS.flatMap((bound) => {
    const value = query[bound.name];
    return value === undefined ? [] : [{ ...bound, value }];
  });
}

/** True if a task is within a bound. */
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

/** True for a bound beyond which no task of a list is within it: lists show the newest first. */
export function isLast({ time, operator }: Omit<ListBound, 'value'>, orderBy: ListTime): boolean {
  return time === orderBy && operator !== '<';
}

/** A task without the members that a page does not show. */
export function taskOfPage(task: Task, query: Pick<TaskQuery, 'artifacts' | 'history'>): Task {
  const { id, contextId, status, artifacts, history, metadata } = task;
  return new ShapedTask({
    ...{ id, contextId, status, metadata },
    artifacts: query.artifacts ? artifacts : undefined,
    history: query.history ? history : undefined,
  });
}
