/** A limit that refused a request. For metrics and audit logs. */
export interface ReachedLimit {
  /** The name of the limit, such as `address`, `principal`, `streams` or `turns`. */
  readonly limit: string;
  /** The user or the address that it counts for. Absent: all callers together, or a caller without an address. */
  readonly caller?: string | undefined;
  /** The id of the request in the log. */
  readonly requestId?: string | undefined;
}
