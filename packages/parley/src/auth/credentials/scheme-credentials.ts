import { CredentialsError } from '../../errors/credentials-error.js';
import type { SecurityRequirement, SecurityScheme } from '../../model/security-scheme.js';
import type {
  CredentialProvider,
  CredentialRefusal,
  CredentialTarget,
  RequestCredentials,
} from '../credential-provider.js';
import type { CredentialKind, SchemeNeed, SchemeProof } from './credential-kind.js';

interface Part {
  readonly kind: CredentialKind;
  readonly need: SchemeNeed;
}

interface ProvedPart extends Part {
  readonly proof: SchemeProof;
}

const NOTHING: RequestCredentials = Object.freeze({});

/** What a caller has, chosen by what the card asks for: of its requirements, the first that can be satisfied whole. */
export class SchemeCredentials implements CredentialProvider {
  readonly kinds: readonly CredentialKind[];
  readonly #given = new WeakMap<RequestCredentials, readonly ProvedPart[]>();

  /** Where several kinds fit a scheme, the first one serves it. */
  constructor(kinds: readonly CredentialKind[]) {
    this.kinds = kinds;
  }

  /** @throws CredentialsError where nothing the caller has is what the agent asks for, or it cannot be had now. */
  async credentials(target: CredentialTarget): Promise<RequestCredentials> {
    const parts = this.#chosen(target);
    if (parts.length === 0) return NOTHING;
    const proved = await Promise.all(parts.map(async (part) => ({ ...part, proof: await part.kind.prove(part.need) })));
    const given = together(proved.map(({ proof }) => proof));
    this.#given.set(given, proved);
    return given;
  }

  /** Renews what was refused, once for all who were refused with the same. */
  async refused({ signal }: CredentialTarget, { credentials, challenges }: CredentialRefusal): Promise<boolean> {
    const scopes = missingScopes(challenges);
    const renewed = await Promise.all(
      (this.#given.get(credentials) ?? []).map(({ kind, need, proof }) =>
        kind.renew?.({ ...need, signal }, { proof, scopes }),
      ),
    );
    return renewed.includes(true);
  }

  #chosen({ card: { securitySchemes = {}, securityRequirements = [] }, url, signal }: CredentialTarget): Part[] {
    const described = Object.keys(securitySchemes);
    if (described.length === 0 && securityRequirements.length === 0) {
      const kind = this.kinds.find((one) => one.fits(undefined));
      return kind === undefined ? [] : [{ kind, need: { url, scopes: [], signal } }];
    }
    // Schemes without a requirement: some agents mean that any of them will do.
    const alternatives: readonly SecurityRequirement[] =
      securityRequirements.length > 0 ? securityRequirements : described.map((name) => ({ schemes: { [name]: {} } }));
    for (const { schemes = {} } of alternatives) {
      const parts = Object.entries(schemes).map(([name, { list: scopes = [] }]) => {
        const scheme = securitySchemes[name];
        const kind = scheme && this.#kindFor(name, scheme);
        return kind && { kind, need: { scheme, url, scopes, signal } };
      });
      if (parts.length > 0 && parts.every((part) => part !== undefined)) return parts;
    }
    const mayBeAnonymous = securityRequirements.every(({ schemes = {} }) => Object.keys(schemes).length > 0) === false;
    if (mayBeAnonymous || securityRequirements.length === 0) return [];
    const has = this.kinds.map(({ title }) => title).join(', ');
    throw new CredentialsError(
      'missing',
      `The agent asks for ${alternatives.map(asText).join(', or ')}; given: ${has || 'nothing'}`,
    );
  }

  #kindFor(name: string, scheme: SecurityScheme): CredentialKind | undefined {
    return this.kinds.find((kind) => (kind.schemeName ?? name) === name && kind.fits(scheme));
  }
}

/** All that a caller has, for agents that may ask for one or the other, or for several together. */
export function combinedCredentials(...all: readonly SchemeCredentials[]): SchemeCredentials {
  return new SchemeCredentials(all.flatMap(({ kinds }) => kinds));
}

function asText({ schemes = {} }: SecurityRequirement): string {
  const parts = Object.entries(schemes).map(([name, { list = [] }]) => [
    name,
    ...(list.length > 0 ? [`(${list.join(' ')})`] : []),
  ]);
  return parts.map((part) => part.join(' ')).join(' and ');
}

function together(proofs: readonly SchemeProof[]): RequestCredentials {
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  const cookies: string[] = [];
  for (const proof of proofs) {
    for (const [name, value] of Object.entries(proof.headers ?? {})) {
      if (name in headers)
        throw new CredentialsError('missing', `Two schemes that apply together want the header ${name}`);
      headers[name] = value;
    }
    Object.assign(query, proof.query);
    cookies.push(...Object.entries(proof.cookies ?? {}).map(([name, value]) => `${name}=${value}`));
  }
  if (cookies.length > 0) headers.cookie = cookies.join('; ');
  return { headers, query };
}

/** The scopes that the token lacked, as a challenge says (RFC 6750 §3.1). */
function missingScopes(challenges: readonly string[]): readonly string[] {
  const challenge = challenges.find((one) => /\berror="?insufficient_scope\b/i.test(one)) ?? '';
  const scope = /\bscope="([^"]*)"/i.exec(challenge)?.[1] ?? '';
  return scope.split(' ').filter((one) => one !== '');
}
