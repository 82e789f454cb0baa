import type { SecurityScheme } from '../model/security-scheme.js';
import type { User } from './user.js';

/** The part of a request that can prove who sends it. */
export interface Credentials {
  /** A header by lower-case name. */
  header(name: string): string | undefined;
  /** The query as sent, without `?`. */
  readonly query: string;
}

/** Finds the user of a call. */
export interface Authenticator {
  /** HTTP challenges for a caller without valid credentials, such as `Bearer` (RFC 9110 §11.6.1). */
  readonly challenges: readonly string[];
  /** The schemes for the card, by name (Spec §4.5.1). */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** Resolves to the user, or to `undefined` if the credentials are missing or wrong. */
  authenticate(credentials: Credentials): Promise<User | undefined>;
}
