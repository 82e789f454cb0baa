import { A2AError } from '../errors/a2a-error.js';
import type { Task } from '../model/task.js';
import { isInterrupted, isTerminal, type TaskState } from '../model/task-state.js';
import { AttemptPauses } from './attempt-pauses.js';
import { backoffMs, LONGEST_RETRY_AFTER_MS, pause, waitAfter } from './backoff.js';
import type { ClientRuntime } from './client-runtime.js';
import { isTransient } from './send-retries.js';
import type { TaskStream } from './task-stream.js';

/** Options for waiting for a task. */
export interface WaitOptions {
  /**
   * State that ends the wait. `answer` (default): the task has ended, or needs input or authorization. `input`: it has
   * ended or needs input; the caller handles authorization elsewhere. `end`: it has ended.
   */
  readonly until?: 'answer' | 'input' | 'end';
  /** For agents without streaming: first pause between two polls, in ms. It grows by half each time. Default 500. */
  readonly pollMs?: number;
  /** Longest pause between two polls, in ms. Default 10,000. */
  readonly longestPollMs?: number;
}

/** A task to wait for, and the calls for that. */
export interface TaskWatch {
  readonly id: string;
  readonly options: WaitOptions;
  /** Undefined for agents without streaming. */
  readonly subscribe: (() => TaskStream) | undefined;
  readonly task: () => Promise<Task>;
  readonly signal: AbortSignal | undefined;
  readonly runtime: ClientRuntime;
}

/** Polls in a row that may fail for transient reasons. */
const FAILED_POLLS = 10;

/** Waits for a task by its stream. If the stream ends early or there is none, polls the task with growing pauses. */
export async function waitForTask(watch: TaskWatch): Promise<Task> {
  const { until } = watch.options;
  const isDone = (state: TaskState | undefined): boolean => state !== undefined && isWaitOver(state, until);
  await follow(watch, isDone);
  for (let number = 1; ; number++) {
    const task = await readTask(watch);
    if (isDone(task.status.state)) return task;
    await pause(watch.runtime.clock, pollMs(watch, number), watch.signal);
  }
}

/** Reads the task. Goes on through transient failures such as a lost connection, with growing pauses. */
export async function readTask(watch: Omit<TaskWatch, 'subscribe'>): Promise<Task> {
  const { id: taskId, runtime, signal } = watch;
  const pauses = new AttemptPauses(runtime);
  for (let failed = 1; ; failed++) {
    try {
      const task = await watch.task();
      pauses.answered(taskId);
      return task;
    } catch (error) {
      if (!isTransient(error) || failed > FAILED_POLLS) throw error;
      const waitMs = waitAfter(error, pollMs(watch, failed), LONGEST_RETRY_AFTER_MS);
      await pauses.wait({ taskId, attempt: failed, attempts: FAILED_POLLS, waitMs, error }, signal);
    }
  }
}

function pollMs({ options, runtime }: Omit<TaskWatch, 'subscribe'>, number: number): number {
  const { pollMs: firstMs = 500, longestPollMs: longestMs = 10_000 } = options;
  return backoffMs(number, { firstMs, longestMs, factor: 1.5 }, runtime.random);
}

/** Returns true if the wait is over at this state. */
export function isWaitOver(state: TaskState, until: WaitOptions['until'] = 'answer'): boolean {
  if (isTerminal(state)) return true;
  return until === 'answer' ? isInterrupted(state) : until === 'input' && state === 'TASK_STATE_INPUT_REQUIRED';
}

/** Agents refuse to stream a task that has ended. Some also refuse a task that waits for its caller. */
async function follow({ subscribe }: TaskWatch, isDone: (state: TaskState | undefined) => boolean): Promise<void> {
  if (subscribe === undefined) return;
  try {
    const stream = subscribe();
    for await (const _ of stream) if (isDone(stream.state)) return;
  } catch (error) {
    if (!(error instanceof A2AError) || error.code === 'UNAUTHENTICATED' || error.code === 'PERMISSION_DENIED')
      throw error;
  }
}
