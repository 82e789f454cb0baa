/**
 * The data for a link that an agent builds: the address that gets the answer, and the state that the answer must bring.
 */
export interface AuthorizationCallback {
  /** The callback endpoint of the agent; "" if the server knows no address of its own. */
  readonly url: string;
  /** Names the request. It is random, belongs to one task and one caller, and works once. */
  readonly state: string;
}

/** An authorization that an agent asks for in the middle of a task (Spec §7.6). */
export interface AuthorizationRequest {
  /** Tells the caller what to authorize, and why. */
  readonly message: string;
  /** The page where the caller authorizes the agent, such as the authorization endpoint of a provider. */
  readonly url?: string | ((callback: AuthorizationCallback) => string);
  /** The scheme of the credential, such as `oauth2`. */
  readonly scheme?: string;
  readonly scopes?: readonly string[];
  /** The time in which the credential must arrive, in ms. Default: the limit `authorizationMs` of the engine. */
  readonly expiresInMs?: number;
}

/** Encrypts secrets for the storage. A secret opens only at the place that it was encrypted for. */
export interface SecretSealer {
  seal(secret: string, place: readonly (string | null)[]): Promise<string>;
  open(text: string, place: readonly (string | null)[]): Promise<string>;
}

/** The answer to a request for authorization. It is kept in memory, or encrypted if the server has keys. */
export interface Authorization {
  /** The parameters that came with the state, such as `code`. They are secrets. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The answer that arrived at the callback endpoint. */
export type AuthorizationReply =
  | ({ readonly kind: 'granted' } & Authorization)
  /** `reason`: the error code of the provider, such as `access_denied`. */
  | { readonly kind: 'denied'; readonly reason: string };

/** The agent gets no authorization. If it does not catch the error, its task fails with this message. */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError';
  readonly reason: 'denied' | 'expired';

  constructor(reason: 'denied' | 'expired') {
    super(reason === 'denied' ? 'The authorization was refused.' : 'The authorization was not given in time.');
    this.reason = reason;
  }
}
