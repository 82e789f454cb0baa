import type { AgentCard, AgentInterface } from './agent-card.js';

/** The cards that list an interface: all cards, the extended one only, or none. */
export const LISTED = ['public', 'extended', 'never'] as const;

/** The cards that list an interface. The server serves it in any case. */
export type Listed = (typeof LISTED)[number];

/** An interface that a server serves. */
export interface BoundInterface extends AgentInterface {
  /** Default `public`. */
  readonly listed?: Listed;
}

/** The interfaces whose `listed` is one of `places`, as a card shows them. */
export function listedInterfaces(
  bound: readonly BoundInterface[],
  places: readonly Listed[],
): readonly AgentInterface[] {
  return bound.flatMap(({ listed = 'public', ...one }) => (places.includes(listed) ? [one] : []));
}

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
