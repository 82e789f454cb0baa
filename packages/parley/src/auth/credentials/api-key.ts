import { CredentialsError } from '../../errors/credentials-error.js';
import type { SchemeProof } from './credential-kind.js';
import { SchemeCredentials } from './scheme-credentials.js';
import { type Secret, SecretSource } from './secret.js';

/** Where an API key goes. */
export interface ApiKeyPlace {
  readonly location: 'header' | 'query' | 'cookie';
  readonly name: string;
}

/** What is known of an API key beside the card. */
export interface ApiKeyOptions {
  /** Where it goes if the card tells of no schemes at all; of one that does, the card's word counts. */
  readonly place?: ApiKeyPlace;
  /** The only scheme of the card, by its name there, that this is for. */
  readonly scheme?: string;
}

/** A key for API key schemes, put where the card says: a header, the query, a cookie. A function is asked with every call. */
export function apiKey(key: Secret, { place, scheme: schemeName }: ApiKeyOptions = {}): SchemeCredentials {
  const source = new SecretSource('apiKey', key);
  const keys = new WeakMap<SchemeProof, string>();
  return new SchemeCredentials([
    {
      title: 'an API key',
      schemeName,
      fits: (scheme) => (scheme === undefined ? place !== undefined : 'apiKeySecurityScheme' in scheme),
      prove: async ({ scheme, signal }) => {
        const wanted = scheme !== undefined && 'apiKeySecurityScheme' in scheme ? scheme.apiKeySecurityScheme : place;
        if (wanted === undefined) return {};
        const current = await source.current(signal);
        const proof = placed(current, wanted);
        keys.set(proof, current);
        return proof;
      },
      renew: ({ signal }, { proof }) => source.renew(keys.get(proof) ?? '', signal),
    },
  ]);
}

/** The form of names of headers and cookies (RFC 9110 §5.1, RFC 6265 §4.1.1). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** @throws CredentialsError if no request can carry the name: platforms show the key when they refuse such a name. */
function placed(key: string, { location, name }: ApiKeyPlace): SchemeProof {
  if (location === 'query') return { query: { [name]: key } };
  if (!TOKEN.test(name))
    throw new CredentialsError('missing', `apiKey: the name of the ${location} for the key is not valid`);
  if (location === 'cookie') return { cookies: { [name]: cookieValue(key) } };
  return { headers: { [name.toLowerCase()]: key } };
}

/** As it is: not every agent decodes what another way of writing it would need. */
function cookieValue(key: string): string {
  if (!/[",;\\]/.test(key)) return key;
  throw new CredentialsError('missing', 'apiKey: the key has characters that a cookie cannot carry');
}
