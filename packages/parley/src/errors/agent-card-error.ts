/** Why no card came of a reference. */
export type AgentCardFault = 'not-found' | 'invalid' | 'ambiguous';

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
