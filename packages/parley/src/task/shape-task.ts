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
  const task: { -readonly [Name in keyof Task]: Task[Name] } =
    contextId === undefined ? { id, status } : { id, contextId, status };
  if (artifacts !== undefined && artifacts.length > 0) task.artifacts = artifacts;
  if (history !== undefined && history.length > 0) task.history = history;
  if (metadata !== undefined) task.metadata = metadata;
  return task;
}
