import { CredentialsError } from '../../errors/credentials-error.js';
import type { Clock } from '../../runtime/clock.js';
import { isTime } from '../authenticator.js';
import { SharedWork } from '../credentials/shared-work.js';
import type { TokenStore, Tokens } from './tokens.js';

/** Options of a token keeper. */
interface TokenKeeperOptions {
  /** Requests new tokens, with the refresh token of the previous ones if they have one. */
  readonly obtain: (previous: Tokens | undefined, signal: AbortSignal) => Promise<Tokens>;
  readonly clock: Clock;
  readonly store?: TokenStore | undefined;
  /** The key of these tokens in the store. */
  readonly key: string;
}

/**
 * If a new token is refused within this time, the token is not the cause. Another renewal would only load the
 * authorization server.
 */
const SETTLING_MS = 1_000;

/** Pause after a failed renewal, while the old token is valid. */
const AGAIN_MS = 1_000;

/**
 * Tokens for one purpose. Requested at first use, and renewed shortly before they expire or after a refusal. One
 * request serves all waiting calls.
 */
export class TokenKeeper {
  readonly #options: TokenKeeperOptions;
  readonly #renewal: SharedWork<Tokens>;
  #tokens: Tokens | undefined;
  /** Monotonic time of the last renewal after a refusal. */
  #replacedAt = Number.NEGATIVE_INFINITY;

  constructor(options: TokenKeeperOptions) {
    this.#options = options;
    this.#renewal = new SharedWork((signal) => this.#renewTokens(signal));
  }

  /** A token that is valid as far as the client can know. */
  async current(signal: AbortSignal | undefined): Promise<string> {
    const tokens =
      this.#isGood(this.#tokens) && !this.#renewal.isRunning ? this.#tokens : await this.#renewal.join(signal);
    return tokens.accessToken;
  }

  /** Resolves to true if there is another token than the refused one. */
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

  async #renewTokens(signal: AbortSignal): Promise<Tokens> {
    const { store, key } = this.#options;
    const stored = await store?.load(key);
    if (stored !== undefined) checkStored(stored);
    // Another process may have renewed them.
    const isNew = stored !== undefined && stored.accessToken !== this.#tokens?.accessToken;
    const had = isNew ? stored : this.#tokens;
    const tokens = isNew && this.#isGood(had) ? had : await this.#obtainOnce(had, signal);
    this.#tokens = tokens;
    if (tokens !== stored) await store?.save(key, tokens);
    return tokens;
  }

  /** Tokens are renewed before they expire. If that fails, the old ones serve until they expire. */
  async #obtainOnce(had: Tokens | undefined, signal: AbortSignal): Promise<Tokens> {
    const { obtain, clock } = this.#options;
    try {
      return await obtain(had, signal);
    } catch (error) {
      if (had?.expiresAt === undefined || had.expiresAt <= clock.now()) throw error;
      return { ...had, renewAt: clock.now() + AGAIN_MS };
    }
  }
}

function checkStored({ accessToken, renewAt, expiresAt, refreshToken }: Tokens): void {
  const wrong = Object.entries({
    accessToken: typeof accessToken === 'string',
    renewAt: isTime(renewAt),
    expiresAt: isTime(expiresAt),
    refreshToken: refreshToken === undefined || typeof refreshToken === 'string',
  }).find(([, isRight]) => !isRight);
  if (wrong === undefined) return;
  const form = wrong[0].endsWith('At') ? 'a number of ms since the epoch' : 'a text';
  throw new CredentialsError('missing', `load() of the token store gave a wrong ${wrong[0]}: must be ${form}`);
}
