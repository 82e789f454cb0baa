import type * as Jose from 'jose';
import type { JsonObject } from 'parley-a2a';
import { isObject, SIGNING_EXTENSION } from 'parley-a2a/kit';
import type { PeerKeys } from './peer-keys.js';
import {
  readSignature,
  SIGNATURE_ALGORITHMS,
  type SIGNED_TYPES,
  type SignatureEntry,
  SignatureFault,
  type SignatureHeader,
} from './signature-header.js';
import type { TrustedPeer } from './trusted-peer.js';
import { UntrustedContentError } from './untrusted-content-error.js';
import type { VerifiedSigner } from './verified-signers.js';

/** A valid signature: its signer and statements. */
export interface VerifiedSignature {
  readonly signer: VerifiedSigner;
  readonly header: SignatureHeader;
  /** True if the signer signs for one user only. Messages of other users are refused earlier. */
  readonly isBound: boolean;
}

/** Content whose signatures are checked. */
interface ContentToVerify {
  readonly type: keyof typeof SIGNED_TYPES;
  readonly metadata: JsonObject | undefined;
  /** The canonical text that a header is about. */
  readonly text: (header: SignatureHeader) => string;
  /** The reason why the claims of a trusted key do not fit, or undefined. */
  readonly fault: (header: SignatureHeader, peer: TrustedPeer) => string | undefined;
  /** The place of the metadata, for errors, such as `message.metadata`. */
  readonly field: string;
}

const MOST_SIGNATURES = 8;

/** Verifies signatures against the keys of trusted peers. */
export class ContentVerifier {
  readonly #library: typeof Jose;
  readonly #peers: PeerKeys;

  constructor(library: typeof Jose, peers: PeerKeys) {
    this.#library = library;
    this.#peers = peers;
  }

  /**
   * The valid signatures; empty if there are no signatures at all. Signatures of unknown keys are ignored if another
   * one is valid.
   * @throws UntrustedContentError if no signature is by a trusted key, or if one of a trusted key is invalid.
   */
  async verify(content: ContentToVerify): Promise<readonly VerifiedSignature[]> {
    const place = `${content.field}[${JSON.stringify(SIGNING_EXTENSION)}]`;
    const own = content.metadata?.[SIGNING_EXTENSION];
    if (own === undefined) return [];
    const list = isObject(own) ? own.signatures : undefined;
    if (!Array.isArray(list) || list.length === 0 || list.length > MOST_SIGNATURES)
      throw new UntrustedContentError(place, `must have 1 to ${MOST_SIGNATURES} signatures`);
    const verified: VerifiedSignature[] = [];
    for (const [at, value] of list.entries()) {
      const field = `${place}.signatures[${at}]`;
      try {
        const found = await this.#verifyOne(value, content);
        if (found !== undefined) verified.push(found);
      } catch (error) {
        throw error instanceof SignatureFault ? new UntrustedContentError(field, error.message) : error;
      }
    }
    if (verified.length === 0) throw new UntrustedContentError(place, 'has no signature by a trusted key');
    return verified;
  }

  /** Undefined if no trusted peer has the key. */
  async #verifyOne(value: unknown, content: ContentToVerify): Promise<VerifiedSignature | undefined> {
    const { entry, header } = readSignature(value, { type: content.type, library: this.#library });
    const found = await this.#peers.find(header);
    if (found.length === 0) return undefined;
    const payload = this.#library.base64url.encode(textOf(content, header));
    let fault: string | undefined;
    for (const { peer, keys } of found) {
      for (const key of keys) {
        if (!(await this.#isBy(key, entry, payload))) continue;
        fault = content.fault(header, peer);
        if (fault === undefined) {
          const signer = { id: peer.id, kid: header.kid };
          return { signer, header, isBound: peer.user !== undefined };
        }
      }
    }
    throw new SignatureFault(fault ?? 'is not over this content, or not by this key');
  }

  async #isBy(key: Jose.CryptoKey, entry: SignatureEntry, payload: string): Promise<boolean> {
    try {
      await this.#library.flattenedVerify({ ...entry, payload }, key, { algorithms: SIGNATURE_ALGORITHMS });
      return true;
    } catch (error) {
      if (error instanceof this.#library.errors.JWSSignatureVerificationFailed) return false;
      // A key that does not fit the algorithm causes a TypeError.
      if (error instanceof TypeError || error instanceof this.#library.errors.JOSEError) return false;
      throw error;
    }
  }
}

function textOf(content: ContentToVerify, header: SignatureHeader): string {
  try {
    return content.text(header);
  } catch (error) {
    throw new SignatureFault(`cannot be over this content: ${error instanceof Error ? error.message : 'no JSON'}`);
  }
}
