/**
 * The reason why a call of another agent failed here. `depth`: the chain of calls is too long. `loop`: the callee is in
 * it already. `address`: the address may not be called. `time`: the callee took too long. `size`: it sent too much.
 */
export type AgentCallFault = 'depth' | 'loop' | 'address' | 'time' | 'size';

/** A call of another agent that was not made, or was given up. Local: no other agent sends it. */
export class AgentCallError extends Error {
  override readonly name = 'AgentCallError';
  readonly fault: AgentCallFault;

  constructor(fault: AgentCallFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}
