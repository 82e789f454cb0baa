/** Connections of a pool: those with a command under way, those without, and both. */
export interface CacheConnections {
  readonly active: number;
  readonly idle: number;
  readonly total: number;
}

/** How a cache stands to a server of its own. */
export interface CacheLink {
  /** `connected` as long as the server answers. */
  readonly status: 'connected' | 'disconnected';
  readonly connections: CacheConnections;
}

/**
 * Texts that are kept for a while under a key. Every call settles within 100 ms, also where a server behind it is gone or hangs:
 * then it rejects with a `CacheError`, and its caller goes on without.
 */
export interface AnswerCache {
  /** The text under a key, unless its time is over. */
  get(key: string): Promise<string | undefined>;
  /** Keeps a text for `ttlMs`, in place of what was there. */
  set(key: string, text: string, ttlMs: number): Promise<void>;
  /** Drops every key that a pattern matches, as Redis has them (`*`, `?`, `[a-z]`, `[^a]`, `\`), and tells how many. */
  invalidate(pattern: string): Promise<number>;
  /** Absent where the texts are kept in this process. */
  readonly link?: CacheLink | undefined;
  /** Lets go of what it holds. */
  close(): Promise<void>;
}
