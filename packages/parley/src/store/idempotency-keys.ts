import type { Message } from '../model/message.js';
import type { Lease } from './held-turn.js';
import type { Scope } from './task-key.js';

/** Unique within the scope. */
export interface IdempotencyKey {
  readonly key: string;
  /** Hash of the message's content. */
  readonly digest: string;
  /** Lifetime of the key in ms from its commit, by the storage's clock. */
  readonly ttlMs: number;
  /**
   * True for a key that is not evicted by the limits of message keys, so that messages of another caller cannot push it
   * out.
   */
  readonly isLasting?: boolean;
}

/** The outcome of an earlier message with the same key. */
export interface Remembered {
  /** Hash of that message's content. */
  readonly digest: string;
  readonly outcome: { readonly taskId: string; readonly turn: number } | { readonly reply: Message };
}

/** The answer to a reservation. `taken`: another node is processing a message with this digest. */
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
   * Reserves a key for the node that processes its message. The node extends the reservation with another call. After
   * the end of the lease, other nodes may reserve the key.
   */
  reserve(scope: Scope, key: IdempotencyKey, lease: Lease): Promise<Reservation>;
  /** Releases a reservation without an outcome. */
  unreserve(scope: Scope, key: string, node: string): Promise<void>;
  /**
   * Stores a direct reply for repeats of its message. Resolves to the first stored outcome of the key. A storage of one
   * process limits the bytes of all keys, and evicts the oldest ones. A shared storage keeps each key until it expires.
   */
  remember(scope: Scope, key: IdempotencyKey, reply: Message): Promise<Remembered>;
  /** Returns the outcome of a key, unless the key has expired or its task was deleted. */
  recall(scope: Scope, key: string): Promise<Remembered | undefined>;
}
