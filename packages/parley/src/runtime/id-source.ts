/** Identifiers as a port. */
export interface IdSource {
  /** A time-ordered id (UUIDv7), for tasks and contexts: what is stored later sorts after what was stored earlier. */
  ordered(): string;
  /** A random id (UUIDv4), for messages, artifacts, configurations. */
  random(): string;
}
