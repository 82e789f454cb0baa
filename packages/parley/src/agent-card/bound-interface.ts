import type { AgentInterface } from '../model/agent-card.js';

/** The cards that list an interface: all cards, the extended one only, or none. */
export const LISTED = ['public', 'extended', 'never'] as const;

/** The cards that list an interface. The server serves it in any case. */
export type Listed = (typeof LISTED)[number];

/** An interface that a server serves. */
export interface BoundInterface extends AgentInterface {
  /** Default `public`. */
  readonly listed?: Listed;
}

/** The interfaces for a card that lists these ones. */
export function listedInterfaces(
  bound: readonly BoundInterface[],
  places: readonly Listed[],
): readonly AgentInterface[] {
  return bound.flatMap(({ listed = 'public', ...one }) => (places.includes(listed) ? [one] : []));
}
