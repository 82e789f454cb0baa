import { isInterrupted } from '../../model/task-state.js';
import type { Claim } from '../../store/task-storage.js';

/**
 * The next step for a claimed turn.
 * - `run`: run the agent
 * - `run-alone`: run the agent while no other turn of this kind runs
 * - `cancel`: cancel the task
 * - `wait`: the task goes on waiting for its caller
 * - `interrupted`: fail the task, because the agent cannot resume it
 * - `exhausted`: fail the task, because its attempts are used up
 */
export type TurnFate = 'run' | 'run-alone' | 'cancel' | 'wait' | 'interrupted' | 'exhausted';

/**
 * Decides the fate of a turn that this process has claimed after its message was accepted. An attempt counts when its
 * agent begins. A turn that its own accept has claimed begins with that commit. An orderly hand-over costs no attempt.
 */
export function turnFate(
  claim: Claim,
  { resumable, maxAttempts }: { readonly resumable: boolean; readonly maxAttempts: number },
): TurnFate {
  if (claim.cancel) return 'cancel';
  // The agent had asked its question before its process ended.
  if (claim.began && isInterrupted(claim.task.status.state)) return 'wait';
  const begun = claim.attempt - 1;
  if (begun > 0 && !resumable) return 'interrupted';
  const lost = begun - claim.handOvers;
  if (lost >= maxAttempts) return 'exhausted';
  return lost > 0 && lost === maxAttempts - 1 ? 'run-alone' : 'run';
}
