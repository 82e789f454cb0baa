import type { TaskStatus } from '../model/task.js';

let lastText = '';
let lastTime = 0;

/** When a status was reached, in ms since the epoch: what lists are ordered by. 0 for a status without a readable time. */
export function statusTime(status: TaskStatus): number {
  const { timestamp } = status;
  if (timestamp === undefined) return 0;
  // Asked for several times with each event, mostly for the time that was asked for last.
  if (timestamp !== lastText) {
    const time = Date.parse(timestamp);
    lastTime = Number.isNaN(time) ? 0 : time;
    lastText = timestamp;
  }
  return lastTime;
}
