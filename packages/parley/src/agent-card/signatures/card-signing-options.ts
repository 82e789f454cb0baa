/** A key as JSON (RFC 7517): EC, Ed25519 or RSA. */
export interface CardJwk {
  readonly kty: string;
  /** The name of the key in signatures; default: its thumbprint (RFC 7638). */
  readonly kid?: string;
  /** Default: ES256, ES384 or ES512 by the curve, EdDSA for Ed25519, RS256 for RSA. */
  readonly alg?: string;
  readonly [member: string]: unknown;
}

/** The signatures of the cards of a server (Spec §8.4). */
export interface CardSigningOptions {
  /**
   * Private keys, each of which signs every card. A public key signs nothing and is only published, so that earlier
   * signatures of it stay valid.
   */
  readonly keys: readonly CardJwk[];
}
