/**
 * The data for a link that an agent builds: the callback address, and the state that must come back with the answer.
 */
export interface AuthorizationCallback {
  /** The callback endpoint of the agent; "" if the server has no public address. */
  readonly url: string;
  /** Identifies the request. It is random, valid for one task and one caller, and can be used once. */
  readonly state: string;
}

/** An authorization that an agent asks for in the middle of a task (Spec §7.6). */
export interface AuthorizationRequest {
  /** Shown to the caller: what to authorize, and why. */
  readonly message: string;
  /** The page where the caller authorizes the agent, such as the authorization endpoint of a provider. */
  readonly url?: string | ((callback: AuthorizationCallback) => string);
  /** The scheme of the credential, such as `oauth2`. */
  readonly scheme?: string;
  readonly scopes?: readonly string[];
  /** Time limit for the authorization, in ms, at most a hundred years. Default: the limit `authorizationMs`. */
  readonly expiresInMs?: number;
}

/** Encrypts secrets for the storage. A secret can be decrypted only at the place that it was encrypted for. */
export interface SecretSealer {
  seal(secret: string, place: readonly (string | null)[]): Promise<string>;
  open(text: string, place: readonly (string | null)[]): Promise<string>;
}

/**
 * The answer to a request for authorization. It is kept in memory, or encrypted in the storage if the server has keys.
 */
export interface Authorization {
  /** The parameters of the callback request, such as `code`. They are secrets. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The answer that arrived at the callback endpoint. */
export type AuthorizationReply =
  | ({ readonly kind: 'granted' } & Authorization)
  /** `reason`: the error code of the provider, such as `access_denied`. */
  | { readonly kind: 'denied'; readonly reason: string };

/**
 * Thrown if the authorization was refused or has expired. If the agent does not catch the error, its task fails with
 * this message.
 */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError';
  readonly reason: 'denied' | 'expired';

  constructor(reason: 'denied' | 'expired') {
    super(reason === 'denied' ? 'The authorization was refused.' : 'The authorization was not given in time.');
    this.reason = reason;
  }
}
