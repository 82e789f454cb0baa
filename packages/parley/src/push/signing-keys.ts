/** A private key in the form of RFC 7517, with the name by which receivers find its public half. */
interface SigningKey {
  readonly kty: string;
  readonly kid: string;
  readonly alg: string;
  readonly [member: string]: unknown;
}

/** Signatures of notifications. */
export interface PushSigningOptions {
  /** The agent, in the claim `iss`: usually its url. */
  readonly issuer: string;
  /** Private keys. The first one signs. The public halves of all are published. */
  readonly keys: readonly SigningKey[];
}

const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg'];

/** The public half of a key. Members that are not known to be public are left out. */
export function publicKeyOf(key: SigningKey): Readonly<Record<string, unknown>> {
  const members = Object.entries(key).filter(([name]) => PUBLIC_MEMBERS.includes(name));
  return { ...Object.fromEntries(members), use: 'sig' };
}
