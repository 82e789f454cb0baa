import type { SecurityScheme } from '../model/security-scheme.js';
import type { User } from './user.js';

/** The part of a request that can prove who sends it. */
export interface Credentials {
  /** A header by lower-case name. */
  header(name: string): string | undefined;
  /** The query as sent, without `?`. */
  readonly query: string;
}

/** Finds out who is calling. */
export interface Authenticator {
  /** HTTP challenges for a caller without valid credentials, such as `Bearer` (RFC 9110 §11.6.1). */
  readonly challenges: readonly string[];
  /** How a card describes what can be presented here, by name of the scheme (spec §4.5.1). */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** The user, or `undefined` where the credentials are missing or wrong. */
  authenticate(credentials: Credentials): Promise<User | undefined>;
}
