import type { TaskStatus } from '../model/task.js';

let lastText = '';
let lastTime = 0;

/** Time of a status in ms since the epoch, the order of lists. 0 if the status has no readable time. */
export function statusTime(status: TaskStatus): number {
  const { timestamp } = status;
  if (timestamp === undefined) return 0;
  // Called several times for each event, mostly with the same text.
  if (timestamp !== lastText) {
    const time = Date.parse(timestamp);
    lastTime = Number.isNaN(time) ? 0 : time;
    lastText = timestamp;
  }
  return lastTime;
}
