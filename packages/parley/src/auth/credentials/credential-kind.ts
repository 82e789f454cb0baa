import type { SecurityScheme } from '../../model/security-scheme.js';

/** A scheme of a card that a call has to satisfy. */
export interface SchemeNeed {
  /** Absent if the card has no schemes. */
  readonly scheme?: SecurityScheme | undefined;
  /** The url of the call. */
  readonly url: string;
  /** Scopes that a token needs. */
  readonly scopes: readonly string[];
  /** Ends this wait with its reason. Other waits for the same work go on. */
  readonly signal?: AbortSignal | undefined;
}

/** Headers, query and cookies that satisfy one scheme. */
export interface SchemeProof {
  /** By lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly cookies?: Readonly<Record<string, string>>;
}

/** One kind of credentials of a caller, for the schemes of a card that it fits. */
export interface CredentialKind {
  /** The name of the kind in errors. */
  readonly title: string;
  /** The name of the only scheme of the card that these credentials serve. Absent: every scheme that they fit. */
  readonly schemeName?: string | undefined;
  /** True if these credentials can satisfy a scheme. `undefined` stands for a card without schemes. */
  fits(scheme: SecurityScheme | undefined): boolean;
  /** @throws CredentialsError */
  prove(need: SchemeNeed): Promise<SchemeProof>;
  /**
   * Called with a refused proof and the scopes that it lacked. Resolves to true if `prove` gives another one now.
   * Absent: it never does.
   */
  renew?(
    need: SchemeNeed,
    refused: { readonly proof: SchemeProof; readonly scopes: readonly string[] },
  ): Promise<boolean>;
}
