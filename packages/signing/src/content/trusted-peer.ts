import type { PublicJwk } from 'parley-a2a/client';

/** A peer whose signatures count, and its keys: given ones, or those at a url. */
export interface TrustedPeer {
  /** The name of the peer for the application. */
  readonly id: string;
  /** Public keys (RFC 7517), each with a `kid`. */
  readonly keys?: readonly PublicJwk[] | { readonly keys: readonly PublicJwk[] };
  /** The https url of a key set (RFC 7517 §5). Private addresses need the option `allow`. */
  readonly jwksUrl?: string;
  /** The id of the only user whose messages the peer signs. Default: any caller. */
  readonly user?: string;
}

/** The keys of a peer, without its name. */
export type PeerKeySource = Pick<TrustedPeer, 'keys' | 'jwksUrl'>;

/**
 * The callers who may name a key for answers.
 * - `caller`: an authenticated caller whose signer is bound to it, or an anonymous one whose signer began the task.
 * - `signer`: any caller with a trusted signer.
 */
export type AnswerKeyRule = 'caller' | 'signer';
