import { isInterrupted, isTerminal, TASK_STATES, type TaskState } from '../model/task-state.js';

const NUMBERS = new Map(TASK_STATES.map((state, number) => [state, number]));
const ENDED = TASK_STATES.map(isTerminal);

/** The numbers of all states. */
export const ALL_STATES: readonly number[] = TASK_STATES.map((_, number) => number);
/** The numbers of the interrupted states, in which a task waits for its caller. */
export const INTERRUPTED_STATES: readonly number[] = ALL_STATES.filter((number) =>
  isInterrupted(stateOfNumber(number)),
);

/** The numbers of the states that are not terminal. */
export const OPEN_STATES: readonly number[] = ALL_STATES.filter((number) => !isEndState(number));

/** Returns the protocol's number of a state. */
export function stateNumber(state: TaskState): number {
  return NUMBERS.get(state) ?? 0;
}

/** Returns the state of a number. */
export function stateOfNumber(number: number): TaskState {
  return TASK_STATES[number] ?? 'TASK_STATE_UNSPECIFIED';
}

/** True if the state of this number is terminal. */
export function isEndState(number: number): boolean {
  return ENDED[number] === true;
}
