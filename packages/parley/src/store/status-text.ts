import type { TaskStatus } from '../model/task.js';

const statusTexts = new WeakMap<TaskStatus, string>();

/** A status stays the same while chunks of artifacts come: its text is made once. */
export function statusText(status: TaskStatus): string {
  let text = statusTexts.get(status);
  if (text === undefined) {
    text = JSON.stringify(status);
    statusTexts.set(status, text);
  }
  return text;
}
