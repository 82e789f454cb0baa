import type { A2AError } from '../errors/a2a-error.js';

/**
 * A change of the connection to an agent, to show to a person. `interrupted`: the connection was lost or refused, and
 * the next attempt follows after `waitMs`. `restored`: the agent answered that attempt.
 */
export type ConnectionEvent =
  | {
      readonly state: 'interrupted';
      /** The task of the call; undefined until the agent has named one. */
      readonly taskId: string | undefined;
      /** Number of the next attempt in a row, from 1. */
      readonly attempt: number;
      /** Number of attempts in a row after which the call fails. */
      readonly attempts: number;
      readonly waitMs: number;
      /** Cause of the interruption. Its message is for people. */
      readonly error: A2AError;
    }
  | {
      readonly state: 'restored';
      readonly taskId: string | undefined;
      /** Number of the attempt that the agent answered. */
      readonly attempt: number;
    };
