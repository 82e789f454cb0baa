import { checkOptions } from '../../options/check-options.js';
import { optionObject } from '../../options/option-schemas.js';
import { JWT_TYPES, jwtCheck, toleranceOf } from './jwt-check.js';
import { TokenAuthenticator } from './token-authenticator.js';
import { openIdMetadataUrl } from './token-documents.js';
import {
  ASYMMETRIC_ALGORITHMS,
  type JwtRules,
  jwtProblems,
  jwtSchemas,
  refuseProblems,
  type TokenOptions,
  type TokenRuntime,
  tokenProblems,
  tokenSchemas,
} from './token-options.js';

/** Options of `OpenIdConnect`. */
export interface OpenIdConnectOptions extends TokenOptions, JwtRules {}

const openIdConnectSchema = optionObject({ ...tokenSchemas, ...jwtSchemas });

/**
 * JSON Web Tokens of an OpenID Connect provider. The discovery document of the issuer names the keys. It must name the
 * issuer exactly as the option does (OpenID Connect Discovery §4.3). Both are read when a token needs them.
 */
export class OpenIdConnect extends TokenAuthenticator {
  /** @throws OptionsError naming every wrong option. */
  constructor(options: OpenIdConnectOptions, runtime: TokenRuntime) {
    checkOptions({ subject: 'OpenIdConnect', schema: openIdConnectSchema, options });
    refuseProblems('OpenIdConnect', [...tokenProblems(options), ...jwtProblems(options, ASYMMETRIC_ALGORITHMS)]);
    const { issuer, schemeName = 'openIdConnect' } = options;
    const openIdConnectUrl = openIdMetadataUrl(issuer);
    super({
      options,
      runtime,
      toleranceSeconds: toleranceOf(options),
      securitySchemes: { [schemeName]: { openIdConnectSecurityScheme: { openIdConnectUrl } } },
      check: jwtCheck({
        options,
        runtime,
        source: {
          url: async (documents) =>
            documents.endpoint((await documents.metadata(issuer, [openIdConnectUrl])).jwks_uri, 'jwks_uri'),
        },
        defaults: { algorithms: ASYMMETRIC_ALGORITHMS, types: JWT_TYPES, requiredClaims: [] },
      }),
    });
  }
}
