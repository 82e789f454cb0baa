/** Identifiers as a port. */
export interface IdSource {
  /** A time-ordered id (UUIDv7), for tasks: ids of later tasks sort after those of earlier ones. */
  ordered(): string;
  /** A random id (UUIDv4), for contexts, messages, artifacts, configurations. */
  random(): string;
}
