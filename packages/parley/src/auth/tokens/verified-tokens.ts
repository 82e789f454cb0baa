import type { Clock } from '../../runtime/clock.js';
import type { Authentication } from '../authenticator.js';
import type { User } from '../user.js';

/** Limits of a cache of verified tokens. */
export interface VerifiedTokensLimits {
  /** Default 10,000. The least recently used token goes first. */
  readonly maxTokens?: number;
  /** Longest time without a new check, in ms. Default and maximum: 60,000. Zero: every call is checked. */
  readonly maxAgeMs?: number;
}

interface Entry {
  readonly verified: Authentication;
  /** In ms of the monotonic clock. */
  readonly checkedAt: number;
  /** In ms since the epoch. */
  readonly expiresAt: number;
}

/** The longest time in which a revoked token may still count. */
export const LONGEST_AGE_MS = 60_000;

/** The users of verified tokens by the hash of the token. The cache holds no token. */
export class VerifiedTokens {
  readonly #clock: Clock;
  readonly #maxTokens: number;
  readonly #maxAgeMs: number;
  /** In order of use, the least recently used first. */
  #entries = new Map<string, Entry>();
  #generation = 0;

  constructor({ clock, maxTokens = 10_000, maxAgeMs = LONGEST_AGE_MS }: VerifiedTokensLimits & { clock: Clock }) {
    this.#clock = clock;
    this.#maxTokens = maxTokens;
    this.#maxAgeMs = Math.min(maxAgeMs, LONGEST_AGE_MS);
  }

  /** Grows when the cache is cleared. A check that began before must not be added after that. */
  get generation(): number {
    return this.#generation;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The result for a token with this hash, if it was verified a short time ago and has not expired. */
  get(hash: string): Authentication | undefined {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return undefined;
    this.#entries.delete(hash);
    if (!this.#isCurrent(entry)) return undefined;
    this.#entries.set(hash, entry);
    return entry.verified;
  }

  /** Adds a result, unless the cache was cleared since the check began in `generation`. */
  add(hash: string, user: User, generation: number): void {
    if (generation !== this.#generation || this.#maxAgeMs === 0 || this.#maxTokens === 0) return;
    const { expiresAt = Number.POSITIVE_INFINITY } = user;
    this.#entries.set(hash, { verified: { kind: 'user', user }, checkedAt: this.#clock.monotonic(), expiresAt });
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= this.#maxTokens && this.#isCurrent(entry)) break;
      this.#entries.delete(oldest);
    }
  }

  /** Removes the tokens of a user, or all tokens. */
  clear(userId?: string): void {
    this.#generation += 1;
    if (userId === undefined) {
      this.#entries = new Map();
      return;
    }
    for (const [hash, { verified }] of this.#entries) {
      if (verified.kind === 'user' && verified.user.id === userId) this.#entries.delete(hash);
    }
  }

  #isCurrent({ checkedAt, expiresAt }: Entry): boolean {
    return this.#clock.monotonic() - checkedAt < this.#maxAgeMs && this.#clock.now() < expiresAt;
  }
}
