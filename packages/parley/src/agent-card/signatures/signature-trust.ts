/** A public key as JSON (RFC 7517); its `kid` is the name by which signatures mean it. */
export interface PublicJwk {
  readonly kty: string;
  readonly kid?: string;
  readonly [member: string]: unknown;
}

/** A public key of the web's crypto interface. */
export type VerificationKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A key with the name by which signatures mean it. */
export interface NamedKey {
  readonly kid: string;
  readonly key: VerificationKey;
}

/** Whose signatures are trusted. */
export interface SignatureTrust {
  /** Keys with the names by which signatures mean them, or a key set (RFC 7517 §5). What is given is trusted, however old. */
  readonly keys?: readonly (PublicJwk | NamedKey)[] | { readonly keys: readonly PublicJwk[] };
  /**
   * Where the key sets may stand that signatures name by `jku`: https origins, or `card` for that of the card. Default: nowhere, so that
   * nothing is fetched because a card says so.
   */
  readonly jwksOrigins?: readonly string[];
}

/** What became of one signature. */
export interface SignatureVerdict {
  /** The key and the algorithm that it names, as far as it does. */
  readonly kid?: string;
  readonly alg?: string;
  /** Why it is not valid; absent: it is. */
  readonly fault?: string;
}

/** Which signatures of agent cards are accepted (spec §8.4.3). */
export interface SignatureOptions extends SignatureTrust {
  /**
   * Hears what became of the signatures that were looked at, before a card is refused for them; of a card without any, of none. Once for the
   * card and once for each extended card.
   */
  readonly onVerdicts?: (verdicts: readonly SignatureVerdict[]) => void;
}
