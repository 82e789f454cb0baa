import { OptionsError } from '../errors/options-error.js';

/** A private key in the form of RFC 7517, with the name by which receivers find its public half. */
export interface SigningKey {
  readonly kty: string;
  readonly kid: string;
  readonly alg: string;
  readonly [member: string]: unknown;
}

/** Signatures of notifications. */
export interface SignatureOptions {
  /** The agent, in the claim `iss`: usually its url. */
  readonly issuer: string;
  /** Private keys. The first one signs. The public halves of all are published. */
  readonly keys: readonly SigningKey[];
}

const ALGORITHMS = /^(?:EdDSA|Ed25519|(?:ES|PS|RS)(?:256|384|512))$/;
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg'];

/** @throws OptionsError naming the keys that cannot sign. */
export function checkSigningKeys({ issuer, keys }: SignatureOptions): void {
  const problems = keys.flatMap(({ kid, alg, d }, at) => {
    const isRight = typeof d === 'string' && typeof kid === 'string' && kid !== '' && ALGORITHMS.test(String(alg));
    return isRight ? [] : [`keys[${at}] must be a private key as JSON (RFC 7517) with kid and an asymmetric alg`];
  });
  if (keys.length === 0) problems.push('keys must have a key');
  if (issuer === '') problems.push('issuer must name the agent');
  if (problems.length > 0) throw new OptionsError('push.signature', problems);
}

/** The public half of a key. Members that are not known to be public are left out. */
export function publicKeyOf(key: SigningKey): Readonly<Record<string, unknown>> {
  const members = Object.entries(key).filter(([name]) => PUBLIC_MEMBERS.includes(name));
  return { ...Object.fromEntries(members), use: 'sig' };
}
