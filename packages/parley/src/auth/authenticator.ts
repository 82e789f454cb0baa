import type { User } from './user.js';

/** The part of a request that can prove who sends it. */
export interface Credentials {
  /** A header by lower-case name. */
  header(name: string): string | undefined;
}

/** Finds out who is calling. */
export interface Authenticator {
  /** HTTP challenges for a caller without valid credentials, such as `Bearer` (RFC 9110 §11.6.1). */
  readonly challenges: readonly string[];
  /** The user, or `undefined` where the credentials are missing or wrong. */
  authenticate(credentials: Credentials): Promise<User | undefined>;
}
