import { OptionsError } from '../../errors/options-error.js';
import type { SecurityScheme } from '../../model/security-scheme.js';
import { sha256 } from '../../runtime/sha256.js';
import { ANONYMOUS, type Authentication, type Authenticator, type Credentials } from '../authenticator.js';
import { type User, userId } from '../user.js';

/** A token and its owner. `sha256` is the hash of the token in hex, for configurations without secrets. */
export type BearerToken = ({ readonly token: string } | { readonly sha256: string }) & {
  /** The owner of the token. The id of the user is `bearer|<subject>`. */
  readonly subject: string;
  readonly name?: string;
};

interface Entry {
  readonly digest: Uint8Array;
  readonly user: User;
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const SHA256 = /^[0-9a-f]{64}$/i;

/**
 * Fixed tokens as an HTTP Bearer scheme (RFC 6750). Keeps hashes only, and compares all of them in constant time. A
 * wrong token is refused.
 */
export class BearerTokens implements Authenticator {
  readonly challenges = ['Bearer'] as const;
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>> = {
    bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
  };
  readonly #entries: Promise<readonly Entry[]>;

  /** @throws OptionsError naming the subjects with an invalid token or hash. */
  constructor(tokens: readonly BearerToken[]) {
    const problems = tokens.flatMap(problemOf);
    if (problems.length > 0) throw new OptionsError('BearerTokens', problems);
    this.#entries = Promise.all(tokens.map(entryOf));
  }

  async authenticate(credentials: Credentials): Promise<Authentication> {
    const presented = credentials.header('authorization');
    if (presented === undefined) return ANONYMOUS;
    const token = BEARER.exec(presented)?.[1];
    if (token === undefined) return { kind: 'refused', reason: 'malformed' };
    const digest = await sha256(token);
    let user: User | undefined;
    for (const entry of await this.#entries) {
      if (equal(entry.digest, digest)) user = entry.user;
    }
    return user ? { kind: 'user', user } : { kind: 'refused', reason: 'unknown token' };
  }
}

/** The problem of an entry, without its token. */
function problemOf(entry: BearerToken): string[] {
  if ('sha256' in entry) {
    return SHA256.test(entry.sha256) ? [] : [`the sha256 of ${entry.subject} must be 64 hex digits`];
  }
  return TOKEN.test(entry.token) ? [] : [`the token of ${entry.subject} must be letters, digits and ._~+/- only`];
}

async function entryOf(entry: BearerToken): Promise<Entry> {
  const digest = 'token' in entry ? await sha256(entry.token) : bytesOf(entry.sha256);
  return {
    digest,
    user: { id: userId('bearer', entry.subject), ...(entry.name !== undefined && { name: entry.name }) },
  };
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16));
}

/** Compares all bytes, so that the time does not depend on the first difference. */
function equal(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let at = 0; at < left.length; at++) difference |= (left[at] ?? 0) ^ (right[at] ?? 0);
  return difference === 0;
}
