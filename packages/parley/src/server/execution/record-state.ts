import type { TaskState } from '../../model/task-state.js';
import type { LogRecord } from '../../task/log-record.js';
import { announcedState } from './agent-event.js';

/** The state a record puts its task in; `undefined` where it says nothing about the state. */
export function stateOf(record: LogRecord): TaskState | undefined {
  return announcedState(record.event);
}
