import { PushNotificationNotSupportedError, UnsupportedOperationError } from '../errors/spec-errors.js';
import type { AgentCapabilities } from '../model/agent-card.js';
import { type NeededCapability, OPERATIONS, type OperationName, type OperationTypes } from './operations.js';

const REFUSALS: { readonly [Name in NeededCapability]: () => Error } = {
  streaming: () => new UnsupportedOperationError('the agent does not stream'),
  pushNotifications: () => new PushNotificationNotSupportedError(),
  extendedAgentCard: () => new UnsupportedOperationError('the agent has no extended agent card'),
};

/**
 * Refuses an operation whose capability the card does not declare, and a request with a webhook if the card declares no
 * push notifications. `false` and absent are the same (Spec §3.3.4).
 * @throws UnsupportedOperationError, PushNotificationNotSupportedError
 */
export function requireCapabilities<Name extends OperationName>(
  operation: Name,
  request: OperationTypes[Name]['request'],
  capabilities: AgentCapabilities,
): void {
  const needed = OPERATIONS[operation].capability;
  if (needed !== undefined && capabilities[needed] !== true) throw REFUSALS[needed]();
  if (!('message' in request)) return;
  if (request.configuration?.taskPushNotificationConfig !== undefined && capabilities.pushNotifications !== true) {
    throw REFUSALS.pushNotifications();
  }
}
