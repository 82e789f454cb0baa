import { setTimeout as pause } from 'node:timers/promises';
import type { Finding } from './finding.js';
import type { Task, TestedAgent } from './tested-agent.js';

/** One requirement that can be tested from outside. */
export interface Check {
  /** Section of the specification. */
  readonly spec: string;
  readonly requirement: string;
  /** True if only 1.x has the requirement. */
  readonly sinceV1?: boolean;
  readonly run: (agent: TestedAgent, seen: Seen) => Promise<Finding>;
}

/** Results of earlier checks on the same interface. */
export interface Seen {
  /** The task of the first check; undefined if the agent makes none. */
  task: Task | undefined;
}

/** An id that no task has. */
export const UNKNOWN_TASK = 'parley-conformance-no-such-task';

const TERMINAL = ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'];
const WORKING = ['SUBMITTED', 'WORKING'];
const POLL_MS = 200;

/** Returns true if a task in this state never changes again (Spec §4.1.3). */
export function isTerminal({ status }: Task): boolean {
  return TERMINAL.includes(status.state);
}

/** Polls a task until the agent has stopped working on it. */
export async function pollUntilSettled(agent: TestedAgent, task: Task): Promise<Task> {
  let latest = task;
  while (WORKING.includes(latest.status.state)) {
    await pause(POLL_MS, undefined, { signal: agent.signal });
    latest = await agent.getTask(task.id);
  }
  return latest;
}
