import { QUESTION } from './workloads.js';

/** Prefix of the ids of stored tasks. Twelve digits follow. */
export const STORED_TASK_PREFIX = '0190b7c2-1111-7abc-8def-';
/** Number of these digits. */
export const STORED_TASK_DIGITS = 12;

const FIRST_TIME = Date.parse('2026-01-01T00:00:00Z');
/** Distance between requested tasks, so that caches of disk and processor do not help. */
const STRIDE = 7919;

/** The id of a stored task. */
export function storedTaskId(index: number): string {
  return STORED_TASK_PREFIX + String(index).padStart(STORED_TASK_DIGITS, '0');
}

/** Returns the index of the task that a request asks for. */
export function askedTask(number: number, tasks: number): number {
  return (number * STRIDE) % tasks;
}

/** Returns a finished task of the workload `task`. A higher index has a later time. */
export function storedTask(index: number) {
  const id = storedTaskId(index);
  const contextId = `c${id.slice(1)}`;
  return {
    id,
    contextId,
    status: { state: 'TASK_STATE_COMPLETED' as const, timestamp: new Date(FIRST_TIME + index).toISOString() },
    artifacts: [{ artifactId: `a${id.slice(1)}`, name: 'response', parts: [{ text: QUESTION }] }],
    history: [
      { messageId: `m${id.slice(1)}`, role: 'ROLE_USER' as const, parts: [{ text: QUESTION }], taskId: id, contextId },
    ],
  };
}
