import { CredentialsError } from '../../errors/credentials-error.js';
import type { SecurityRequirement, SecurityScheme } from '../../model/security-scheme.js';
import { refuseArgument } from '../../options/refuse-argument.js';
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

/** The credentials of a caller, chosen by the card: the first of its requirements that they satisfy completely. */
export class SchemeCredentials implements CredentialProvider {
  readonly kinds: readonly CredentialKind[];
  readonly #given = new WeakMap<RequestCredentials, readonly ProvedPart[]>();

  /** If several kinds fit a scheme, the first one serves it. */
  constructor(kinds: readonly CredentialKind[]) {
    this.kinds = kinds;
  }

  /** @throws CredentialsError if the caller has no credential that the agent asks for, or cannot get it now. */
  async credentials(target: CredentialTarget): Promise<RequestCredentials> {
    const parts = this.#choose(target);
    if (parts.length === 0) return NOTHING;
    const proved = await Promise.all(parts.map(async (part) => ({ ...part, proof: await part.kind.prove(part.need) })));
    const proofs = proved.map(({ proof }) => proof);
    const given = together(proofs, target.url);
    this.#given.set(given, proved);
    return given;
  }

  /** Renews refused credentials, once for all calls that were refused with the same ones. */
  async refused({ signal }: CredentialTarget, { credentials, challenges }: CredentialRefusal): Promise<boolean> {
    const scopes = missingScopes(challenges);
    const renewed = await Promise.all(
      (this.#given.get(credentials) ?? []).map(({ kind, need, proof }) =>
        kind.renew?.({ ...need, signal }, { proof, scopes }),
      ),
    );
    return renewed.includes(true);
  }

  #choose({ card: { securitySchemes = {}, securityRequirements = [] }, url, signal }: CredentialTarget): Part[] {
    const described = Object.keys(securitySchemes);
    if (described.length === 0 && securityRequirements.length === 0) {
      const kind = this.kinds.find((one) => one.fits(undefined));
      return kind === undefined ? [] : [{ kind, need: { url, scopes: [], signal } }];
    }
    // If a card has schemes without a requirement, some agents accept any of them.
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

/** Combines all credentials of a caller, for agents that ask for one or several of them. */
export function combineCredentials(...all: readonly SchemeCredentials[]): SchemeCredentials {
  for (const one of all)
    if (!Array.isArray(one?.kinds)) refuseArgument('combineCredentials', 'credentials, such as apiKey(key)', one);
  return new SchemeCredentials(all.flatMap(({ kinds }) => kinds));
}

function asText({ schemes = {} }: SecurityRequirement): string {
  const parts = Object.entries(schemes).map(([name, { list = [] }]) => [
    name,
    ...(list.length > 0 ? [`(${list.join(' ')})`] : []),
  ]);
  return parts.map((part) => part.join(' ')).join(' and ');
}

function together(proofs: readonly SchemeProof[], url: string): RequestCredentials {
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  const cookies: string[] = [];
  for (const proof of proofs) {
    for (const [name, value] of Object.entries(proof.headers ?? {})) {
      if (name in headers)
        throw new CredentialsError(
          'missing',
          `Two schemes of one requirement need the header ${name}; a request can send it only once`,
        );
      headers[name] = value;
    }
    Object.assign(query, proof.query);
    cookies.push(...Object.entries(proof.cookies ?? {}).map(([name, value]) => `${name}=${value}`));
  }
  if (cookies.length > 0) {
    headers.cookie = cookies.join('; ');
    // Servers refuse cookies from other sites' pages, and from requests without an origin. This request comes from no
    // page, so it has the agent's origin.
    headers.origin ??= new URL(url).origin;
  }
  return { headers, query };
}

/** The scopes that the token lacked, from a challenge (RFC 6750 §3.1). */
function missingScopes(challenges: readonly string[]): readonly string[] {
  const challenge = challenges.find((one) => /\berror="?insufficient_scope\b/i.test(one)) ?? '';
  const scope = /\bscope="([^"]*)"/i.exec(challenge)?.[1] ?? '';
  return scope.split(' ').filter((one) => one !== '');
}
