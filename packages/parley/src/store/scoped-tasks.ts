import { TaskNotFoundError } from '../errors/spec-errors.js';
import { TaskStoreError } from '../errors/task-store-error.js';
import { cloneJson } from '../model/clone-json.js';
import type { Message } from '../model/message.js';
import type { Task, TaskStatus } from '../model/task.js';
import { isInterrupted, isTerminal, type TaskState } from '../model/task-state.js';
import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import { HandedTask } from '../task/handed-task.js';
import { LogRecord } from '../task/log-record.js';
import { ShapedTask } from '../task/shaped-task.js';
import { statusTime } from '../task/status-time.js';
import { DEFAULT_PAGE_SIZE } from '../task/task-list.js';
import { type TaskExtent, trimTask } from '../task/trim-task.js';
import type { Scope } from './task-key.js';
import type { AppendOutcome, StoredTask, TaskPage, TaskStorage } from './task-storage.js';

/** The storage and the scope of `ScopedTasks`. */
export interface ScopedTasksOptions {
  readonly storage: TaskStorage;
  /** The scope of all calls: tasks of other scopes are not found. */
  readonly scope: Scope;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** A task to create. Absent members get defaults. */
export type NewTask = Partial<Omit<Task, 'status'>> & { readonly status?: TaskStatus };

/** Members to replace; `undefined` removes one. */
export type TaskChange = {
  readonly [Name in 'artifacts' | 'history' | 'metadata']?: Task[Name] | undefined;
} & { readonly status?: TaskStatus };

/** Filters of a task list. Filters combine with AND. */
export interface TaskFilter {
  readonly contextId?: string;
  /** Tasks in any of these states. */
  readonly states?: readonly TaskState[];
  /** Exclusive bounds of the time of creation. */
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
  /** Default 50. */
  readonly limit?: number;
  /** Number of tasks to skip. Default: 0. */
  readonly offset?: number;
  /** Newest first by this time. Default `created`. */
  readonly orderBy?: 'created' | 'status';
  /** True if tasks come with their artifacts and history. Default true. */
  readonly artifacts?: boolean;
  readonly history?: boolean;
}

/** A page of tasks. */
export interface TaskList {
  readonly tasks: readonly Task[];
  /** Number of matching tasks, before paging. */
  readonly total: number;
  /** True if tasks follow this page. */
  readonly hasMore: boolean;
}

const ATTEMPTS = 5;
const CLEARED_AT_ONCE = 100;

/**
 * The tasks of one scope, for code of the application outside of the agent. Its changes follow the same rules as those
 * of agents.
 * @throws TaskStoreError for a write that a rule refuses.
 */
export class ScopedTasks {
  readonly #storage: TaskStorage;
  readonly #scope: Scope;
  readonly #clock: Clock;
  readonly #ids: IdSource;

  constructor({ storage, scope, clock, ids }: ScopedTasksOptions) {
    this.#storage = storage;
    this.#scope = scope;
    this.#clock = clock;
    this.#ids = ids;
  }

  /**
   * Creates a task, by default in SUBMITTED. No agent runs for it.
   * @throws TaskStoreError `taken`
   */
  async create(task: NewTask = {}): Promise<Task> {
    const given = cloneJson(task);
    const created = new ShapedTask({
      ...given,
      id: given.id ?? this.#ids.ordered(),
      contextId: given.contextId ?? this.#ids.ordered(),
      status: setTime(given.status ?? { state: 'TASK_STATE_SUBMITTED' }, { previous: 0, now: await this.#now() }),
      metadata: given.metadata,
    });
    if (!(await this.#storage.create(this.#scope, created))) throw new TaskStoreError(created.id, 'taken');
    return new HandedTask(created);
  }

  async get(id: string, extent: TaskExtent = {}): Promise<Task | undefined> {
    const stored = await this.#storage.task(this.#scope, id);
    return stored && new HandedTask(trimTask(stored.task, extent));
  }

  /**
   * Changes a task while no turn of its agent runs. Without `change`, the given task replaces the stored one. A
   * function gets the stored task, and is called again if the task has changed before the write.
   * @throws TaskNotFoundError; TaskStoreError `ended`, `running`, or `changing`
   */
  update(task: Task, change?: TaskChange | ((task: Task) => TaskChange)): Promise<Task>;
  update(id: string, change: TaskChange | ((task: Task) => TaskChange)): Promise<Task>;
  async update(
    given: Task | string,
    change: TaskChange | ((task: Task) => TaskChange) = typeof given === 'string' ? {} : replacing(given),
  ): Promise<Task> {
    const id = typeof given === 'string' ? given : given.id;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const stored = await this.#storage.task(this.#scope, id);
      if (stored === undefined) throw new TaskNotFoundError(id);
      if (isTerminal(stored.task.status.state)) throw new TaskStoreError(id, 'ended');
      const asked = typeof change === 'function' ? change(new HandedTask(stored.task)) : change;
      const next = changeTask(stored.task, asked, await this.#now());
      const outcome = await this.#append(stored, next);
      if (outcome.kind === 'appended') return new HandedTask(next);
      if (outcome.kind === 'not-found') throw new TaskNotFoundError(id);
      if (outcome.kind !== 'fenced') throw new TaskStoreError(id, outcome.kind === 'terminal' ? 'ended' : 'running');
    }
    throw new TaskStoreError(id, 'changing');
  }

  /**
   * Deletes a task with its records and push configurations; false if there is none.
   * @throws TaskStoreError `running`
   */
  async delete(id: string): Promise<boolean> {
    const outcome = await this.#storage.delete(this.#scope, id);
    if (outcome === 'running') throw new TaskStoreError(id, 'running');
    return outcome === 'deleted';
  }

  async list(filter: TaskFilter = {}): Promise<TaskList> {
    const { contextId, states, createdAfter, createdBefore, limit = DEFAULT_PAGE_SIZE, offset = 0 } = filter;
    const page: TaskPage = await this.#storage.tasks({
      scope: this.#scope,
      ...(contextId !== undefined && { contextId }),
      ...(states !== undefined && { states }),
      ...(createdAfter !== undefined && { createdAfter: createdAfter.getTime() }),
      ...(createdBefore !== undefined && { createdBefore: createdBefore.getTime() }),
      orderBy: filter.orderBy ?? 'created',
      limit,
      offset,
      exactTotal: true,
      artifacts: filter.artifacts ?? true,
      history: filter.history ?? true,
    });
    const tasks = page.tasks.map(({ task }) => new HandedTask(task));
    return { tasks, total: page.total, hasMore: offset + tasks.length < page.total };
  }

  /** Counts the tasks that match a filter. */
  async count(filter: Omit<TaskFilter, 'limit' | 'offset'> = {}): Promise<number> {
    return (await this.list({ ...filter, limit: 1, artifacts: false, history: false })).total;
  }

  /** Deletes the tasks that match a filter, except running ones. Resolves to the number of deleted tasks. */
  async clear(filter: Omit<TaskFilter, 'limit' | 'offset'> = {}): Promise<number> {
    let deleted = 0;
    let kept = 0;
    for (;;) {
      const page = { ...filter, limit: CLEARED_AT_ONCE, offset: kept, artifacts: false, history: false };
      const { tasks } = await this.list(page);
      if (tasks.length === 0) return deleted;
      for (const { id } of tasks) {
        const outcome = await this.#storage.delete(this.#scope, id);
        if (outcome === 'deleted') deleted += 1;
        if (outcome === 'running') kept += 1;
      }
    }
  }

  #append(stored: StoredTask, next: Task): Promise<AppendOutcome> {
    const { task, seq } = stored;
    return this.#storage.append({
      key: { scope: this.#scope, id: task.id },
      authority: 'idle',
      after: seq,
      records: [new LogRecord(seq + 1, 0, { task: next })],
      head: { status: next.status, metadata: next.metadata },
      snapshot: next,
    });
  }

  /** The time for a status. A shared storage has its own clock, because the clocks of its processes differ. */
  async #now(): Promise<number> {
    return this.#storage.shared ? this.#storage.now() : this.#clock.now();
  }
}

function changeTask(task: Task, change: TaskChange, now: number): Task {
  const { id, contextId } = task;
  const previous = statusTime(task.status);
  const status = change.status === undefined ? task.status : setTime(cloneJson(change.status), { previous, now });
  const own = { artifacts: task.artifacts, history: goingOn(task, status), metadata: task.metadata };
  const { artifacts, history, metadata } = { ...own, ...cloneMembers(change) };
  return new ShapedTask({ id, contextId, status, artifacts, history, metadata });
}

/** Returns a status with the current time, or the time of the previous status if that is later. */
function setTime(
  status: TaskStatus,
  { previous, now }: { readonly previous: number; readonly now: number },
): TaskStatus {
  if (status.timestamp !== undefined && statusTime(status) >= previous) return status;
  return { ...status, timestamp: new Date(Math.max(now, previous)).toISOString() };
}

/** Copies the members to replace. Absent members are unchanged; `undefined` removes one. */
function cloneMembers({ status: _, ...members }: TaskChange): Omit<TaskChange, 'status'> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, cloneJson(value)]));
}

/** Returns the history for a new status: the message of an interrupted status joins it when the task continues. */
function goingOn({ history, status: { state, message } }: Task, next: TaskStatus): readonly Message[] | undefined {
  if (message === undefined || !isInterrupted(state) || next.message?.messageId === message.messageId) return history;
  return history?.some(({ messageId }) => messageId === message.messageId) ? history : [...(history ?? []), message];
}

/** Returns the change that replaces a stored task by this one. */
function replacing({ status, artifacts, history, metadata }: Task): TaskChange {
  return { status, artifacts, history, metadata };
}
