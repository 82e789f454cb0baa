/** Why no card came of a reference; `unverified`: none of its signatures is by a key that the caller trusts. */
export type AgentCardFault = 'not-found' | 'invalid' | 'ambiguous' | 'unverified';

/** A reference that leads to no agent card. Local: made by clients before any call. */
export class AgentCardError extends Error {
  override readonly name = 'AgentCardError';
  readonly fault: AgentCardFault;
  /** The identifiers to choose from, where several agents are listed. */
  readonly choices: readonly string[];

  constructor(fault: AgentCardFault, message: string, choices: readonly string[] = []) {
    super(message);
    this.fault = fault;
    this.choices = choices;
  }
}
