import { refuseArgument } from '../../options/refuse-argument.js';

/** @throws OptionsError for anything but a client. */
export function checkAgent(subject: string, agent: unknown): void {
  if (Object(agent).card === undefined) refuseArgument(subject, 'a client of connect()', agent);
}
