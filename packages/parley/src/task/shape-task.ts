import type { Task } from '../model/task.js';

/** The members of a task as they are kept apart; `undefined` and empty lists are members that are absent. */
export interface TaskMembers {
  readonly id: string;
  readonly contextId: string | undefined;
  readonly status: Task['status'];
  readonly artifacts?: Task['artifacts'];
  readonly history?: Task['history'];
  readonly metadata: Task['metadata'];
}

/** A task with the members that it has, in the order of the specification. */
export function shapeTask(members: TaskMembers): Task {
  const { id, contextId, status, artifacts, history, metadata } = members;
  return {
    id,
    ...(contextId !== undefined && { contextId }),
    status,
    ...(artifacts !== undefined && artifacts.length > 0 && { artifacts }),
    ...(history !== undefined && history.length > 0 && { history }),
    ...(metadata !== undefined && { metadata }),
  };
}
