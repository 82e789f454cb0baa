/** A public key as JSON (RFC 7517). Signatures refer to it by `kid`. */
export interface PublicJwk {
  readonly kty: string;
  readonly kid?: string;
  readonly [member: string]: unknown;
}

/** A public key of the Web Crypto API. */
export type VerificationKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A key and the `kid` by which signatures refer to it. */
export interface NamedKey {
  readonly kid: string;
  readonly key: VerificationKey;
}

/** The trusted signers of cards. */
export interface SignatureTrust {
  /** Keys with their `kid`, or a key set (RFC 7517 §5). These keys are trusted at any age. */
  readonly keys?: readonly (PublicJwk | NamedKey)[] | { readonly keys: readonly PublicJwk[] };
  /**
   * Https origins of key sets that signatures may name by `jku`, or `card` for the origin of the card. Default: none,
   * so that no card causes a fetch.
   */
  readonly jwksOrigins?: readonly string[];
}

/** The result for one signature. */
export interface SignatureVerdict {
  /** Key and algorithm that the signature names. */
  readonly kid?: string;
  readonly alg?: string;
  /** The reason why the signature is not valid. Absent: it is valid. */
  readonly fault?: string;
}

/** Options for verifying agent cards (Spec §8.4.3). */
export interface SignatureOptions extends SignatureTrust {
  /**
   * Called with the verdicts on the signatures of a card, before an unverified card is refused. Empty for an unsigned
   * card. Called once for the card and once for each extended card.
   */
  readonly onVerdicts?: (verdicts: readonly SignatureVerdict[]) => void;
}
