import type { AgentCard, AgentInterface } from '../model/agent-card.js';

const BOUND = new WeakMap<AgentCard, readonly AgentInterface[]>();

/**
 * Keeps the interfaces that the server of a card serves, also those that the card does not list. Copies of the card
 * lose them. Returns the card.
 */
export function withBoundInterfaces(card: AgentCard, bound: readonly AgentInterface[]): AgentCard {
  BOUND.set(card, bound);
  return card;
}

/** The interfaces that the server of a card serves. Default: those that the card lists. */
export function boundInterfaces(card: AgentCard): readonly AgentInterface[] {
  return BOUND.get(card) ?? card.supportedInterfaces;
}
