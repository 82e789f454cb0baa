import type { Clock } from '../../runtime/clock.js';
import type { Authentication } from '../authenticator.js';

/** Limits of a cache of verified tokens. */
export interface VerifiedTokensLimits {
  /** Default 10,000. Tokens that were not used for a long time go first. */
  readonly maxTokens?: number;
  /** Longest time without a new check, in ms. Default and maximum: 60,000. Zero: every call is checked. */
  readonly maxAgeMs?: number;
}

/** The result for a valid token. `thumbprint`: that of the certificate to which the token is bound, in hex. */
export type VerifiedUser = Extract<Authentication, { readonly kind: 'user' }> & { readonly thumbprint?: string };

interface Entry {
  readonly verified: VerifiedUser;
  /** In ms of the monotonic clock. */
  readonly checkedAt: number;
}

/** The longest time in which a revoked token may still count. */
const LONGEST_AGE_MS = 60_000;

/**
 * The users of verified tokens by the hash of the token; the tokens themselves are not stored. The cache has two
 * generations, so that a hit writes nothing: when the recent one is full, it replaces the earlier one.
 */
export class VerifiedTokens {
  readonly #clock: Clock;
  readonly #half: number;
  /** Longest time without a new check, in ms. */
  readonly maxAgeMs: number;
  #recent = new Map<string, Entry>();
  #earlier = new Map<string, Entry>();
  #generation = 0;

  constructor({ clock, maxTokens = 10_000, maxAgeMs = LONGEST_AGE_MS }: VerifiedTokensLimits & { clock: Clock }) {
    this.#clock = clock;
    this.#half = Math.floor(maxTokens / 2);
    this.maxAgeMs = Math.min(maxAgeMs, LONGEST_AGE_MS);
  }

  /** Incremented when the cache is cleared. The result of a check that began before must not be added. */
  get generation(): number {
    return this.#generation;
  }

  get size(): number {
    return this.#recent.size + this.#earlier.size;
  }

  /** The result for a token with this hash, if it was verified a short time ago and has not expired. */
  get(hash: string): VerifiedUser | undefined {
    const recent = this.#recent.get(hash);
    const entry = recent ?? this.#earlier.get(hash);
    if (entry === undefined || !this.#isCurrent(entry)) return undefined;
    if (recent === undefined) this.#put(hash, entry);
    return entry.verified;
  }

  /** Adds a result, unless the cache was cleared since the check began in `generation`. */
  add(hash: string, verified: VerifiedUser, generation: number): void {
    if (generation !== this.#generation || this.#half === 0) return;
    this.#put(hash, { verified, checkedAt: this.#clock.monotonic() });
  }

  /** Removes the tokens of a user, or all tokens. */
  clear(userId?: string): void {
    this.#generation += 1;
    for (const half of [this.#recent, this.#earlier]) {
      for (const [hash, { verified }] of half) {
        if (userId === undefined || verified.user.id === userId) half.delete(hash);
      }
    }
  }

  /**
   * The earlier generation may still have an older entry, which is not read as long as the recent one has the token.
   */
  #put(hash: string, entry: Entry): void {
    if (this.#recent.size >= this.#half) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(hash, entry);
  }

  #isCurrent({ verified, checkedAt }: Entry): boolean {
    const { expiresAt } = verified.user;
    if (expiresAt !== undefined && this.#clock.now() >= expiresAt) return false;
    return this.#clock.monotonic() - checkedAt < this.maxAgeMs;
  }
}
