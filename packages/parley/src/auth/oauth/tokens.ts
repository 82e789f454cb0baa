/** What an authorization server gave. Times are wall-clock times in ms since the epoch. */
export interface Tokens {
  readonly accessToken: string;
  /** From when on it is renewed before it is used, shortly before it expires; absent: when it is refused. */
  readonly renewAt?: number;
  /** Until when it is good; absent: until it is refused. */
  readonly expiresAt?: number;
  readonly refreshToken?: string;
}

/** Keeps tokens beyond the life of a process. What it is given are secrets. */
export interface TokenStore {
  /** What was saved last under a key. */
  load(key: string): Promise<Tokens | undefined>;
  save(key: string, tokens: Tokens): Promise<void>;
}
