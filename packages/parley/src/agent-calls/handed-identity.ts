import { type CredentialProvider, type CredentialTarget, NO_CREDENTIALS } from '../auth/credential-provider.js';
import type { User } from '../auth/user.js';
import { originOf } from '../client/credential-guard.js';
import type { AgentCard } from '../model/agent-card.js';

/** The agent that a rule decides about. */
export interface CalledAgent {
  /** The url as the agent gave it. Absent for a card and for an agent of the same process. */
  readonly url: string | undefined;
  /** The card, if the agent gave one. It is not checked. */
  readonly card: AgentCard | undefined;
}

/** Credentials for one origin. */
export interface HandedIdentity {
  /** The only origin that gets them, such as `https://agents.example.com`. */
  readonly origin: string;
  readonly credentials: CredentialProvider;
}

/** Decides which credentials a callee gets for a caller. `undefined`: none. */
export type IdentityRule = (
  user: User | undefined,
  callee: CalledAgent,
) => HandedIdentity | undefined | Promise<HandedIdentity | undefined>;

/** The credentials of a rule. No other origin than the named one gets them, whatever a card says. */
export function handedCredentials({ origin, credentials }: HandedIdentity): CredentialProvider {
  const named = originOf(origin);
  const fits = ({ url }: CredentialTarget) => originOf(url) === named;
  return {
    credentials: async (target) => (fits(target) ? credentials.credentials(target) : NO_CREDENTIALS),
    refused: async (target, refusal) =>
      fits(target) && credentials.refused !== undefined ? credentials.refused(target, refusal) : false,
  };
}
