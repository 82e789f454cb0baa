/** Identifiers as a port. */
export interface IdSource {
  /** A time-ordered id (UUIDv7) for tasks and contexts. Later ids sort after earlier ones. */
  ordered(): string;
  /** A random id (UUIDv4) for messages, artifacts and configurations. */
  random(): string;
}
