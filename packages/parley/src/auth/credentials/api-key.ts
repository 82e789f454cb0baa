import { CredentialsError } from '../../errors/credentials-error.js';
import { checkOptions } from '../../options/check-options.js';
import { nonEmpty, type OptionSchemas, optionObject } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { type ApiKeyPlace, apiKeyPlaceSchema } from './api-key-place.js';
import type { SchemeProof } from './credential-kind.js';
import { SchemeCredentials } from './scheme-credentials.js';
import { type Secret, SecretSource } from './secret.js';

/** Options of an API key. */
export interface ApiKeyOptions {
  /** The place of the key if the card has no schemes. If it has some, the card decides. */
  readonly place?: ApiKeyPlace;
  /** The name of the only scheme of the card that this key serves. */
  readonly scheme?: string;
}

const schemas: OptionSchemas<ApiKeyOptions> = {
  place: Type.Optional(apiKeyPlaceSchema),
  scheme: Type.Optional(nonEmpty),
};
const apiKeySchema = optionObject(schemas);

/**
 * A key for API key schemes. The card decides its place: a header, the query, a cookie. A function is called for each
 * call.
 * @throws OptionsError for an empty key, and for unknown options.
 */
export function apiKey(key: Secret, options: ApiKeyOptions = {}): SchemeCredentials {
  const { place, scheme: schemeName } = checkOptions({ subject: 'apiKey', schema: apiKeySchema, options });
  const source = new SecretSource('apiKey', key);
  const keys = new WeakMap<SchemeProof, string>();
  return new SchemeCredentials([
    {
      title: 'an API key',
      schemeName,
      fits: (scheme) => (scheme === undefined ? place !== undefined : scheme.apiKeySecurityScheme !== undefined),
      prove: async ({ scheme, signal }) => {
        const wanted =
          scheme !== undefined && scheme.apiKeySecurityScheme !== undefined ? scheme.apiKeySecurityScheme : place;
        if (wanted === undefined) return {};
        const current = await source.current(signal);
        const proof = placeKey(current, wanted);
        keys.set(proof, current);
        return proof;
      },
      renew: ({ signal }, { proof }) => source.renew(keys.get(proof) ?? '', signal),
    },
  ]);
}

/** Valid names of headers and cookies (RFC 9110 §5.1, RFC 6265 §4.1.1). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * @throws CredentialsError if no request can carry the name. Errors of hosts about such a name would contain the key.
 */
function placeKey(key: string, { location, name }: ApiKeyPlace): SchemeProof {
  if (location === 'query') return { query: { [name]: key } };
  if (!TOKEN.test(name))
    throw new CredentialsError('missing', `apiKey: the name of the ${location} for the key is not valid`);
  if (location === 'cookie') return { cookies: { [name]: cookieValue(key) } };
  return { headers: { [name.toLowerCase()]: key } };
}

/** Not encoded, because not every agent decodes cookie values. */
function cookieValue(key: string): string {
  if (!/[",;\\]/.test(key)) return key;
  throw new CredentialsError('missing', 'apiKey: the key has characters that a cookie cannot carry');
}
