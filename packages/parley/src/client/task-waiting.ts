import { A2AError } from '../errors/a2a-error.js';
import type { Task } from '../model/task.js';
import { isInterrupted, isTerminal, type TaskState } from '../model/task-state.js';
import { AttemptPauses } from './attempt-pauses.js';
import { backoffMs, LONGEST_RETRY_AFTER_MS, pause, waitAfter } from './backoff.js';
import type { ClientRuntime } from './client-runtime.js';
import { isTransient } from './send-retries.js';
import type { TaskStream } from './task-stream.js';

/** When a task has been waited for long enough. */
export interface WaitOptions {
  /**
   * `answer` (default): when it has ended or needs its caller; `input`: the same, but not where it needs authorization,
   * which the caller sees to elsewhere; `end`: only when it has ended.
   */
  readonly until?: 'answer' | 'input' | 'end';
  /** Where there are no streams: the first wait between two looks, which grows by half each time; default 500 ms. */
  readonly pollMs?: number;
  /** The longest such wait; default 10 s. */
  readonly longestPollMs?: number;
}

/** How a task is watched. */
export interface TaskWatch {
  readonly id: string;
  readonly options: WaitOptions;
  /** Undefined where the agent has no streams. */
  readonly subscribe: (() => TaskStream) | undefined;
  readonly task: () => Promise<Task>;
  readonly signal: AbortSignal | undefined;
  readonly runtime: ClientRuntime;
}

/** Polls in a row that may fail for transient reasons. */
const FAILED_POLLS = 10;

/** Waits for a task by its stream. If the stream ends early or there is none, polls the task with growing pauses. */
export async function waitForTask(watch: TaskWatch): Promise<Task> {
  const { until, pollMs: firstMs = 500, longestPollMs: longestMs = 10_000 } = watch.options;
  const isDone = (state: TaskState | undefined): boolean => state !== undefined && isWaitOver(state, until);
  await follow(watch, isDone);
  const { id: taskId, runtime, signal } = watch;
  const pauses = new AttemptPauses(runtime);
  let failed = 0;
  for (let number = 1; ; number++) {
    const pollMs = backoffMs(number, { firstMs, longestMs, factor: 1.5 }, runtime.random);
    try {
      const task = await watch.task();
      pauses.answered(taskId);
      if (isDone(task.status.state)) return task;
      failed = 0;
    } catch (error) {
      failed += 1;
      if (!isTransient(error) || failed > FAILED_POLLS) throw error;
      const waitMs = waitAfter(error, pollMs, LONGEST_RETRY_AFTER_MS);
      await pauses.wait({ taskId, attempt: failed, attempts: FAILED_POLLS, waitMs, error }, signal);
      continue;
    }
    await pause(runtime.clock, pollMs, signal);
  }
}

/** Whether a task in this state has been waited for long enough. */
export function isWaitOver(state: TaskState, until: WaitOptions['until'] = 'answer'): boolean {
  if (isTerminal(state)) return true;
  return until === 'answer' ? isInterrupted(state) : until === 'input' && state === 'TASK_STATE_INPUT_REQUIRED';
}

/** Agents refuse to show the stream of a task that has ended, and some that of one that waits. */
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
