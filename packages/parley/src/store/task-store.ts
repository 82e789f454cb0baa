import type { Task } from '../model/task.js';
import type { TaskState } from '../model/task-state.js';

/** Selects the tasks of a list. Filters combine with AND. */
export interface TaskStoreFilter {
  readonly contextId?: string;
  /** Tasks in any of these states. */
  readonly states?: readonly TaskState[];
  /** The longest list. The server always names it. */
  readonly limit?: number;
  /** The number of tasks to skip; default 0. */
  readonly offset?: number;
}

/**
 * A place for tasks that an application implements. The server writes each change of a task before any caller sees it,
 * and reads all tasks when it starts. A rejected promise means that nothing was written; the server tries again. A task
 * is plain JSON.
 */
export interface TaskStore {
  /** Keeps a new task. */
  create(task: Task): Promise<unknown>;
  get(id: string): Promise<Task | undefined>;
  /** Puts a task in the place of the one with its id. */
  update(task: Task): Promise<unknown>;
  /** Removes a task. There may be none. */
  delete(id: string): Promise<unknown>;
  /** Tasks in an order that stays the same from page to page; without a limit at most 100. */
  list(filter?: TaskStoreFilter): Promise<readonly Task[]>;
}
