/** The user of a call, as an authenticator found it. */
export interface User {
  /** Scheme or issuer plus subject. The id owns tasks: two users are the same if and only if their ids are equal. */
  readonly id: string;
  /** A name for people and logs. */
  readonly name?: string;
}
