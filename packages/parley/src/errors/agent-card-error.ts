import { beginAtCaller } from './callers-stack.js';

/** The reason why no card was found. `unverified`: no trusted key has signed the card. */
export type AgentCardFault = 'not-found' | 'invalid' | 'ambiguous' | 'unverified';

/** A client found no usable agent card. Local: thrown before any call. */
export class AgentCardError extends Error {
  override readonly name = 'AgentCardError';
  readonly fault: AgentCardFault;
  /** Identifiers to choose from, if a catalog lists several agents. */
  readonly choices: readonly string[];

  constructor(fault: AgentCardFault, message: string, choices: readonly string[] = []) {
    super(message);
    this.fault = fault;
    this.choices = choices;
    beginAtCaller(this);
  }
}
