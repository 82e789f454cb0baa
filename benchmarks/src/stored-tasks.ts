import { QUESTION } from './workloads.js';

/** Prefix of the ids of stored tasks. Twelve digits follow. */
export const STORED_TASK_PREFIX = '0190b7c2-1111-7abc-8def-';
/** Number of these digits. */
export const STORED_TASK_DIGITS = 12;

const FIRST_TIME = Date.parse('2026-01-01T00:00:00Z');
/** Far from each other, so that no cache of a disk or a processor helps. */
const STRIDE = 7919;

/** The id of a stored task. */
export function storedTaskId(index: number): string {
  return STORED_TASK_PREFIX + String(index).padStart(STORED_TASK_DIGITS, '0');
}

/** Which task the request of this number asks for, among so many. */
export function askedTask(number: number, tasks: number): number {
  return (number * STRIDE) % tasks;
}

/** A finished task as the workload `task` leaves it; later ones have later times. */
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
