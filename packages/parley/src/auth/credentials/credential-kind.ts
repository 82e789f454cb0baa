import type { SecurityScheme } from '../../model/security-scheme.js';

/** A scheme of a card that a call has to satisfy. */
export interface SchemeNeed {
  /** Absent where the card tells of no schemes at all. */
  readonly scheme?: SecurityScheme | undefined;
  /** The url that is called. */
  readonly url: string;
  /** What a token must be good for. */
  readonly scopes: readonly string[];
  /** Ends the waiting, with its reason; what others wait for too goes on. */
  readonly signal?: AbortSignal | undefined;
}

/** What satisfies one scheme. */
export interface SchemeProof {
  /** By lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly cookies?: Readonly<Record<string, string>>;
}

/** One kind of credentials that a caller has, for the schemes of a card that they fit. */
export interface CredentialKind {
  /** As errors call it. */
  readonly title: string;
  /** The only scheme of the card, by its name there, that they are for; absent: every one they fit. */
  readonly schemeName?: string | undefined;
  /** Whether they can satisfy a scheme; `undefined`: an agent whose card tells of no schemes at all. */
  fits(scheme: SecurityScheme | undefined): boolean;
  /** @throws CredentialsError */
  prove(need: SchemeNeed): Promise<SchemeProof>;
  /**
   * Told of a proof that was refused, and of scopes that it lacked. Resolves to whether `prove` gives another one now. Absent: it never
   * does.
   */
  renew?(
    need: SchemeNeed,
    refused: { readonly proof: SchemeProof; readonly scopes: readonly string[] },
  ): Promise<boolean>;
}
