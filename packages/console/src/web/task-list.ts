import { signal } from '@preact/signals';
import type { Task, TaskState } from 'parley-a2a';
import { type Agent, failureOf } from './agents.js';

/** A page of tasks as the user sees it. */
export interface TaskList {
  /** Undefined while the first page loads. */
  readonly tasks: readonly Task[] | undefined;
  readonly total: number;
  readonly nextPageToken: string;
  readonly failure: string | undefined;
}

/** The filters of a list of tasks. */
export interface TaskFilter {
  readonly status?: TaskState | undefined;
  readonly contextId?: string | undefined;
}

const POLL_MS = 2_000;
const PAGE = 50;

/** The tasks of an agent, kept current while the page is visible. */
export class TaskListWatch {
  readonly state = signal<TaskList>({ tasks: undefined, total: 0, nextPageToken: '', failure: undefined });
  readonly #agent: Agent;
  readonly #filter: TaskFilter;
  #size = PAGE;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(agent: Agent, filter: TaskFilter) {
    this.#agent = agent;
    this.#filter = filter;
    void this.#poll();
  }

  /** Shows more tasks, up to the most that the protocol gives in a page. */
  more(): void {
    this.#size = 100;
    clearTimeout(this.#timer);
    void this.#poll();
  }

  /** Ends the polling. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #poll(): Promise<void> {
    if (!document.hidden) await this.#read();
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
  }

  async #read(): Promise<void> {
    const { status, contextId } = this.#filter;
    try {
      const client = await this.#agent.client();
      const { tasks, totalSize, nextPageToken } = await client.listTasks({
        pageSize: this.#size,
        historyLength: 1,
        ...(status !== undefined && { status }),
        ...(contextId !== undefined && { contextId }),
      });
      if (!this.#isClosed) this.state.value = { tasks, total: totalSize, nextPageToken, failure: undefined };
    } catch (error) {
      if (!this.#isClosed) this.state.value = { ...this.state.value, failure: failureOf(this.#agent, error) };
    }
  }
}
