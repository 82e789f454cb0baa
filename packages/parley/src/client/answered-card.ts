import { decodeAgentCard } from '../codec/client-codecs.js';
import { AgentCardError } from '../errors/agent-card-error.js';
import { InvalidAgentResponseError } from '../errors/spec-errors.js';
import type { AgentCard } from '../model/agent-card.js';
import type { ReceivedCard, VerifiedCards } from './verified-cards.js';

/**
 * Reads a card that an agent answered. `verified` is undefined if signatures are not verified.
 * @throws AgentCardError `unverified`; InvalidAgentResponseError if the answer is no card.
 */
export async function answeredCard(received: ReceivedCard, verified: VerifiedCards | undefined): Promise<AgentCard> {
  try {
    return await (verified?.card(received) ?? decodeAgentCard(received.document));
  } catch (error) {
    if (!(error instanceof AgentCardError && error.fault === 'invalid')) throw error;
    throw new InvalidAgentResponseError(`the extended card is none: ${error.message}`);
  }
}
