import { checkOptions } from '../../options/check-options.js';
import { nonEmpty, optionObject } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { SchemeCredentials } from './scheme-credentials.js';
import { type Secret, SecretSource } from './secret.js';

const bearerTokenSchema = optionObject({ scheme: Type.Optional(nonEmpty) });

/**
 * A token for HTTP Bearer, OAuth 2 and OpenID Connect schemes. A function is called for each call; it should cache the
 * token while the token is valid.
 * @throws OptionsError for an empty token, and for unknown options.
 */
export function bearerToken(token: Secret, options: { readonly scheme?: string } = {}): SchemeCredentials {
  const { scheme: schemeName } = checkOptions({ subject: 'bearerToken', schema: bearerTokenSchema, options });
  const source = new SecretSource('bearerToken', token);
  return new SchemeCredentials([
    {
      title: 'a bearer token',
      schemeName,
      fits: (scheme) => {
        if (
          scheme === undefined ||
          scheme.oauth2SecurityScheme !== undefined ||
          scheme.openIdConnectSecurityScheme !== undefined
        )
          return true;
        return scheme.httpAuthSecurityScheme !== undefined && /^bearer$/i.test(scheme.httpAuthSecurityScheme.scheme);
      },
      prove: async ({ signal }) => ({ headers: bearerHeader(await source.current(signal)) }),
      renew: ({ signal }, { proof }) => source.renew(tokenOf(proof.headers), signal),
    },
  ]);
}

const NAME = 'authorization';
const PREFIX = 'Bearer ';

/** A token as a header (RFC 6750 §2.1). */
export function bearerHeader(token: string): Readonly<Record<string, string>> {
  return { [NAME]: `${PREFIX}${token}` };
}

/** The token of a header of `bearerHeader`. */
export function tokenOf(headers: Readonly<Record<string, string>> = {}): string {
  return headers[NAME]?.slice(PREFIX.length) ?? '';
}
