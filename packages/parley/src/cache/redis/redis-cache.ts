import type { ChainableCommander } from 'ioredis';
import { CacheError } from '../../errors/cache-error.js';
import { OptionsError } from '../../errors/options-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { AnswerCache, CacheLink } from '../answer-cache.js';
import { globMatcher } from '../glob.js';
import { isRefusal, RedisConnection } from './redis-connection.js';

/** Where the server is, and how it is used. */
export interface RedisCacheOptions {
  /** `redis://` or `rediss://`, with user, password and number of the database as usual. */
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What all names in Redis begin with; default `a2a:`. */
  readonly prefix?: string;
  /** Connections that are kept; two at least, and by default. */
  readonly connections?: number;
  /** How long a command may take, ms; 100 at most, default 40. */
  readonly timeoutMs?: number;
}

/** How long a cache that is being opened waits for the server before it goes on without. */
const OPEN_MS = 1_000;
/** The clocks of several processes that share a cache differ by less. */
const SKEW_MS = 60_000;
/** The list of keys outlives its last entry by as much. */
const LIST_MS = 86_400_000;

/** A cache in Redis or Valkey, shared by all processes that use the same server and prefix. */
export class RedisCache implements AnswerCache {
  readonly #options: RedisCacheOptions;
  readonly #prefix: string;
  readonly #list: string;
  readonly #connections: readonly RedisConnection[];
  readonly #opened = Promise.withResolvers<void>();
  #closed = false;
  #reachable: boolean | undefined;
  #refused = false;

  private constructor(options: RedisCacheOptions) {
    const { url, clock, prefix = 'a2a:', connections = 2, timeoutMs = 40 } = options;
    this.#options = options;
    this.#prefix = `${prefix}text:`;
    this.#list = `${prefix}keys`;
    const changed = () => this.#changed();
    this.#connections = Array.from(
      { length: connections },
      () => new RedisConnection({ url, clock, timeoutMs, changed }),
    );
  }

  /**
   * Resolves as soon as all connections are there, or after a second without them: a server that is gone is no reason not to start.
   * @throws OptionsError
   */
  static async open(options: RedisCacheOptions): Promise<RedisCache> {
    checkOptions(options);
    const cache = new RedisCache(options);
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

  /** The one with the least to do of those that answer. */
  #connection(): RedisConnection {
    let best: RedisConnection | undefined;
    for (const connection of this.#connections) {
      if (connection.answers && (best === undefined || connection.running < best.running)) best = connection;
    }
    if (best === undefined) throw new CacheError('Redis cannot be reached');
    return best;
  }

  /** All of the commands or none. */
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
    // What one connection has found out the others will in a moment.
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

  /** A server that is full or read-only: said once until it takes something again. */
  #tellRefused(error: unknown): void {
    const cause = error instanceof CacheError ? error.cause : undefined;
    if (this.#refused || !isRefusal(cause)) return;
    this.#refused = true;
    this.#tell('takes nothing', cause.message);
  }

  #tell(what: string, reason = 'no answer'): void {
    this.#options.logger.warn(`the cache ${what}: answers are made without it`, { ...this.#subject(), reason });
  }

  /** Never the whole url: there may be a password in it. */
  #subject() {
    return { server: URL.parse(this.#options.url)?.host ?? '' };
  }
}

function checkOptions({ url, connections = 2, timeoutMs = 40 }: RedisCacheOptions): void {
  const problems: string[] = [];
  if (!/^rediss?:$/.test(URL.parse(url)?.protocol ?? '')) problems.push('url: must be like redis://localhost:6379');
  if (!Number.isInteger(connections) || connections < 2) problems.push('connections: must be a number from 2 on');
  if (!(timeoutMs > 0 && timeoutMs <= 100)) problems.push('timeoutMs: must be a number up to 100');
  if (problems.length > 0) throw new OptionsError('The cache in Redis', problems);
}
