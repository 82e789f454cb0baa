import { TASK_STATES, type TaskState } from '../../model/task-state.js';
import type { Dialect } from './dialect.js';

const PREFIX = 'TASK_STATE_';
const names = new Map(
  TASK_STATES.map((state, number) => {
    const word = number === 0 ? 'unknown' : state.slice(PREFIX.length).toLowerCase().replace('_', '-');
    return [state, { word, proto: state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state }];
  }),
);
const states = new Map<unknown, TaskState>();
for (const [number, state] of TASK_STATES.entries()) {
  const { word, proto } = names.get(state) ?? {};
  states.set(number, state).set(state, state).set(word, state).set(proto, state);
}

/** `input-required` in the one dialect, `TASK_STATE_INPUT_REQUIRED` in the other. */
export function writeTaskState({ kinds }: Dialect, state: TaskState): string | undefined {
  const name = names.get(state);
  return kinds ? name?.word : name?.proto;
}

/** A state in any spelling; one that nobody knows is unspecified, and so not final. */
export function readTaskState(value: unknown): TaskState {
  return states.get(value) ?? 'TASK_STATE_UNSPECIFIED';
}
