import type { AgentCard, AgentExecutor } from 'parley-a2a/server';

/** An example agent as the server mounts it: what its card says, and what runs. */
export interface ExampleAgent {
  readonly card: Omit<AgentCard, 'supportedInterfaces'>;
  readonly executor: AgentExecutor;
  /** What a caller who proves to know the token sees instead of the card. */
  readonly extended?: { readonly card: Omit<AgentCard, 'supportedInterfaces'>; readonly token: string };
}
