import type { Task } from '../model/task.js';
import type { TaskState } from '../model/task-state.js';

/** A filter of tasks. Filters combine with AND. */
export interface TaskStoreFilter {
  readonly contextId?: string;
  /** Tasks in any of these states. */
  readonly states?: readonly TaskState[];
  /** Maximum length of the list. Always set by the server. */
  readonly limit?: number;
  /** The number of tasks to skip; default 0. */
  readonly offset?: number;
}

/**
 * A store of tasks that an application implements. The server writes each change of a task before any caller sees it,
 * and reads all tasks at its start. A rejected promise means that nothing was written; the server retries. A task is
 * plain JSON.
 */
export interface TaskStore {
  /** Stores a new task. */
  create(task: Task): Promise<unknown>;
  get(id: string): Promise<Task | undefined>;
  /** Replaces the task with the same id. */
  update(task: Task): Promise<unknown>;
  /** Deletes a task, if it exists. */
  delete(id: string): Promise<unknown>;
  /** Tasks in a stable order across pages; without a limit at most 100. */
  list(filter?: TaskStoreFilter): Promise<readonly Task[]>;
}
