import type { TaskStatus } from '../model/task.js';

const statusTexts = new WeakMap<TaskStatus, string>();

/** Returns the JSON of a status, cached because the status does not change while chunks of artifacts arrive. */
export function statusText(status: TaskStatus): string {
  let text = statusTexts.get(status);
  if (text === undefined) {
    text = JSON.stringify(status);
    statusTexts.set(status, text);
  }
  return text;
}
