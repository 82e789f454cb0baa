import { isInterrupted } from '../../model/task-state.js';
import type { Claim } from '../../store/task-storage.js';

/**
 * The next step for a claimed turn: `run` it, run it while no other turn of its kind runs (`run-alone`), `cancel` its
 * task, or fail its task because the agent cannot resume it (`interrupted`) or has used up its attempts (`exhausted`).
 * `wait`: the task goes on waiting for its caller.
 */
export type TurnFate = 'run' | 'run-alone' | 'cancel' | 'wait' | 'interrupted' | 'exhausted';

/**
 * Decides the fate of a turn that this process has claimed after its message was accepted. An attempt counts from the
 * moment in which its agent begins; a turn claimed by its own accept begins with that. An orderly hand-over costs none
 * of the attempts that an agent has.
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
