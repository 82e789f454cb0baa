import type { Message } from '../model/message.js';
import type { Lease } from './held-turn.js';
import type { Scope } from './task-key.js';

/** Unique within the scope. */
export interface IdempotencyKey {
  readonly key: string;
  /** Hash of the message's content. */
  readonly digest: string;
  /** The key expires so long after its commit, by the storage's clock. */
  readonly ttlMs: number;
  /** True for a key that the limits of messages do not touch: a message of another caller must not push it out. */
  readonly isLasting?: boolean;
}

/** The outcome of an earlier message with the same key. */
export interface Remembered {
  /** Hash of that message's content. */
  readonly digest: string;
  readonly outcome: { readonly taskId: string; readonly turn: number } | { readonly reply: Message };
}

/** The answer to a reservation. `taken`: another node finds out the outcome of a message with this digest. */
export type Reservation =
  | { readonly kind: 'reserved' }
  | { readonly kind: 'known'; readonly first: Remembered }
  | { readonly kind: 'taken'; readonly digest: string };

/**
 * The idempotency keys of messages, with the outcomes of those messages. The promises of
 * `TaskStorage` hold for each call.
 */
export interface IdempotencyKeys {
  /**
   * Reserves a key for the node that processes its message. The node extends the reservation by another call. Other
   * nodes may reserve the key after the end of the lease.
   */
  reserve(scope: Scope, key: IdempotencyKey, lease: Lease): Promise<Reservation>;
  /** Gives a reservation back that led to no outcome. */
  unreserve(scope: Scope, key: string, node: string): Promise<void>;
  /**
   * Keeps a direct reply for repeats of its message. The first outcome of a key wins: resolves to that. A storage of
   * one process bounds the bytes of all keys, and forgets the oldest ones. A shared storage keeps each key until it
   * expires.
   */
  remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered>;
  /** The known outcome of a key, unless the key has expired or its task is gone. */
  recall(scope: Scope, key: string): Promise<Remembered | undefined>;
}
