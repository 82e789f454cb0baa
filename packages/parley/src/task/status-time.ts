import type { TaskStatus } from '../model/task.js';

/** When a status was reached, in ms since the epoch: what lists are ordered by. 0 for a status without a readable time. */
export function statusTime(status: TaskStatus): number {
  const { timestamp } = status;
  if (timestamp === undefined) return 0;
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? 0 : time;
}
