import { isObject } from '../../model/json.js';
import type { TaskStatus } from '../../model/task.js';
import { isInterrupted } from '../../model/task-state.js';
import type { Claim } from '../../store/held-turn.js';

/**
 * The next step for a claimed turn.
 * - `run`: run the agent
 * - `run-alone`: run the agent while no other turn of this kind runs
 * - `cancel`: cancel the task
 * - `wait`: end the turn, because the task waits for its caller
 * - `keep`: hold the turn, whose task waits for an authorization, until that expires
 * - `interrupted`: fail the task, because the agent cannot resume it
 * - `exhausted`: fail the task, because its attempts are used up
 */
export type TurnFate = 'run' | 'run-alone' | 'cancel' | 'wait' | 'keep' | 'interrupted' | 'exhausted';

/**
 * Decides about a turn that this process has claimed after its message was accepted. An attempt counts from the start
 * of its agent, or from the commit if the acceptance claims its own turn. An orderly hand-over costs no attempt.
 */
export function turnFate(
  claim: Claim,
  { resumable, maxAttempts }: { readonly resumable: boolean; readonly maxAttempts: number },
): TurnFate {
  if (claim.cancel) return 'cancel';
  // The agent had asked its question before its process ended.
  const { status } = claim.task;
  if (claim.began && isInterrupted(status.state)) return authorizationEnd(status) === undefined ? 'wait' : 'keep';
  const begun = claim.attempt - 1;
  if (begun > 0 && !resumable) return 'interrupted';
  const lost = begun - claim.handOvers;
  if (lost >= maxAttempts) return 'exhausted';
  return lost > 0 && lost === maxAttempts - 1 ? 'run-alone' : 'run';
}

/** Returns the time limit for an authorization, in ms since the epoch; `undefined` if the status has none. */
export function authorizationEnd({ state, message }: TaskStatus): number | undefined {
  if (state !== 'TASK_STATE_AUTH_REQUIRED') return undefined;
  for (const part of message?.parts ?? []) {
    if (part.data === undefined || !isObject(part.data) || !isObject(part.data.authorization)) continue;
    const end = Date.parse(String(part.data.authorization.expiresAt));
    if (!Number.isNaN(end)) return end;
  }
  return undefined;
}
