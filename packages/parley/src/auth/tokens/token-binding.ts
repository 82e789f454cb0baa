import { isObject } from '../../model/json.js';
import { fromBase64Url } from '../../runtime/base64-bytes.js';
import type { Authentication, Credentials } from '../authenticator.js';
import {
  type ForwardedCertificate,
  type ForwardedCertificates,
  forwardedCertificate,
} from '../schemes/forwarded-certificate.js';
import { invalidToken } from './bearer-header.js';
import type { VerifiedUser } from './verified-tokens.js';

/** The certificate that a token is bound to, or the reason why the token is refused. */
type TokenBinding = { readonly thumbprint: string } | { readonly fault: string };

const THUMBPRINT = 'x5t#S256';
/** 32 bytes in base64url (RFC 8705 §3.1). */
const DIGEST = /^[\w-]{43}$/;

/** The binding of a token by its claim `cnf` (RFC 7800 §3.1); `undefined` for a token that all its holders may use. */
export function bindingOf(cnf: unknown): TokenBinding | undefined {
  if (cnf === undefined) return undefined;
  const members = isObject(cnf) ? cnf : {};
  if ('jkt' in members) return { fault: 'the token is bound to a key by DPoP, which is not supported' };
  const thumbprint = members[THUMBPRINT];
  const isOnly = Object.keys(members).length === 1;
  if (!isOnly || typeof thumbprint !== 'string' || !DIGEST.test(thumbprint))
    return { fault: 'the token is bound to a key' };
  return { thumbprint: hexOf(thumbprint) };
}

/**
 * Checks that clients present the certificates to which their tokens are bound (RFC 8705 §3), on the connection or
 * through a trusted proxy.
 */
export class CertificateBinding {
  readonly #forwarded: ForwardedCertificate | undefined;

  /** @throws OptionsError for wrong proxies, and on hosts that cannot read the header. */
  constructor(forwarded: ForwardedCertificates | undefined) {
    this.#forwarded = forwarded && forwardedCertificate(forwarded);
  }

  /** The user of a token, or the refusal of a client that does not present the certificate. */
  answer(found: VerifiedUser, credentials: Credentials): Authentication {
    const certificate = this.#forwarded === undefined ? credentials.clientCertificate : this.#forwarded(credentials);
    if (certificate === undefined) return invalidToken('the token is bound to a certificate, and the client sent none');
    if (certificate.problem !== undefined) return invalidToken(`the certificate of the client: ${certificate.problem}`);
    // A thumbprint is no secret, so the comparison need not take constant time.
    if (certificate.fingerprint === found.thumbprint) return found;
    return invalidToken('the token is bound to another certificate');
  }
}

function hexOf(base64url: string): string {
  return Array.from(fromBase64Url(base64url), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
