/** Connections of a pool: with a running command, without one, and all. */
export interface CacheConnections {
  readonly active: number;
  readonly idle: number;
  readonly total: number;
}

/** The connection of a cache to its server. */
export interface CacheLink {
  /** `connected` while the server answers. */
  readonly status: 'connected' | 'disconnected';
  readonly connections: CacheConnections;
}

/**
 * A cache of texts. Every call settles within 100 ms, also if its server is unreachable or hangs. Then it rejects with
 * a `CacheError`, and the caller goes on without the cache.
 */
export interface AnswerCache {
  /** The text of a key, unless it has expired. */
  get(key: string): Promise<string | undefined>;
  /** Stores a text for `ttlMs` and replaces the previous one. */
  set(key: string, text: string, ttlMs: number): Promise<void>;
  /** Deletes every key that matches a pattern of Redis (`*`, `?`, `[a-z]`, `[^a]`, `\`). Resolves to their number. */
  invalidate(pattern: string): Promise<number>;
  /** Absent if the texts are in this process. */
  readonly link?: CacheLink | undefined;
  /** Closes the connections. */
  close(): Promise<void>;
}
