import type { AgentCard } from '../model/agent-card.js';

/** The destination of credentials. */
export interface CredentialTarget {
  /** The latest card of the agent. Its schemes and requirements say what the agent asks for. */
  readonly card: AgentCard;
  /** The url of the call. */
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
}

/** Credentials of a request. Names of headers are lower case. */
export interface RequestCredentials {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** The credentials of a request without any. */
export const NO_CREDENTIALS: RequestCredentials = Object.freeze({});

/**
 * The credentials of a client. The client asks the provider before every call, so the provider keeps what it has
 * obtained. Calls may overlap. The client asks only for addresses of the origin of the card, unless the caller has
 * allowed others.
 */
export interface CredentialProvider {
  /** Resolves to the credentials of a request, or to none if the agent needs none. */
  credentials(target: CredentialTarget): Promise<RequestCredentials>;
  /**
   * Called once per call if the agent refuses the credentials with 401, or with 403 for lack of a scope. Resolves to
   * true if the provider has other credentials now, so that a second try makes sense.
   */
  refused?(target: CredentialTarget, refusal: CredentialRefusal): Promise<boolean>;
}

/** A refusal by 401, or by 403 for lack of a scope. */
export interface CredentialRefusal {
  /** The credentials that were sent. */
  readonly credentials: RequestCredentials;
  /** The challenges of the answer, as received. */
  readonly challenges: readonly string[];
}
