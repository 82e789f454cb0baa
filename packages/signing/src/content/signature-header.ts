import type * as Jose from 'jose';
import { isObject } from 'parley-a2a/kit';
import { OPTIONAL_IDS, type OptionalId } from './canonical-content.js';

/** The kinds of signed content. A signature of one kind is not valid for another (RFC 8725 §3.11). */
export const SIGNED_TYPES = {
  message: 'a2a-message+jws',
  artifact: 'a2a-artifact+jws',
  status: 'a2a-status+jws',
} as const;

/** Algorithms of public keys only. With a shared secret, every verifier could sign. */
export const SIGNATURE_ALGORITHMS = [
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
];

/** The claims of a signer about signed content, in the protected header. Times are in seconds since the epoch. */
export interface SignedClaims {
  readonly iat: number;
  /** Expiry. Only messages to an agent have one. */
  readonly exp?: number;
  /** The agent that a message is for. */
  readonly aud?: string;
  /** The agent that an answer is from. */
  readonly iss?: string;
  /** The message ids that were present when it was signed. */
  readonly ids?: readonly OptionalId[];
  /** The id of the message that an answer is for. */
  readonly re?: string;
  /** The state of the task, for the message of a status. */
  readonly state?: string;
  /** The hash of all artifacts of the task, if the state is the last one of a turn. */
  readonly artifacts?: string;
}

/** A parsed protected header. */
export interface SignatureHeader extends SignedClaims {
  readonly alg: string;
  readonly kid: string;
}

/** One signature: a JWS in flattened form with a detached payload (RFC 7515 §7.2.2, appendix F). */
export interface SignatureEntry {
  readonly protected: string;
  readonly signature: string;
}

/** The reason why a signature is invalid. The message is for the caller. */
export class SignatureFault extends Error {
  override readonly name = 'SignatureFault';
}

const LONGEST_HEADER = 8_192;
/** An RSA signature of 8,192 bits. */
const LONGEST_SIGNATURE = 1_366;
const LONGEST_TEXT = 1_024;
const KNOWN = new Set(['alg', 'kid', 'typ', 'iat', 'exp', 'aud', 'iss', 'ids', 're', 'state', 'artifacts']);
/** Header members with the location of a key. They are ignored: keys come from the configuration. */
const IGNORED = new Set(['jku', 'jwk', 'x5u', 'x5c', 'x5t', 'x5t#S256', 'cty']);

/**
 * Reads one signature.
 * @throws SignatureFault naming the fault.
 */
export function readSignature(
  value: unknown,
  { type, library }: { readonly type: keyof typeof SIGNED_TYPES; readonly library: typeof Jose },
): { readonly entry: SignatureEntry; readonly header: SignatureHeader } {
  if (!isObject(value)) throw new SignatureFault('must be an object');
  const { protected: header, signature, ...others } = value;
  const [unknown] = Object.keys(others);
  // A second, unprotected header could repeat members of the first.
  if (unknown !== undefined) throw new SignatureFault(`must have no member ${JSON.stringify(unknown.slice(0, 64))}`);
  if (typeof header !== 'string' || header.length > LONGEST_HEADER)
    throw new SignatureFault(`must have a member protected of at most ${LONGEST_HEADER} characters`);
  if (typeof signature !== 'string' || signature.length > LONGEST_SIGNATURE)
    throw new SignatureFault(`must have a member signature of at most ${LONGEST_SIGNATURE} characters`);
  return { entry: { protected: header, signature }, header: readHeader(header, type, library) };
}

function readHeader(encoded: string, type: keyof typeof SIGNED_TYPES, library: typeof Jose): SignatureHeader {
  const named = parseHeader(encoded, library);
  for (const name of Object.keys(named)) {
    if (!KNOWN.has(name) && !IGNORED.has(name))
      throw new SignatureFault(`its header must have no member ${JSON.stringify(name.slice(0, 64))}`);
  }
  const { alg, kid, typ, iat, exp, ids } = named;
  if (typeof alg !== 'string' || !SIGNATURE_ALGORITHMS.includes(alg))
    throw new SignatureFault('its algorithm is not accepted');
  if (typeof kid !== 'string' || kid === '' || kid.length > LONGEST_TEXT)
    throw new SignatureFault('its header must name a key (kid)');
  if (typ !== SIGNED_TYPES[type]) throw new SignatureFault(`its typ must be ${SIGNED_TYPES[type]}`);
  if (!isTime(iat)) throw new SignatureFault('its iat must be a time in seconds');
  if (exp !== undefined && !isTime(exp)) throw new SignatureFault('its exp must be a time in seconds');
  for (const name of ['aud', 'iss', 're', 'state', 'artifacts'] as const) {
    const text = named[name];
    if (text !== undefined && (typeof text !== 'string' || text.length > LONGEST_TEXT))
      throw new SignatureFault(`its ${name} must be a text of at most ${LONGEST_TEXT} characters`);
  }
  if (ids !== undefined && !(Array.isArray(ids) && ids.every((id) => OPTIONAL_IDS.includes(id as OptionalId))))
    throw new SignatureFault(`its ids must be a list of ${OPTIONAL_IDS.join(', ')}`);
  return named as unknown as SignatureHeader;
}

/**
 * Parses a header. Only the exact output of `JSON.stringify` is accepted, because other texts could repeat a member.
 */
function parseHeader(encoded: string, library: typeof Jose): Record<string, unknown> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(library.base64url.decode(encoded));
    const value: unknown = JSON.parse(text);
    if (isObject(value) && JSON.stringify(value) === text) return value;
  } catch {
    // The error after this block covers all of these faults.
  }
  throw new SignatureFault('its protected header must be base64url of JSON without blanks and without a member twice');
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
