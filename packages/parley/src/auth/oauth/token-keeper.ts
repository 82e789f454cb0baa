import type { Clock } from '../../runtime/clock.js';
import { SharedWork } from '../credentials/shared-work.js';
import type { TokenStore, Tokens } from './tokens.js';

/** What a keeper works with. */
export interface TokenKeeperOptions {
  /** Gets new tokens, by the refresh token of the previous ones where they have one. */
  readonly obtain: (previous: Tokens | undefined, signal: AbortSignal) => Promise<Tokens>;
  readonly clock: Clock;
  readonly store?: TokenStore | undefined;
  /** What the store calls these tokens. */
  readonly key: string;
}

/** A token that took the place of a refused one and is refused so soon is not the problem; more of them would only load the authorization server. */
const SETTLING_MS = 1_000;

/** When a renewal that failed is tried again, as long as there is time. */
const AGAIN_MS = 1_000;

/** Tokens for one purpose: got when first needed, renewed shortly before they expire or when one is refused, by one request for all who wait. */
export class TokenKeeper {
  readonly #options: TokenKeeperOptions;
  readonly #renewal: SharedWork<Tokens>;
  #tokens: Tokens | undefined;
  /** When a refused one was last renewed, by the monotonic clock. */
  #replacedAt = Number.NEGATIVE_INFINITY;

  constructor(options: TokenKeeperOptions) {
    this.#options = options;
    this.#renewal = new SharedWork((signal) => this.#renewed(signal));
  }

  /** A token that is good as far as one can know. */
  async current(signal: AbortSignal | undefined): Promise<string> {
    const tokens =
      this.#isGood(this.#tokens) && !this.#renewal.isRunning ? this.#tokens : await this.#renewal.join(signal);
    return tokens.accessToken;
  }

  /** Whether there is another token than the one that was refused. */
  async renew(refused: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { clock } = this.#options;
    if (!this.#renewal.isRunning) {
      if (this.#tokens?.accessToken !== refused) return true;
      if (clock.monotonic() - this.#replacedAt < SETTLING_MS) return false;
      this.#tokens = { ...this.#tokens, renewAt: Number.NEGATIVE_INFINITY, expiresAt: Number.NEGATIVE_INFINITY };
    }
    const { accessToken } = await this.#renewal.join(signal);
    this.#replacedAt = clock.monotonic();
    return accessToken !== refused;
  }

  #isGood(tokens: Tokens | undefined): tokens is Tokens {
    return tokens !== undefined && this.#options.clock.now() < (tokens.renewAt ?? Number.POSITIVE_INFINITY);
  }

  async #renewed(signal: AbortSignal): Promise<Tokens> {
    const { store, key } = this.#options;
    const stored = await store?.load(key);
    // Another process may have renewed them.
    const isNew = stored !== undefined && stored.accessToken !== this.#tokens?.accessToken;
    const had = isNew ? stored : this.#tokens;
    const tokens = isNew && this.#isGood(had) ? had : await this.#obtained(had, signal);
    this.#tokens = tokens;
    if (tokens !== stored) await store?.save(key, tokens);
    return tokens;
  }

  /** Tokens are renewed before they expire: where that fails, they do for what is left of their time. */
  async #obtained(had: Tokens | undefined, signal: AbortSignal): Promise<Tokens> {
    const { obtain, clock } = this.#options;
    try {
      return await obtain(had, signal);
    } catch (error) {
      if (had?.expiresAt === undefined || had.expiresAt <= clock.now()) throw error;
      return { ...had, renewAt: clock.now() + AGAIN_MS };
    }
  }
}
