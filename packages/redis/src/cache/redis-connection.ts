import { Redis, type RedisOptions } from 'ioredis';
import { CacheError } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { isRefusal, type RedisUrl } from '../redis-url.js';

/** Options of one connection. */
interface RedisConnectionOptions {
  readonly url: RedisUrl;
  readonly clock: Clock;
  /** Time limit of a command, in ms. */
  readonly timeoutMs: number;
  /** Called when the server starts or stops answering on this connection. */
  readonly onChange: () => void;
}

/** Interval in ms between probes of a healthy server, so that a hanging server is noticed without traffic. */
const WATCH_MS = 1_000;
/** Interval in ms between probes of a server that does not answer. */
const PROBE_MS = 250;
/**
 * Number of failed probes after which the connection is replaced, because the other end may have disappeared silently.
 */
const PROBES_PER_CONNECTION = 12;

/** The driver's error message for a command without a connection. */
const NOT_SENT = /^Stream isn't writeable/;

const OPTIONS = {
  // A command that fails now must not run later: its caller has continued without the cache.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => PROBE_MS,
  connectTimeout: 2_000,
  // A hanging server accepts connections without answering. The probes of this class detect that by PING.
  enableReadyCheck: false,
  disableClientInfo: true,
  protocol: 2,
} satisfies RedisOptions;

/** One connection to a Redis server. After a command that times out, no other one is sent until a PING is answered. */
export class RedisConnection {
  readonly #client: Redis;
  readonly #options: RedisConnectionOptions;
  #running = 0;
  #answers = false;
  #probes = 0;
  #stopProbe: (() => void) | undefined;
  #closed = false;
  #reason = '';

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
    const { places, tls, database, username, password } = options.url;
    // The parsed url, because the driver would parse it differently, and repeat it in its errors.
    this.#client = new Redis({
      ...OPTIONS,
      ...places[0],
      db: database,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls && { tls: {} }),
    });
    this.#client
      .on('error', ({ message }) => {
        this.#reason = message;
      })
      .on('ready', () => void this.#probe())
      .on('close', () => this.#lost());
  }

  /** The text of the last failure on this connection. Only the text, because the error may contain a password. */
  get reason(): string {
    return this.#reason;
  }

  /** True if the server answers on this connection. */
  get answers(): boolean {
    return this.#answers;
  }

  /** Number of running commands. */
  get running(): number {
    return this.#running;
  }

  /**
   * Runs a command.
   * @throws CacheError if the command fails or times out.
   */
  async call<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    this.#running++;
    try {
      return await this.#inTime(command(this.#client));
    } catch (error) {
      if (!isRefusal(error)) this.#lost(error);
      throw new CacheError('A command to Redis failed', { cause: error });
    } finally {
      this.#running--;
    }
  }

  /** Ends the connection. Running commands fail. */
  close(): void {
    this.#closed = true;
    this.#answers = false;
    this.#stopProbe?.();
    this.#client.disconnect();
  }

  /** Probes the server now. */
  look(): void {
    if (this.#answers) this.#probeIn(0);
  }

  #lost(error?: unknown): void {
    if (this.#closed) return;
    this.#note(error);
    const answered = this.#answers;
    this.#answers = false;
    this.#probeIn(PROBE_MS);
    if (answered) this.#options.onChange();
  }

  #probeIn(ms: number): void {
    this.#stopProbe?.();
    this.#stopProbe = this.#options.clock.after(ms, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    try {
      await this.#inTime(this.#client.ping());
    } catch (error) {
      return this.#answers ? this.#lost(error) : this.#stillSilent(error);
    }
    if (this.#closed) return;
    this.#probes = 0;
    this.#probeIn(WATCH_MS);
    if (this.#answers) return;
    this.#answers = true;
    this.#reason = '';
    this.#options.onChange();
  }

  /** Stores the reason of a failure. A command that was not sent has no reason of the server. */
  #note(error: unknown): void {
    if (!(error instanceof Error)) return;
    if (this.#reason === '' || !NOT_SENT.test(error.message)) this.#reason = error.message;
  }

  #stillSilent(error: unknown): void {
    if (this.#closed) return;
    this.#note(error);
    this.#probeIn(PROBE_MS);
    if (++this.#probes < PROBES_PER_CONNECTION) return;
    this.#probes = 0;
    this.#client.disconnect(true);
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    const { clock, timeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`no answer within ${timeoutMs} ms`));
      // The answer may have arrived while this process was busy: then it is read before the timeout applies.
      const cancel = clock.after(timeoutMs, () => clock.soon(late));
      answer.then(resolve, reject).finally(cancel);
    });
  }
}
