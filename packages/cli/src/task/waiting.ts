import type { Client } from 'parley-a2a/client';
import type { Invocation } from '../command-line/invocation.js';
import { LABELS } from '../output/labels.js';
import type { Output } from '../output/output.js';
import type { TaskThread } from './task-thread.js';

/** The exit code after Ctrl-C, as in shells. */
export const INTERRUPTED = 130;
const LONGEST_POLL_MS = 30_000;

/** A wait that the user can end. */
export interface Wait {
  /** Aborts at the time limit or with Ctrl-C. */
  readonly signal: AbortSignal;
}

/**
 * Runs a call that waits for a task. Ctrl-C ends only the wait, and prints the command that continues it. `--timeout`
 * does the same, as an error.
 */
export async function withWait(
  { settings, output }: Invocation,
  thread: TaskThread,
  run: (wait: Wait) => Promise<number>,
): Promise<number> {
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort(new Error('interrupted'));
  process.once('SIGINT', onInterrupt);
  const timeoutMs = settings.duration('timeout');
  const limits = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
  // The output of a stream already shows progress.
  const progress = settings.isOn('stream')
    ? NO_PROGRESS
    : showProgress(output, thread, 'Ctrl-C leaves the task running');
  try {
    return await run({ signal: AbortSignal.any([interrupt.signal, ...limits]) });
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    progress.end();
    const { follow } = thread;
    output.note(follow === undefined ? 'Interrupted.' : `Interrupted; the task continues. To follow it: ${follow}`);
    return INTERRUPTED;
  } finally {
    progress.end();
    process.off('SIGINT', onInterrupt);
  }
}

/** Returns the interval between polls. */
export function pollOptions({ settings }: Invocation): { readonly pollMs: number; readonly longestPollMs: number } {
  const pollMs = Math.max(50, settings.duration('poll-interval') ?? 2000);
  return { pollMs, longestPollMs: Math.max(pollMs, LONGEST_POLL_MS) };
}

/** Prints the id of the task to stderr, to find it again. */
export function announce({ output }: Invocation, thread: TaskThread): void {
  output.endProgress();
  output.announce(LABELS.task, thread.taskId);
  output.announce(LABELS.context, thread.contextId);
}

/** Returns true if the card declares streaming. */
export function streams(client: Client): boolean {
  return client.card.capabilities.streaming === true;
}

/** A progress line during a wait. */
export interface Progress {
  end(): void;
}

const NO_PROGRESS: Progress = { end: () => {} };

/**
 * Shows the state of a task, the agent's last status text and the elapsed time at a terminal. A pipe gets nothing.
 * `leave` describes Ctrl-C.
 */
export function showProgress(output: Output, thread: TaskThread, leave: string): Progress {
  if (!output.watched) return NO_PROGRESS;
  const began = performance.now();
  const draw = () => {
    const seconds = Math.round((performance.now() - began) / 1000);
    const state = thread.state?.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', ' ') ?? 'calling';
    const pieces = [thread.said === undefined ? state : `${state}: ${thread.said}`, `${seconds} s`];
    if (thread.taskId !== undefined) pieces.push(leave);
    if (seconds > 0) output.progress(pieces.join(' · '));
  };
  const timer = setInterval(draw, 1000);
  timer.unref();
  return {
    end: () => {
      clearInterval(timer);
      output.endProgress();
    },
  };
}
