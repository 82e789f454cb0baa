import type { AgentCard } from '../model/agent-card.js';

/** Where credentials are about to be sent. */
export interface CredentialTarget {
  /** The card, whose schemes and requirements say what is wanted; its latest form. */
  readonly card: AgentCard;
  /** The url that is called. */
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
}

/** Credentials as a request carries them. Names of headers are lower case. */
export interface RequestCredentials {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Those of a request that carries none. */
export const NO_CREDENTIALS: RequestCredentials = Object.freeze({});

/**
 * The credentials of a client. Asked before every call, so it keeps what it has obtained; calls may overlap. It is asked for addresses of
 * the card's own origin only, unless the caller has allowed others.
 */
export interface CredentialProvider {
  /** What the request is to carry; nothing where the agent wants nothing. */
  credentials(target: CredentialTarget): Promise<RequestCredentials>;
  /**
   * Told once per call that the agent answered 401 to what this provider gave, or 403 for lack of a scope. Whether other credentials are there now, so that the call
   * is worth a second try.
   */
  refused?(target: CredentialTarget, refusal: CredentialRefusal): Promise<boolean>;
}

/** An answer 401, or 403 for lack of a scope. */
export interface CredentialRefusal {
  /** What was sent. */
  readonly credentials: RequestCredentials;
  /** The challenges of the answer, as sent. */
  readonly challenges: readonly string[];
}
