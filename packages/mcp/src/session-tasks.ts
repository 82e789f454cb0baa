import {
  type CallToolResult,
  type CreateTaskResult,
  ErrorCode,
  McpError,
  type Task as McpTask,
  type ProgressToken,
  RELATED_TASK_META_KEY,
  type ServerNotification,
} from '@modelcontextprotocol/sdk/types.js';
import type { Logger, TaskState, TaskStatus } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import { A2AError, ConnectionError, isTerminal, isWaitOver } from 'parley-a2a/kit';
import type { Clock, IdSource } from 'parley-a2a/server';
import { SkillCall, type ToolCaller } from './skill-call.js';
import { stateText, TaskProgress } from './task-progress.js';
import { resultOf } from './task-result.js';
import type { ToolArguments } from './tool-arguments.js';

/** The limits of the tasks of a session. */
interface SessionTaskLimits {
  /** The most tasks. */
  readonly tasks: number;
  /** The longest time that a task is kept, in ms. */
  readonly taskMs: number;
  /** The longest wait for a turn of an agent, in ms. */
  readonly turnMs: number;
  readonly resultBytes: number;
}

/** The ports of `SessionTasks`. */
interface SessionTasksPorts {
  /** Sends a notification to the client of the session. */
  readonly notify: (notification: ServerNotification) => Promise<void>;
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'random'>;
  readonly logger: Logger;
}

/** A call of a tool that becomes a task. */
export interface TaskCall {
  readonly agent: Client;
  readonly input: ToolArguments;
  /** Aborts if the client cancels the call. */
  readonly signal: AbortSignal;
  /** The time to keep the task that the client asks for, in ms. */
  readonly ttl: number | undefined;
  /** Absent: the client wants no progress notifications. */
  readonly progressToken: ProgressToken | undefined;
  /** Headers that pass the trace of the caller on. */
  readonly trace: Readonly<Record<string, string>>;
}

/** The session's record of a task, which the agent stores. */
interface KnownTask {
  readonly id: string;
  readonly agent: Client;
  readonly createdAt: string;
  readonly ttl: number;
  /** The answer of an agent that made no task. */
  readonly answer: CallToolResult | undefined;
  /** Aborted when the session removes the task. */
  readonly forgotten: AbortController;
  state: TaskState;
  updatedAt: string;
  text: string;
  /** True while the user is asked. */
  isAsked: boolean;
}

/** Tasks per page of a list. The state of each is read from its agent. */
const PAGE = 20;
/** Maximum number of stored direct answers. */
const ANSWERS = 16;
const POLL_MS = 1_000;
const READ_MS = 10_000;
/** Time limit of a cancel: agents may need time to end their work. */
const CANCEL_MS = 30_000;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 2 ** 31 - 1;

const MCP_STATES: Readonly<Record<TaskState, McpTask['status']>> = {
  TASK_STATE_UNSPECIFIED: 'working',
  TASK_STATE_SUBMITTED: 'working',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'cancelled',
  TASK_STATE_INPUT_REQUIRED: 'input_required',
  TASK_STATE_REJECTED: 'failed',
  TASK_STATE_AUTH_REQUIRED: 'input_required',
};

/** The tasks of one MCP session. Their ids are those of the A2A tasks, and the agents store states and results. */
export class SessionTasks {
  readonly #limits: SessionTaskLimits;
  readonly #ports: SessionTasksPorts;
  readonly #known = new Map<string, KnownTask>();

  constructor(limits: SessionTaskLimits, ports: SessionTasksPorts) {
    this.#limits = limits;
    this.#ports = ports;
  }

  /**
   * Sends the message of a call, and answers once the agent has made a task of it.
   * @throws McpError if the agent refuses the message, or if there are too many tasks.
   */
  async create({ agent, input, signal, ttl, progressToken, trace }: TaskCall): Promise<CreateTaskResult> {
    const { clock, ids, logger } = this.#ports;
    if (input.taskId === undefined || !this.#known.has(input.taskId)) this.#makeRoom();
    const call = this.#callOf(agent, { signal, cancelsTask: () => false, progress: undefined, ask: undefined, trace });
    const answer = await call.begin(input).catch((error: unknown) => {
      throw new McpError(ErrorCode.InternalError, call.failureText(error));
    });
    const now = new Date(clock.now()).toISOString();
    const isTask = answer.task !== undefined;
    const id = isTask ? answer.task.id : ids.random();
    // The client has no id with which it could cancel the task.
    if (signal.aborted && isTask)
      await agent.cancelTask(id, { timeoutMs: CANCEL_MS }).catch((error: unknown) => {
        logger.warn('a task of a canceled tool call was not canceled', { taskId: id, error });
      });
    const known = this.#known.get(id);
    const task: KnownTask = known ?? {
      id,
      agent,
      createdAt: now,
      ttl: Math.min(Math.max(ttl ?? LONGEST_MS, SHORTEST_MS), this.#limits.taskMs, LONGEST_MS),
      answer: isTask ? undefined : resultOf(answer, this.#limits.resultBytes),
      forgotten: new AbortController(),
      state: isTask ? 'TASK_STATE_SUBMITTED' : 'TASK_STATE_COMPLETED',
      updatedAt: now,
      text: '',
      isAsked: false,
    };
    if (isTask) observe(task, answer.task.status);
    if (known === undefined) this.#keep(task, progressToken);
    return { task: toMcpTask(task) };
  }

  /** The state of a task. If its agent cannot be reached, the last known state. */
  async get(id: string): Promise<McpTask> {
    const task = this.#taskOf(id);
    await this.#read(task);
    return toMcpTask(task);
  }

  /** Waits for the end of a task and returns its result. Asks the user if the agent asks. */
  async result(id: string, caller: Pick<ToolCaller, 'signal' | 'ask'>): Promise<CallToolResult> {
    const task = this.#taskOf(id);
    if (task.answer !== undefined) return withRelatedTask(task.answer, id);
    const { ask } = caller;
    const call = this.#callOf(task.agent, {
      signal: caller.signal,
      // The client cancels by `tasks/cancel`, so an abandoned wait does not.
      cancelsTask: () => false,
      progress: undefined,
      ask: ask && ((question) => askedOnce(task, () => ask(question))),
      trace: {},
    });
    const answer = await call.answer({ message: undefined, taskId: id }).catch((error: unknown) => {
      throw new McpError(ErrorCode.InternalError, call.failureText(error));
    });
    if (answer.task !== undefined) {
      const { status } = answer.task;
      observe(task, status);
      if (!isWaitOver(status.state))
        throw new McpError(ErrorCode.RequestTimeout, 'The task still works. Ask for its result again.');
    }
    return withRelatedTask(resultOf(answer, this.#limits.resultBytes), id);
  }

  /** The tasks of the session, the oldest first. The cursor is the id of the last task before the page. */
  async list(cursor: string | undefined): Promise<{ tasks: McpTask[]; nextCursor?: string }> {
    const all = [...this.#known.values()];
    const at = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== undefined && at === 0) throw new McpError(ErrorCode.InvalidParams, 'The cursor names no page');
    const page = all.slice(at, at + PAGE);
    const last = all.length > at + PAGE ? page.at(-1) : undefined;
    await Promise.all(page.map((task) => this.#read(task).catch(() => {})));
    return { tasks: page.map(toMcpTask), ...(last !== undefined && { nextCursor: last.id }) };
  }

  /**
   * Cancels a task.
   * @throws McpError if it has ended already.
   */
  async cancel(id: string): Promise<McpTask> {
    const task = this.#taskOf(id);
    await this.#read(task);
    if (isTerminal(task.state)) throw endedError(task);
    try {
      const { status } = await task.agent.cancelTask(id, { timeoutMs: CANCEL_MS });
      observe(task, status);
    } catch (error) {
      await this.#read(task);
      if (isTerminal(task.state)) throw endedError(task);
      this.#ports.logger.warn('a task of an MCP client was not canceled', { taskId: id, error });
      throw new McpError(ErrorCode.InternalError, 'The agent did not cancel the task.');
    }
    return toMcpTask(task);
  }

  /** Removes all tasks from the session. They continue in their agents. */
  close(): void {
    for (const { id } of [...this.#known.values()]) this.#forget(id);
  }

  #callOf(agent: Client, caller: ToolCaller): SkillCall {
    const { turnMs, resultBytes } = this.#limits;
    const { clock, logger } = this.#ports;
    return new SkillCall({ agent, caller, turnMs, resultBytes, clock, logger });
  }

  #taskOf(id: string): KnownTask {
    const task = this.#known.get(id);
    if (task === undefined) throw notFound();
    return task;
  }

  #keep(task: KnownTask, progressToken: ProgressToken | undefined): void {
    const { id, ttl, agent, answer, forgotten } = task;
    this.#known.set(id, task);
    const stopTimer = this.#ports.clock.after(ttl, () => this.#forget(id));
    forgotten.signal.addEventListener('abort', stopTimer, { once: true });
    if (answer !== undefined) {
      const [oldest, ...others] = [...this.#known.values()].filter((one) => one.answer !== undefined);
      if (oldest !== undefined && others.length >= ANSWERS) this.#forget(oldest.id);
    } else if (!isTerminal(task.state) && agent.card.capabilities.streaming === true) {
      void this.#follow(task, progressToken);
    }
  }

  #forget(id: string): void {
    this.#known.get(id)?.forgotten.abort();
    this.#known.delete(id);
  }

  /** Removes the oldest ended task to make room for a new one. */
  #makeRoom(): void {
    const { tasks } = this.#limits;
    if (this.#known.size < tasks) return;
    const old = [...this.#known.values()].find(({ state }) => isTerminal(state));
    if (old === undefined)
      throw new McpError(ErrorCode.InternalError, `Too many tasks; a session has at most ${tasks}.`);
    this.#forget(old.id);
  }

  async #read(task: KnownTask): Promise<void> {
    const { id, agent, answer, forgotten } = task;
    if (answer !== undefined || isTerminal(task.state)) return;
    try {
      const options = { timeoutMs: READ_MS, signal: forgotten.signal };
      observe(task, (await agent.getTask({ id, historyLength: 0 }, options)).status);
    } catch (error) {
      if (error instanceof A2AError && error.code === 'TASK_NOT_FOUND') {
        this.#forget(id);
        throw notFound();
      }
      if (!(error instanceof ConnectionError))
        this.#ports.logger.warn('a task could not be read', { taskId: id, error });
      task.text = 'The agent cannot be reached.';
    }
  }

  /** Notifies the client of changes until the task ends. */
  async #follow(task: KnownTask, progressToken: ProgressToken | undefined): Promise<void> {
    const { id, agent, forgotten } = task;
    const { signal } = forgotten;
    let told = task.state;
    let number = 0;
    const progress =
      progressToken === undefined
        ? undefined
        : new TaskProgress((message) => {
            number += 1;
            const params = { progressToken, progress: number, message, _meta: relatedTo(id) };
            return this.#ports.notify({ method: 'notifications/progress', params });
          }, this.#ports.clock);
    const tell = async () => {
      if (told === task.state || signal.aborted) return;
      told = task.state;
      await this.#ports.notify({ method: 'notifications/tasks/status', params: toMcpTask(task) });
    };
    try {
      for await (const event of agent.subscribeToTask(id, { signal })) {
        await progress?.take(event);
        if (event.task !== undefined) observe(task, event.task.status);
        else if (event.statusUpdate !== undefined) observe(task, event.statusUpdate.status);
        await tell();
      }
    } catch (error) {
      if (!signal.aborted) this.#ports.logger.debug('a task is not followed any more', { taskId: id, error });
    }
    await progress?.end().catch(() => {});
    // The task may have ended before its stream began.
    await this.#read(task)
      .then(tell)
      .catch(() => {});
  }
}

function observe(task: KnownTask, { state, message, timestamp }: TaskStatus): void {
  // A late event must not change an ended task.
  if (isTerminal(task.state)) return;
  task.state = state;
  task.text = stateText(state, message?.parts);
  task.updatedAt = timestamp ?? task.updatedAt;
}

function toMcpTask({ id, state, ttl, createdAt, updatedAt, text }: KnownTask): McpTask {
  return {
    taskId: id,
    status: MCP_STATES[state],
    ttl,
    createdAt,
    lastUpdatedAt: updatedAt,
    pollInterval: POLL_MS,
    ...(text !== '' && { statusMessage: text }),
  };
}

/** Concurrent requests for one result must ask the user only once. */
async function askedOnce<Answer>(task: KnownTask, ask: () => Promise<Answer | undefined>): Promise<Answer | undefined> {
  if (task.isAsked) return undefined;
  task.isAsked = true;
  try {
    return await ask();
  } finally {
    task.isAsked = false;
  }
}

function withRelatedTask(result: CallToolResult, id: string): CallToolResult {
  return { ...result, _meta: { ...result._meta, ...relatedTo(id) } };
}

/** Metadata that names the task of a message. */
export function relatedTo(taskId: string): { readonly [RELATED_TASK_META_KEY]: { readonly taskId: string } } {
  return { [RELATED_TASK_META_KEY]: { taskId } };
}

function notFound(): McpError {
  return new McpError(ErrorCode.InvalidParams, 'Task not found');
}

function endedError({ state }: KnownTask): McpError {
  return new McpError(ErrorCode.InvalidParams, `The task is ${MCP_STATES[state]} already`);
}
