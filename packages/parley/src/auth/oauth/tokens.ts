/** Tokens of an authorization server. Times are wall-clock times in ms since the epoch. */
export interface Tokens {
  readonly accessToken: string;
  /** Time of the renewal, shortly before the token expires. Absent: renewed after a refusal. */
  readonly renewAt?: number;
  /** End of validity. Absent: valid until refused. */
  readonly expiresAt?: number;
  readonly refreshToken?: string;
}

/** Keeps tokens beyond the life of a process. The tokens are secrets. */
export interface TokenStore {
  /** The tokens that were last saved under a key. */
  load(key: string): Promise<Tokens | undefined>;
  save(key: string, tokens: Tokens): Promise<void>;
}
