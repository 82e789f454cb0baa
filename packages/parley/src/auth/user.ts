/** Who is calling, as an authenticator found out. */
export interface User {
  /** Scheme or issuer plus subject: what tasks are owned by. Two users are the same exactly if their ids are. */
  readonly id: string;
  /** A name for people and logs. */
  readonly name?: string;
}
