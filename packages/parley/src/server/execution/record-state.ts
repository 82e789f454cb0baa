import type { TaskState } from '../../model/task-state.js';
import type { LogRecord } from '../../task/log-record.js';

/** The state a record puts its task in; `undefined` where it says nothing about the state. */
export function stateOf(record: LogRecord): TaskState | undefined {
  const event = record.event;
  if ('statusUpdate' in event) return event.statusUpdate.status.state;
  if ('task' in event) return event.task.status.state;
  return undefined;
}
