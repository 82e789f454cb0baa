import { Redis, type RedisOptions } from 'ioredis';
import { CacheError } from '../../errors/cache-error.js';
import type { Clock } from '../../runtime/clock.js';

/** What one connection needs. */
export interface RedisConnectionOptions {
  readonly url: string;
  readonly clock: Clock;
  /** How long a command may take. */
  readonly timeoutMs: number;
  /** Told whenever the server begins or ceases to answer here. */
  readonly changed: () => void;
}

/** Between two looks at a server that answers, so that one that hangs is noticed also while nobody asks it anything. */
const WATCH_MS = 1_000;
/** Between two looks at one that does not. */
const PROBE_MS = 250;
/** Looks in vain after which the connection is made anew: the other end may be gone without a word. */
const PROBES_PER_CONNECTION = 12;

const OPTIONS = {
  // What cannot be done now is not to be done later: its caller has gone on without.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => PROBE_MS,
  connectTimeout: 2_000,
  // A frozen server accepts connections and says nothing: whether it answers is found out here, by PING.
  enableReadyCheck: false,
  disableClientInfo: true,
  protocol: 2,
} satisfies RedisOptions;

/**
 * One connection to a Redis server. It is in order only while the server answers in time: after the first command that takes too
 * long no other one is tried until a PING comes back.
 */
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
    this.#client = new Redis(options.url, OPTIONS);
    this.#client
      .on('error', ({ message }) => {
        this.#reason = message;
      })
      .on('ready', () => void this.#probe())
      .on('close', () => this.#lost());
  }

  /** Why the server did not answer here the last time that it did not; the text only, as the error may hold a password. */
  get reason(): string {
    return this.#reason;
  }

  /** Whether the server answers here. */
  get answers(): boolean {
    return this.#answers;
  }

  /** Commands under way. */
  get running(): number {
    return this.#running;
  }

  /**
   * Has the server do something.
   * @throws CacheError when it cannot, or not in time.
   */
  async call<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    this.#running++;
    try {
      return await this.#inTime(command(this.#client));
    } catch (error) {
      if (!isRefusal(error)) this.#lost(error);
      throw new CacheError('Redis did not do what it was asked', { cause: error });
    } finally {
      this.#running--;
    }
  }

  /** Ends the connection; commands under way fail. */
  close(): void {
    this.#closed = true;
    this.#answers = false;
    this.#stopProbe?.();
    this.#client.disconnect();
  }

  /** Finds out now whether the server still answers. */
  look(): void {
    if (this.#answers) this.#probeIn(0);
  }

  #lost(error?: unknown): void {
    if (this.#closed) return;
    if (error instanceof Error) this.#reason = error.message;
    const answered = this.#answers;
    this.#answers = false;
    this.#probeIn(PROBE_MS);
    if (answered) this.#options.changed();
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
    this.#options.changed();
  }

  #stillSilent(error: unknown): void {
    if (this.#closed) return;
    if (error instanceof Error) this.#reason = error.message;
    this.#probeIn(PROBE_MS);
    if (++this.#probes < PROBES_PER_CONNECTION) return;
    this.#probes = 0;
    this.#client.disconnect(true);
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    const { clock, timeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`no answer within ${timeoutMs} ms`));
      // An answer that came while this process was busy is there already, and only has to be read.
      const cancel = clock.after(timeoutMs, () => clock.soon(late));
      answer.then(resolve, reject).finally(cancel);
    });
  }
}

/** Whether the server itself has said no, which is an answer, too. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
