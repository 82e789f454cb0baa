import { type CredentialProvider, type CredentialTarget, NO_CREDENTIALS } from '../auth/credential-provider.js';
import type { User } from '../auth/user.js';
import { originOf } from '../client/credential-guard.js';
import type { AgentCard } from '../model/agent-card.js';

/** The callee, as input of a rule. */
export interface CalledAgent {
  /** The url as the agent wrote it. Absent for a card and for an agent of the same process. */
  readonly url: string | undefined;
  /** The card, if the agent passed one. It is not verified. */
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

/** Turns the result of a rule into credentials that go to its origin only, whatever the card says. */
export function handedCredentials({ origin, credentials }: HandedIdentity): CredentialProvider {
  const named = originOf(origin);
  const fits = ({ url }: CredentialTarget) => originOf(url) === named;
  return {
    credentials: async (target) => (fits(target) ? credentials.credentials(target) : NO_CREDENTIALS),
    refused: async (target, refusal) =>
      fits(target) && credentials.refused !== undefined ? credentials.refused(target, refusal) : false,
  };
}
