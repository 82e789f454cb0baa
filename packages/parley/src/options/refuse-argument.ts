import { OptionsError } from '../errors/options-error.js';
import { kindOf } from '../model/kind-of.js';

/**
 * Refuses the argument of a function. It loads less than the check of options, for clients.
 * @throws OptionsError always, with what the function takes instead.
 */
export function refuseArgument(subject: string, takes: string, given: unknown): never {
  throw new OptionsError(subject, [`takes ${takes}, not ${kindOf(given)}`]);
}
