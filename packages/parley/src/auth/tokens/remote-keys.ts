import type * as Jose from 'jose';
import { A2AError } from '../../errors/a2a-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import { type FoundKeys, KeySet, type TokenKeys } from './key-set.js';
import type { KeyTimes } from './token-options.js';

/** Options of `RemoteKeys`. */
interface RemoteKeysOptions {
  /** Reads the document with the keys. */
  readonly read: () => Promise<unknown>;
  /** The issuer of the tokens, for errors. */
  readonly issuer: string;
  readonly times: KeyTimes;
  readonly library: typeof Jose;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the keys are no longer the same. */
  readonly changed: () => void;
}

/** Time between two reads while there are no keys at all, in ms. */
const RETRY_MS = 1_000;

/**
 * The keys of an issuer, read when a token needs them. All waiting calls share one read. An unknown key id causes one
 * read per cooldown. While the issuer is down, the last keys count for a bounded time.
 */
export class RemoteKeys implements TokenKeys {
  readonly #options: RemoteKeysOptions;
  readonly #times: Required<KeyTimes>;
  #keys: { readonly set: KeySet; readonly readAt: number } | undefined;
  #attempt: { readonly at: number; failed: boolean } | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: RemoteKeysOptions) {
    this.#options = options;
    this.#times = { maxAgeMs: 600_000, cooldownMs: 30_000, staleMs: 3_600_000, ...options.times };
  }

  find(header: Jose.ProtectedHeaderParameters, mayRead: () => boolean): FoundKeys | Promise<FoundKeys> {
    const known = this.#age > this.#times.maxAgeMs ? undefined : this.#keys?.set.known(header);
    return known ?? this.#findCurrent(header, mayRead);
  }

  async #findCurrent(header: Jose.ProtectedHeaderParameters, mayRead: () => boolean): Promise<FoundKeys> {
    if (this.#age > this.#times.maxAgeMs) {
      if (!mayRead()) return [];
      await this.#read();
    }
    if (this.#age > this.#times.maxAgeMs + this.#times.staleMs) throw this.#unavailable();
    const found = await this.#candidates(header);
    if (found.length > 0 || !mayRead()) return found;
    await this.#read();
    const later = await this.#candidates(header);
    // The key may be newer than the last read.
    if (later.length === 0 && this.#attempt?.failed === true) throw this.#unavailable();
    return later;
  }

  get #age(): number {
    return this.#keys === undefined ? Number.POSITIVE_INFINITY : this.#now - this.#keys.readAt;
  }

  get #now(): number {
    return this.#options.clock.monotonic();
  }

  async #candidates(header: Jose.ProtectedHeaderParameters): Promise<readonly Jose.CryptoKey[]> {
    return (await this.#keys?.set.find(header)) ?? [];
  }

  /** Joins the running read, or starts one unless the last one was a short time ago. */
  #read(): Promise<void> {
    const pause = this.#age > this.#times.maxAgeMs + this.#times.staleMs ? RETRY_MS : this.#times.cooldownMs;
    if (this.#reading === undefined && (this.#attempt === undefined || this.#now - this.#attempt.at >= pause)) {
      this.#reading = this.#readNow().finally(() => {
        this.#reading = undefined;
      });
    }
    return this.#reading ?? Promise.resolve();
  }

  async #readNow(): Promise<void> {
    const { read, library, clock, logger, changed, issuer } = this.#options;
    const attempt = { at: this.#now, failed: false };
    try {
      const set = KeySet.read(await read(), { library, now: clock.now() });
      const isChanged = this.#keys !== undefined && this.#keys.set.text !== set.text;
      // An equal set keeps its imported keys.
      this.#keys = { set: isChanged || this.#keys === undefined ? set : this.#keys.set, readAt: this.#now };
      if (isChanged) changed();
    } catch (error) {
      attempt.failed = true;
      logger.warn('The keys of an issuer cannot be read', { issuer, error: reasonOf(error) });
    }
    this.#attempt = attempt;
  }

  #unavailable(): A2AError {
    return unavailable(`The keys of ${this.#options.issuer} cannot be read now`);
  }
}

/** The error for a caller whose token cannot be checked now: neither valid nor invalid. */
export function unavailable(message: string): A2AError {
  return new A2AError('UNAVAILABLE', message, { retryAfterMs: RETRY_MS });
}

/** The message of an error, with that of its cause: `fetch` of Node.js has the reason there. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
