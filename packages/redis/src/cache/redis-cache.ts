import type { ChainableCommander } from 'ioredis';
import type { Logger } from 'parley-a2a';
import { CacheError, globMatcher, OptionsError } from 'parley-a2a/kit';
import type { AnswerCache, CacheLink, Clock } from 'parley-a2a/server';
import { isRefusal, parseRedisUrl, type RedisUrl, shownPlaces } from '../redis-url.js';
import { RedisConnection } from './redis-connection.js';

export type { AnswerCache, CacheConnections, CacheLink } from 'parley-a2a/server';

/** Options of a cache in Redis or Valkey. */
export interface OpenRedisCacheOptions {
  /** `redis://` or `rediss://`, with optional user, password and database number. */
  readonly url: string;
  /** Prefix of all keys. Default `a2a:`. */
  readonly prefix?: string;
  /** Number of open connections, at least 2. Default 2. */
  readonly connections?: number;
  /** Longest time of a command, in ms, at most 100. Default 40. */
  readonly timeoutMs?: number;
  /** Logs the start and the end of outages of the server. Default: warnings and errors to standard error. */
  readonly logger?: Logger;
}

/** The options with the ports that the library sets. */
interface RedisCacheOptions extends OpenRedisCacheOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Time limit for the connections during `open`, in ms. After it, the cache starts disconnected. */
const OPEN_MS = 1_000;
/** Maximum clock skew between processes that share a cache, in ms. */
const SKEW_MS = 60_000;
/** Time in ms that the list of keys is kept after the expiry of its last entry. */
const LIST_MS = 86_400_000;

/** A cache in Redis or Valkey, shared by all processes with the same server and prefix. */
export class RedisCache implements AnswerCache {
  readonly #options: RedisCacheOptions;
  readonly #prefix: string;
  readonly #list: string;
  readonly #server: string;
  readonly #connections: readonly RedisConnection[];
  readonly #opened = Promise.withResolvers<void>();
  #closed = false;
  #reachable: boolean | undefined;
  #refused = false;

  private constructor(options: RedisCacheOptions, url: RedisUrl) {
    const { clock, prefix = 'a2a:', connections = 2, timeoutMs = 40 } = options;
    this.#options = options;
    this.#server = shownPlaces(url.places);
    this.#prefix = `${prefix}text:`;
    this.#list = `${prefix}keys`;
    const onChange = () => this.#changed();
    this.#connections = Array.from(
      { length: connections },
      () => new RedisConnection({ url, clock, timeoutMs, onChange }),
    );
  }

  /**
   * Resolves when all connections are open, or after a second without them. An unreachable server does not prevent the
   * start.
   * @throws OptionsError
   */
  static async open(options: RedisCacheOptions): Promise<RedisCache> {
    const cache = new RedisCache(options, checkedUrl(options));
    const cancel = options.clock.after(OPEN_MS, () => cache.#opened.resolve());
    await cache.#opened.promise;
    cancel();
    if (cache.#reachable === undefined) cache.#tellLost();
    return cache;
  }

  get link(): CacheLink {
    const there = this.#connections.filter(({ answers }) => answers);
    const active = there.filter(({ running }) => running > 0).length;
    return {
      status: there.length > 0 ? 'connected' : 'disconnected',
      connections: { active, idle: there.length - active, total: there.length },
    };
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.#connection().call((client) => client.get(this.#prefix + key))) ?? undefined;
  }

  async set(key: string, text: string, ttlMs: number): Promise<void> {
    const now = this.#options.clock.now();
    const life = Math.max(1, Math.round(ttlMs));
    await this.#together((commands) =>
      commands
        .set(this.#prefix + key, text, 'PX', life)
        .zadd(this.#list, now + life, key)
        .zremrangebyscore(this.#list, '-inf', now - SKEW_MS)
        .pexpire(this.#list, life + LIST_MS),
    );
  }

  async invalidate(pattern: string): Promise<number> {
    const matches = globMatcher(pattern);
    const all = await this.#connection().call((client) => client.zrange(this.#list, 0, '-1'));
    const keys = all.filter(matches);
    if (keys.length === 0) return 0;
    const [dropped] = await this.#together((commands) =>
      commands.unlink(...keys.map((key) => this.#prefix + key)).zrem(this.#list, ...keys),
    );
    return Number(dropped);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const connection of this.#connections) connection.close();
  }

  /** Returns the responsive connection with the fewest running commands. */
  #connection(): RedisConnection {
    let best: RedisConnection | undefined;
    for (const connection of this.#connections) {
      if (connection.answers && (best === undefined || connection.running < best.running)) best = connection;
    }
    if (best === undefined) throw new CacheError('Redis cannot be reached');
    return best;
  }

  /** Runs all commands atomically. */
  async #together(add: (commands: ChainableCommander) => ChainableCommander): Promise<readonly unknown[]> {
    try {
      const results = await this.#connection().call(async (client) => {
        const replies = (await add(client.multi()).exec()) ?? [];
        const failed = replies.find(([error]) => error !== null);
        if (failed !== undefined) throw failed[0];
        return replies.map(([, reply]) => reply);
      });
      this.#refused = false;
      return results;
    } catch (error) {
      this.#tellRefused(error);
      throw error;
    }
  }

  #changed(): void {
    if (this.#closed) return;
    // Checks the other connections now, because they probably fail too.
    for (const connection of this.#connections) connection.look();
    if (this.#connections.every(({ answers }) => answers)) this.#opened.resolve();
    const reachable = this.#connections.some(({ answers }) => answers);
    if (reachable === this.#reachable) return;
    if (!reachable) return this.#tellLost();
    if (this.#reachable === false) this.#options.logger.warn('the cache is back', this.#subject());
    this.#reachable = true;
  }

  #tellLost(): void {
    this.#reachable = false;
    this.#tell('cannot be reached', this.#connections.find(({ reason }) => reason !== '')?.reason);
  }

  /** Logs once that a full or read-only server refuses writes, until a write succeeds again. */
  #tellRefused(error: unknown): void {
    const cause = error instanceof CacheError ? error.cause : undefined;
    if (this.#refused || !isRefusal(cause)) return;
    this.#refused = true;
    this.#tell('takes nothing', cause.message);
  }

  #tell(what: string, reason = 'no answer'): void {
    this.#options.logger.warn(`the cache ${what}: answers are made without it`, { ...this.#subject(), reason });
  }

  /** Without the url, which may contain a password. */
  #subject() {
    return { server: this.#server };
  }
}

/** Checks the options, and parses the url. */
function checkedUrl({ url: text, connections = 2, timeoutMs = 40 }: RedisCacheOptions): RedisUrl {
  const problems: string[] = [];
  const url = parseRedisUrl(text);
  if (url === undefined || url.places.length > 1 || url.settings.size > 0)
    problems.push('url: must be like redis://user:password@localhost:6379/0, with one server');
  if (!Number.isInteger(connections) || connections < 2) problems.push('connections: must be a number from 2 on');
  if (!(timeoutMs > 0 && timeoutMs <= 100)) problems.push('timeoutMs: must be a number up to 100');
  if (url === undefined || problems.length > 0) throw new OptionsError('The cache in Redis', problems);
  return url;
}
