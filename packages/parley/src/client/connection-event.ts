import type { A2AError } from '../errors/a2a-error.js';

/**
 * News of the connection to an agent, for people who wait. `interrupted`: it was lost, could not be made, or the agent
 * asked to come back later, and the next attempt follows after `waitMs`. `restored`: that attempt was answered.
 */
export type ConnectionEvent =
  | {
      readonly state: 'interrupted';
      /** The task that is followed; undefined while the agent has not named one. */
      readonly taskId: string | undefined;
      /** The number of the next attempt in a row, from 1. */
      readonly attempt: number;
      /** After so many attempts in a row the call fails. */
      readonly attempts: number;
      readonly waitMs: number;
      /** Why; its message is for people. */
      readonly error: A2AError;
    }
  | {
      readonly state: 'restored';
      readonly taskId: string | undefined;
      /** The attempt that was answered. */
      readonly attempt: number;
    };
